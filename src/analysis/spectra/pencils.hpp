// Arrays that are divided among servers in lines along one axis, and then along another.
//
// A transform of three axes is one of lines along each axis in turn. Between two of them the array is divided anew.
// Servers are a grid of n x m: at first the second axis is cut into n parts and the third into m, each server having
// whole lines along the first; then the first is cut into n in place of the second; then the second into m in place of
// the third. So a server sends to the n servers of its row and then to the m of its column, and not to all. Slabs are
// the same with n = 1. (Pekurovsky, "P3DFFT: a framework for parallel computations of Fourier transforms in three
// dimensions", SIAM J. Sci. Comput. 34, 2012.)
#pragma once

#include <optional>
#include <vector>

#include "analysis/packed.hpp"
#include "analysis/spectra/line_transform.hpp"
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

/// Some box of the array: of each index of the third axis a plane of its own, the first axis fastest, so that planes
/// can be given up one by one.
struct PencilArray {
  Box box{};
  std::vector<UnsetVector<Complex>> planes{};  ///< plane n is of index box.lo[2] + n

  PencilArray() = default;
  explicit PencilArray(const Box& of);
  [[nodiscard]] Complex* line(Index second, Index third) noexcept {
    return planes[static_cast<std::size_t>(third - box.lo[2])].data() + (second - box.lo[1]) * box.extent(0);
  }
};

/// Collective: gives what `from` on all servers has together, every point once, to the servers whose boxes of `step` it
/// is in, and returns this server's. What is sent is given up piece by piece, and no more than some 16 MiB are under
/// way from a server at a time. Throws on all servers alike if one has no memory.
[[nodiscard]] PencilArray redistribute(std::vector<PencilArray> from, const PencilLayout& layout, int step,
                                       Communicator& servers);

/// Transforms lines along the second axis, in place. The box has all of it.
void transform_second(PencilArray& array, ComplexLines& lines);
/// The same of one plane of `width` lines.
void transform_columns(Complex* plane, Index width, ComplexLines& lines);

}  // namespace sidestream::spectra
