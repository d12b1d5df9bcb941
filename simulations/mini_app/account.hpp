// Summary of the iterations' outcomes.
#pragma once

#include <sidestream/sidestream.hpp>
#include <string>

namespace mini_app {

/// A sentence; empty if nothing was published.
inline std::string describe(const sidestream::Account& account) {
  if (account.iterations == 0) return "";
  std::string text = "Sidestream: " + std::to_string(account.iterations) + " iterations, " +
                     std::to_string(account.delivered) + " delivered";
  if (account.refused > 0) text += ", " + std::to_string(account.refused) + " refused";
  if (account.failed > 0) text += ", " + std::to_string(account.failed) + " with a failed analysis";
  if (account.unknown > 0) text += ", " + std::to_string(account.unknown) + " of unknown outcome";
  return text + ".";
}

}  // namespace mini_app
