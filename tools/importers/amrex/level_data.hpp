// The values of a level of a plotfile: boxes, their positions in files, and the format of numbers.
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

/// Format of real numbers: IEEE 754 with 32 or 64 bits, bytes in any order. Entry i: byte i in the file is byte
/// order[i] of the number, whose highest byte is number 1.
struct NumberFormat {
  Type type = Type::float64;
  std::array<std::uint8_t, 8> order{};
};

/// Position of a box and its values.
struct FabPlace {
  Box cells;                 ///< without ghosts; for values at nodes and faces, the cells between them
  std::string file;          ///< next to `Cell_H`
  std::uint64_t offset = 0;  ///< byte position of the box's header or, without headers, of its first value
};

/// Content of Cell_H, or of another file NAME_H of this kind.
struct LevelData {
  std::string name;    ///< name of the file: Cell
  std::string folder;  ///< folder with the files
  int components = 0, dimensions = 3;
  Index3 ghosts{};
  std::vector<FabPlace> fabs;
  bool bare = false;  ///< true if fabs have no header: all are in `format`
  NumberFormat format{};
  Centering centering = Centering::cell;  ///< the same for all boxes
  std::optional<std::size_t> extremes;    ///< position of the boxes' extremes in NAME_H, if it has them
};

/// Reads PATH_H with any number of components and boxes, in cells, at nodes, on faces or edges. Throws Error(file).
[[nodiscard]] LevelData read_boxes(const std::string& path, int dimensions);

/// The same for the values of a level. Throws Error(file) if they do not fit the Header.
[[nodiscard]] LevelData read_level_data(const Plotfile& plotfile, std::size_t level);

/// Range of values by box and component, from the extremes in NAME_H, which ignore ghosts; empty if it has none. Also
/// empty if NaN among the values may have spoilt them. Ranges are widened by the rounding of the printed digits and of
/// values in 32 bits.
[[nodiscard]] std::vector<std::vector<Range>> read_ranges(const LevelData& level);

/// The type of the numbers in one box, from its header.
[[nodiscard]] Type type_of(const LevelData& level, std::size_t fab);

/// All values of one box: for each component a contiguous array over its points, i fastest, in the byte order of this
/// machine. Throws Error(file), also if they are not of `type`.
[[nodiscard]] std::vector<Bytes> read_fab(const LevelData& level, std::size_t fab, Type type);

/// One component in `cells` of one box, contiguous, i fastest, in the byte order of this machine. Reads no other
/// components or planes. Throws as read_fab.
void read_component(const LevelData& level, std::size_t fab, int component, const Box& cells, Type type,
                    std::span<std::byte> out);

}  // namespace sidestream::amrex
