// Arrays divided among servers into lines along one axis, and redistributed to lines along another.
//
// A three-dimensional transform consists of transforms of lines along each axis in turn, between which the array is
// redistributed. Servers form a grid of n x m. First each server has whole lines along the first axis; the second axis
// is cut into n parts and the third into m. Then the first is cut into n parts instead of the second, and finally the
// second into m instead of the third. So a server communicates with the n servers of its row and then with the m of its
// column, not with all. Slabs are the case n = 1. (Pekurovsky, "P3DFFT: a framework for parallel computations of
// Fourier transforms in three dimensions", SIAM J. Sci. Comput. 34, 2012.)
#pragma once

#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "cosmology/spectra/line_transform.hpp"
#include "cosmology/spectra/page_cache.hpp"
#include "sidestream/data/decomposition.hpp"
#include "sidestream/data/mesh.hpp"
#include "sidestream/extend/communicator.hpp"

namespace sidestream::spectra {

/// Axes of a mesh in the order in which they are transformed. Boxes below are in this order.
using AxisOrder = std::array<int, 3>;
[[nodiscard]] AxisOrder order_from(int first) noexcept;

/// Number of parts of the second and of the third axis.
struct ServerGrid {
  Index second = 1, third = 1;
};

/// The grid of Decomposition::pencils(order[0]), or, with `slabs`, of Decomposition::slabs(order[2]), whose pieces are
/// the boxes of step 0 below.
[[nodiscard]] ServerGrid grid_of(const Mesh& mesh, const AxisOrder& order, bool slabs, int servers);
[[nodiscard]] Decomposition decomposition_of(const Mesh& mesh, const AxisOrder& order, bool slabs);

/// Boxes of the servers in each step.
class PencilLayout {
 public:
  /// `extents` of the transformed array, the first axis already halved.
  PencilLayout(const Index3& extents, const ServerGrid& grid) : extents_(extents), grid_(grid) {}
  /// A server's box before the axis `step` = 0, 1 or 2 is transformed; empty for servers beyond the grid. In step 0 the
  /// first axis is whole.
  [[nodiscard]] Box box(int step, int server) const noexcept;
  /// Servers whose boxes in a step overlap `box`, which must not be empty.
  [[nodiscard]] std::vector<int> meeting(int step, const Box& box) const;
  [[nodiscard]] const Index3& extents() const noexcept { return extents_; }

 private:
  [[nodiscard]] Index3 parts(int step) const noexcept;
  Index3 extents_;
  ServerGrid grid_;
};

/// Deleter that keeps large pages for the next array.
struct PageDeleter {
  std::shared_ptr<PageCache> cache{};  ///< null: frees the memory
  std::size_t bytes = 0;
  void operator()(void* memory) const noexcept { cache ? cache->keep(memory, bytes) : std::free(memory); }
};

/// A box of the array: for each index of the third axis a plane, the first axis fastest. Several planes share an
/// allocation, so that they can be given up one allocation at a time. Large allocations use large pages, because lines
/// along the third axis would otherwise touch a page for each number.
class PencilArray {
 public:
  PencilArray() = default;
  /// Allocates the box without initialising it.
  explicit PencilArray(const Box& of);

  [[nodiscard]] const Box& box() const noexcept { return box_; }
  [[nodiscard]] Complex* line(Index second, Index third) noexcept {
    return planes_[static_cast<std::size_t>(third - box_.lo[2])] + (second - box_.lo[1]) * box_.extent(0);
  }
  [[nodiscard]] const Complex* plane(Index third) const noexcept {
    return planes_[static_cast<std::size_t>(third - box_.lo[2])];
  }
  [[nodiscard]] std::size_t plane_values() const noexcept {
    return static_cast<std::size_t>(box_.extent(0) * box_.extent(1));
  }
  /// Frees allocations that contain only planes below `third`.
  void give_up_below(Index third) noexcept;

 private:
  struct Allocation {
    Index end = 0;  ///< one past the last of its planes
    std::unique_ptr<void, PageDeleter> memory{};
  };

  Box box_{};
  std::vector<Complex*> planes_{};
  std::vector<Allocation> allocations_{};
};

/// Sends each point of `from`, which exactly one server has, to the servers whose boxes of `step` contain it; returns
/// this server's box. Collective. Sent memory is freed piece by piece, and a server has at most some 16 MiB under way
/// at a time. Throws on all servers if one has no memory.
[[nodiscard]] PencilArray redistribute(std::vector<PencilArray> from, const PencilLayout& layout, int step,
                                       Communicator& servers);

/// to[l * to_row] = from[l * from_row] for l < some <= ComplexLines::together.
inline void copy_column(const Complex* from, Index from_row, Index some, Complex* to, Index to_row) noexcept {
  const auto copy = [&](Index l) { std::memcpy(static_cast<void*>(to + l * to_row), from + l * from_row, sizeof *to); };
  if (some == ComplexLines::together) {
    for (Index l = 0; l < ComplexLines::together; ++l) copy(l);
  } else {
    for (Index l = 0; l < some; ++l) copy(l);
  }
}

/// Transforms lines along the second axis, in place. The box must contain the whole axis.
void transform_second(PencilArray& array, ComplexLines& lines);
/// Transforms one plane of `width` lines in the same way.
void transform_columns(Complex* plane, Index width, ComplexLines& lines);

}  // namespace sidestream::spectra
