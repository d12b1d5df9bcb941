// What users are told of places that got no value.
#pragma once

#include <cstdint>
#include <string>

#include "base/log.hpp"

namespace sidestream::sampling {

/// Warns once of each of two things: places may move out of a mesh that moves, and that need not be said in every
/// iteration.
class UnsampledPoints {
 public:
  /// `file`: that the places' values go to.
  explicit UnsampledPoints(std::string file) : file_(std::move(file)) {}

  /// `outside` of `all` places are in no block; `unknown` cells, in which places may lie, were not looked into (see
  /// `sample`). Of all servers; for one of them to say.
  void tell(std::int64_t outside, std::int64_t all, std::int64_t unknown) {
    if (outside > 0 && !told_outside_) {
      log::warning("'{}': {} of {} places are in no block; their values are NaN", file_, outside, all);
      told_outside_ = true;
    }
    if (unknown > 0 && !told_unknown_) {
      log::warning(
          "'{}': {} cells near the places are of types that are not known, and not looked into; places in them count "
          "as outside",
          file_, unknown);
      told_unknown_ = true;
    }
  }

 private:
  std::string file_;
  bool told_outside_ = false, told_unknown_ = false;
};

}  // namespace sidestream::sampling
