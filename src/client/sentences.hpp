// Parts of error messages: boxes, and names that were probably meant.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "config/config.hpp"
#include "sidestream/data/box.hpp"

namespace sidestream {

inline std::string text_of(const Box& box) {
  return fmt::format("[{}, {}) x [{}, {}) x [{}, {})", box.lo[0], box.hi[0], box.lo[1], box.hi[1], box.lo[2],
                     box.hi[2]);
}

inline std::string near_to(std::string_view name, const std::vector<std::string>& known) {
  const std::string guess = did_you_mean(std::string(name), known);
  return guess.empty() ? "" : fmt::format(" (did you mean '{}'?)", guess);
}

template <class Named>
std::vector<std::string> names_of(const std::vector<Named>& all) {
  std::vector<std::string> names;
  for (const Named& one : all) names.push_back(one.name);
  return names;
}

}  // namespace sidestream
