// Arrays that are divided among servers in lines along one axis, and then along another.
//
// A transform of three axes is one of lines along each axis in turn. Between two of them the array is divided anew.
// Servers are a grid of n x m: at first the second axis is cut into n parts and the third into m, each server having
// whole lines along the first; then the first is cut into n in place of the second; then the second into m in place of
// the third. So a server sends to the n servers of its row and then to the m of its column, and not to all. Slabs are
// the same with n = 1. (Pekurovsky, "P3DFFT: a framework for parallel computations of Fourier transforms in three
// dimensions", SIAM J. Sci. Comput. 34, 2012.)
#pragma once

#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "analysis/spectra/line_transform.hpp"
#include "analysis/spectra/page_cache.hpp"
#include "sidestream/data/decomposition.hpp"
#include "sidestream/data/mesh.hpp"
#include "sidestream/extend/communicator.hpp"

namespace sidestream::spectra {

/// The axes of a mesh in the order in which they are transformed. Boxes below are in this order.
using AxisOrder = std::array<int, 3>;
[[nodiscard]] AxisOrder order_from(int first) noexcept;

/// How many parts servers make of the second and of the third axis.
struct ServerGrid {
  Index second = 1, third = 1;
};

/// The grid behind Decomposition::pencils(order[0]), or, with `slabs`, behind Decomposition::slabs(order[2]): their
/// pieces are the boxes of step 0 below.
[[nodiscard]] ServerGrid grid_of(const Mesh& mesh, const AxisOrder& order, bool slabs, int servers);
[[nodiscard]] Decomposition decomposition_of(const Mesh& mesh, const AxisOrder& order, bool slabs);

/// An array of complex numbers in the order of the transform.
class PencilLayout {
 public:
  /// `extents` of the transformed array, the first axis already halved.
  PencilLayout(const Index3& extents, const ServerGrid& grid) : extents_(extents), grid_(grid) {}
  /// What a server has before the axis `step` = 0, 1 or 2 is transformed; empty for servers beyond the grid. Of step 0
  /// the first axis is whole.
  [[nodiscard]] Box box(int step, int server) const noexcept;
  /// The servers of a step whose boxes meet `box`, which is not empty.
  [[nodiscard]] std::vector<int> meeting(int step, const Box& box) const;
  [[nodiscard]] const Index3& extents() const noexcept { return extents_; }

 private:
  [[nodiscard]] Index3 parts(int step) const noexcept;
  Index3 extents_;
  ServerGrid grid_;
};

/// Leaves large pages to the next array.
struct RoomKeeper {
  std::shared_ptr<LargeRooms> rooms{};  ///< null: small ones are freed
  std::size_t bytes = 0;
  void operator()(void* memory) const noexcept { rooms ? rooms->keep(memory, bytes) : std::free(memory); }
};

/// Some box of the array: of each index of the third axis a plane, the first axis fastest. Some planes share a piece of
/// memory, so that they can be given up piece by piece, and large pieces are of large pages: lines along the third axis
/// would otherwise want another page for each number.
class PencilArray {
 public:
  PencilArray() = default;
  /// Room for the box, which has no values yet.
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
  /// Gives up what memory is of planes below `third` alone.
  void give_up_below(Index third) noexcept;

 private:
  struct Room {
    Index end = 0;  ///< of its planes
    std::unique_ptr<void, RoomKeeper> memory{};
  };

  Box box_{};
  std::vector<Complex*> planes_{};
  std::vector<Room> rooms_{};
};

/// Collective: gives what `from` on all servers has together, every point once, to the servers whose boxes of `step` it
/// is in, and returns this server's. What is sent is given up piece by piece, and no more than some 16 MiB are under
/// way from a server at a time. Throws on all servers alike if one has no memory.
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

/// Transforms lines along the second axis, in place. The box has all of it.
void transform_second(PencilArray& array, ComplexLines& lines);
/// The same of one plane of `width` lines.
void transform_columns(Complex* plane, Index width, ComplexLines& lines);

}  // namespace sidestream::spectra
