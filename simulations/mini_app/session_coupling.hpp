// Shared parts of the mini-apps' couplings with Sidestream.
#pragma once

#include <mpi.h>

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

/// A coupling with a session, which serves on servers.
template <class Coupling>
class SessionCoupling : public Coupling {
 public:
  bool serve() override {
    if (!session_.is_server()) return false;
    session_.serve();
    return true;
  }
  [[nodiscard]] MPI_Comm comm() const override { return session_.comm(); }
  std::string close() override { return describe(session_.close()); }

 protected:
  SessionCoupling(MPI_Comm comm, const std::string& configuration)
      : Coupling(comm), session_(sidestream::Session::open(comm, configuration)) {}

  sidestream::Session session_;
};

}  // namespace mini_app
