// The values of a level of a plotfile: which boxes there are, where each lies in which file, and how numbers are
// written.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "importers/amrex/plotfile.hpp"
#include "sidestream/data/box.hpp"
#include "sidestream/data/range.hpp"
#include "sidestream/data/type.hpp"
#include "sidestream/data/variable.hpp"
#include "sidestream/extend/communicator.hpp"

namespace sidestream::amrex {

/// How real numbers are written: IEEE 754 of 32 or 64 bits, bytes in any order. Entry i: byte i in the file is byte
/// order[i] of a number whose highest byte is number 1.
struct NumberFormat {
  Type type = Type::float64;
  std::array<std::uint8_t, 8> order{};
};

/// Where a box and its values are.
struct FabPlace {
  Box cells;                 ///< without ghosts; of values at nodes and faces the cells between them
  std::string file;          ///< beside `Cell_H`
  std::uint64_t offset = 0;  ///< of the box's header, or without those of its first value, in bytes
};

/// What Cell_H says, or another file NAME_H of the kind.
struct LevelData {
  std::string name;    ///< of the file: Cell
  std::string folder;  ///< with the files
  int components = 0, dimensions = 3;
  Index3 ghosts{};
  std::vector<FabPlace> fabs;
  bool bare = false;  ///< fabs have no header: all are in `format`
  NumberFormat format{};
  Centering centering = Centering::cell;  ///< of all boxes
  std::optional<std::size_t> extremes;    ///< where in NAME_H those of the boxes begin, if it has them
};

/// Reads PATH_H, of whatever number of components and boxes, in cells, at nodes, on faces or edges. Throws Error(file).
[[nodiscard]] LevelData read_boxes(const std::string& path, int dimensions);

/// The same of the values of a level. Throws Error(file) where they do not fit the Header.
[[nodiscard]] LevelData read_level_data(const Plotfile& plotfile, std::size_t level);

/// By box and component, between which numbers its values are, as NAME_H says of those without ghosts; nothing where it
/// does not. NaN among the values may have made it say nothing of use: then there is none either. They are widened by
/// what writing them in so few digits as they have, and values in 32 bits, may have changed.
[[nodiscard]] std::vector<std::vector<Range>> read_ranges(const LevelData& level);

/// The type of the numbers of one box, from its header.
[[nodiscard]] Type type_of(const LevelData& level, std::size_t fab);

/// All values of one box, a gapless array for each component over its points, i fastest, in the byte order of this
/// machine. Throws Error(file), also where they are not of `type`.
[[nodiscard]] std::vector<Bytes> read_fab(const LevelData& level, std::size_t fab, Type type);

/// One component in `cells` of one box, gapless, i fastest, in the byte order of this machine: of other components and
/// other planes no byte is read. Throws as read_fab.
void read_component(const LevelData& level, std::size_t fab, int component, const Box& cells, Type type,
                    std::span<std::byte> out);

}  // namespace sidestream::amrex
