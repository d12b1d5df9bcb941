#include "storage/database/cell_list.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>

#include "sidestream/kit/base/fail.hpp"
#include "storage/database/cell_boxes.hpp"

namespace sidestream::database {

namespace {

constexpr Index most_at_once = 1 << 16;  ///< cells that are read through a buffer

CellRange checked(const StoredValues& values, const Mesh& mesh, const CellChoice& choice) {
  if (mesh.is_list() && mesh.kind() != MeshKind::octree) {
    fail(Code::usage, "cells of '{}': a mesh of lists has no levels; read it with read_list or read_block", mesh.name);
  }
  const bool is_tree = mesh.kind() == MeshKind::octree;
  const auto finest = is_tree ? most_tree_levels : static_cast<std::int32_t>(mesh.refinement.size());
  CellRange range{{}, choice.level, choice.coarsest, choice.deepest.value_or(finest), choice.leaves};
  if (values.deepest()) range.deepest = std::min(range.deepest, *values.deepest());
  for (const std::int32_t level : {choice.level, choice.coarsest, range.deepest}) {
    if (level < 0) fail(Code::usage, "cells of '{}': found level {}, expected 0 or more", mesh.name, level);
  }
  if (range.level > finest) {
    fail(Code::usage, "cells of '{}': the box counts cells of level {}, expected 0 to {}, which the mesh may have",
         mesh.name, range.level, finest);
  }
  range.deepest = std::min(range.deepest, finest);
  if (range.coarsest > range.deepest) {
    fail(Code::usage, "cells of '{}': the coarsest level is {} and the deepest {}; give a range of levels", mesh.name,
         range.coarsest, range.deepest);
  }
  const Box whole = on_level(mesh, base_cells(mesh), 0, range.level);
  range.box = choice.box ? intersection(*choice.box, whole) : whole;
  return range;
}

template <class T>
void fill_with(T value, std::byte* out, std::size_t count) {
  for (std::size_t n = 0; n < count; ++n) std::memcpy(out + n * sizeof value, &value, sizeof value);
}

/// Writes the missing value of a cell without values.
void fill_missing(const Variable& variable, std::byte* out) {
  const auto count = static_cast<std::size_t>(variable.components);
  with_type(variable.type, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_floating_point_v<T>) zero = std::numeric_limits<T>::quiet_NaN();
    fill_with(zero, out, count);
  });
}

/// Index of a cell in the order in which the variable is stored.
Index stored_place(const CellList& cells, std::size_t n, Order order) {
  const Block& block = cells.blocks[cells.block[n]].block;
  if (block.is_list() || order == Order::column) return cells.place[n];
  const Index3& at = cells.index[n];
  const Box& box = block.cells;
  return ((at[0] - box.lo[0]) * box.extent(1) + at[1] - box.lo[1]) * box.extent(2) + at[2] - box.lo[2];
}

/// Reads runs of consecutive values.
class RunReader {
 public:
  RunReader(Context& context, const Variable& variable, std::byte* out)
      : context_(context), cell_(size_of(variable.type) * static_cast<std::size_t>(variable.components)), out_(out) {}

  /// Reads the cells `numbers`; their `places` ascend.
  void read(const PlacedBlock& placed, const PieceRow& row, std::span<const std::size_t> numbers,
            const std::vector<Index>& places) {
    for (std::size_t begin = 0; begin < numbers.size();) {
      const Index first = places[numbers[begin]];
      std::size_t end = begin + 1;
      while (end < numbers.size() && places[numbers[end]] == first + static_cast<Index>(end - begin) &&
             static_cast<Index>(end - begin) < most_at_once) {
        ++end;
      }
      buffer_.resize((end - begin) * cell_);
      read_part(context_, placed.group, row, static_cast<std::uint64_t>(first) * cell_, buffer_);
      for (std::size_t n = begin; n < end; ++n) {
        std::memcpy(out_ + numbers[n] * cell_, buffer_.data() + (n - begin) * cell_, cell_);
      }
      begin = end;
    }
  }
  void fill(const Variable& variable, std::span<const std::size_t> numbers) {
    for (const std::size_t n : numbers) fill_missing(variable, out_ + n * cell_);
  }

 private:
  Context& context_;
  std::size_t cell_;
  std::byte* out_;
  Bytes buffer_;
};

}  // namespace

void append(CellList& list, const ListedCell& cell) {
  list.level.push_back(cell.level);
  list.index.push_back(cell.index);
  list.refined.push_back(cell.refined ? 1 : 0);
  list.owner.push_back(cell.owner);
  list.block.push_back(cell.block);
  list.place.push_back(cell.place);
}

CellList list_cells(const StoredValues& values, const Mesh& mesh, const CellChoice& choice) {
  const CellRange range = checked(values, mesh, choice);
  CellList list;
  list.context = &values.context();
  list.mesh = mesh.id;
  list.blocks = values.blocks(mesh);
  if (range.box.empty()) return list;
  if (mesh.kind() == MeshKind::octree) {
    TreeCells(values, mesh, range).find(list);
  } else {
    find_patch_cells(mesh, range, list);
  }
  return list;
}

std::int64_t read_cells(const StoredValues& values, const Variable& variable, const CellList& cells, std::byte* out) {
  const Mesh& mesh = values.metadata().mesh_of(variable);
  if (cells.context != &values.context()) {
    fail(Code::usage, "cells: '{}' was asked for in cells that another context has listed; list those of this one",
         variable.name);
  }
  if (variable.mesh != cells.mesh) {
    fail(Code::usage, "cells: '{}' is on the mesh '{}', but the cells are of another one; list those of its mesh",
         variable.name, mesh.name);
  }
  if (variable.centering != Centering::cell) {
    fail(Code::usage, "cells: '{}' has no values in cells; read it with read_box or read_block", variable.name);
  }
  if (out == nullptr && !cells.place.empty())
    fail(Code::usage, "cells of '{}': data is null; give an array", variable.name);
  std::vector<Index> places(cells.place.size());
  for (std::size_t n = 0; n < places.size(); ++n) places[n] = stored_place(cells, n, variable.order);
  std::vector<std::size_t> order(places.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return cells.block[a] != cells.block[b] ? cells.block[a] < cells.block[b] : places[a] < places[b];
  });
  RunReader reader(values.context(), variable, out);
  std::int64_t missing = 0;
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin;
    while (end < order.size() && cells.block[order[end]] == cells.block[order[begin]]) ++end;
    const std::span<const std::size_t> numbers = std::span(order).subspan(begin, end - begin);
    const PlacedBlock& placed = cells.blocks[cells.block[order[begin]]];
    const PieceRow* const row =
        values.context().find(placed.group, static_cast<std::uint32_t>(variable.id), placed.row);
    if (row == nullptr) {
      reader.fill(variable, numbers);
      missing += static_cast<std::int64_t>(numbers.size());
    } else {
      reader.read(placed, *row, numbers, places);
    }
    begin = end;
  }
  return missing;
}

}  // namespace sidestream::database
