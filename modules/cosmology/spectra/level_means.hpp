// Means of the cells of refined meshes in the cells of one level.
#pragma once

#include <vector>

#include "sidestream/extend/task.hpp"

namespace sidestream::spectra {

/// This server's exact sums of one variable's cells in the cells of a level, whose mesh is `flat`: a partial result. A
/// coarser cell counts in all cells that it contains. A finer cell counts, with its share of the volume, in the cell
/// that contains it.
[[nodiscard]] Bytes sums_on_level(const LocalInput& input, const Variable& variable, std::int32_t level,
                                  const Mesh& flat);

/// Contiguous float64 values of a box of cells, with their owner.
struct Values {
  Values(const Box& of, int components) : memory(static_cast<std::size_t>(of.count() * components)) {
    array.data = memory.data();
    array.box = of;
    array.components = components;
    array.strides = packed_strides(of, components, Order::column);
  }
  [[nodiscard]] double& at(const Index3& p, int c) noexcept {
    const auto& s = array.strides;
    const Index3& lo = array.box.lo;
    return memory[static_cast<std::size_t>((p[0] - lo[0]) * s[0] + (p[1] - lo[1]) * s[1] + (p[2] - lo[2]) * s[2] +
                                           c * s[3])];
  }
  /// Calls `f(value)` for the values of a box, in the same order on every server.
  template <class F>
  void for_each_in(const Box& box, F&& f) {
    for (int c = 0; c < array.components; ++c) {
      for (Index k = box.lo[2]; k < box.hi[2]; ++k) {
        for (Index j = box.lo[1]; j < box.hi[1]; ++j) {
          for (Index i = box.lo[0]; i < box.hi[0]; ++i) f(at({i, j, k}, c));
        }
      }
    }
  }

  std::vector<double> memory;
  ArrayView array{};
};

/// The means in this server's rows, and the number of cells there without any contribution.
struct Means {
  Values values;
  std::int64_t missing = 0;
};

/// Rounds the sums of all servers once. Collective.
[[nodiscard]] Means means_of(const std::vector<BytesView>& sums, const Mesh& flat, int components,
                             Communicator& servers);

}  // namespace sidestream::spectra
