// The pieces of a context as HDF5's readers find them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sidestream/data/box.hpp"

namespace sidestream::database {

/// A piece that went through no codec.
struct Shown {
  std::int64_t id;  ///< of its block
  Box points;
  std::string file;
  std::uint64_t first, length;  ///< elements of the segment's array of the type, and how many that has
};

/// By variable, in ascending order of blocks.
using ShownPieces = std::map<std::int32_t, std::vector<Shown>>;

}  // namespace sidestream::database
