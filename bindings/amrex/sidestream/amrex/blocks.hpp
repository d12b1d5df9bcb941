// Meshes and blocks of the framework AMReX, as Sidestream declares them. C++17.
#pragma once

#include <AMReX_Config.H>
#ifndef AMREX_USE_MPI
#error "sidestream/amrex.hpp needs an AMReX with MPI: configure it with AMReX_MPI=ON or USE_MPI=TRUE"
#endif

#include <AMReX_Box.H>
#include <AMReX_Geometry.H>
#include <AMReX_IntVect.H>
#include <AMReX_Vector.H>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sidestream/error.hpp"
#include "sidestream/sidestream.hpp"

namespace sidestream {

/// Description of a mesh: uniform with levels, or points. Cells count from 0 on each level, whatever AMReX calls the
/// first one.
struct AmrexMesh {
  std::string name;
  bool points = false;  ///< particles, which only have a name
  std::vector<Index> size;
  std::vector<double> origin, spacing;
  std::array<bool, 3> periodic{false, false, false};
  std::vector<Index3> ratios{};  ///< ratios of all levels that may exist
  std::size_t levels = 0;        ///< present number of levels
  /// True if the other has the same place and cells, and the same ratios on levels that both have.
  [[nodiscard]] bool same_place(const AmrexMesh& other) const {
    const auto steps = static_cast<std::ptrdiff_t>(std::min(ratios.size(), other.ratios.size()));
    return points == other.points && size == other.size && origin == other.origin && spacing == other.spacing &&
           periodic == other.periodic && std::equal(ratios.begin(), ratios.begin() + steps, other.ratios.begin());
  }
};

/// The number of entries of a vector of AMReX, whose size() is signed.
template <class Vector>
[[nodiscard]] std::size_t amrex_size(const Vector& vector) {
  return static_cast<std::size_t>(vector.size());
}

/// The cells or points of a box, counted from the cell `first` of its level.
[[nodiscard]] inline Box amrex_box(const ::amrex::Box& box, const ::amrex::IntVect& first) {
  Box found{{0, 0, 0}, {1, 1, 1}};
  for (int a = 0; a < AMREX_SPACEDIM; ++a) {
    const auto n = static_cast<std::size_t>(a);
    found.lo[n] = Index{box.smallEnd(a)} - first[a];
    found.hi[n] = Index{box.bigEnd(a)} + 1 - first[a];
  }
  return found;
}

/// The mesh of these levels. `ratios` has at least `levels` - 1 entries; levels that may exist later have geometries
/// and ratios, too. Throws Error(usage), on every rank, if coordinates are not Cartesian or a level has no geometry.
[[nodiscard]] inline AmrexMesh amrex_mesh(const std::string& name, std::size_t levels,
                                          const ::amrex::Vector<::amrex::Geometry>& geometries,
                                          const ::amrex::Vector<::amrex::IntVect>& ratios) {
  const std::size_t known = amrex_size(geometries);
  if (known == 0 || known < levels || amrex_size(ratios) + 1 < levels) {
    throw Error(Code::usage, "publish: the mesh '" + name + "' has " + std::to_string(levels) + " levels, " +
                                 std::to_string(known) + " geometries and " + std::to_string(ratios.size()) +
                                 " refinement ratios; give a geometry for each level and a ratio for each step");
  }
  const ::amrex::Geometry& coarsest = geometries[0];
  if (coarsest.Coord() != 0) {
    throw Error(Code::usage, "publish: the mesh '" + name + "' has " +
                                 (coarsest.Coord() == 1 ? "cylindrical (r, z)" : "spherical") +
                                 " coordinates, expected Cartesian ones (geometry.coord_sys = 0): volumes of its cells "
                                 "would be wrong; leave these fields out");
  }
  AmrexMesh mesh;
  mesh.name = name;
  mesh.levels = levels;
  for (int a = 0; a < AMREX_SPACEDIM; ++a) {
    mesh.size.push_back(Index{coarsest.Domain().bigEnd(a)} + 1 - coarsest.Domain().smallEnd(a));
    mesh.origin.push_back(coarsest.ProbLo(a));
    mesh.spacing.push_back(coarsest.CellSize(a));
    mesh.periodic[static_cast<std::size_t>(a)] = coarsest.isPeriodic(a);
  }
  // AMReX' meshes have a ratio even for the finest possible level, although no level follows it.
  const std::size_t steps = std::min(amrex_size(ratios), known - 1);
  for (std::size_t step = 0; step < steps; ++step) {
    Index3 ratio{1, 1, 1};
    for (int a = 0; a < AMREX_SPACEDIM; ++a) ratio[static_cast<std::size_t>(a)] = ratios[step][a];
    mesh.ratios.push_back(ratio);
  }
  return mesh;
}

/// The blocks of one mesh that this rank has declared.
class AmrexBlocks {
 public:
  /// Replaces the declared blocks by these. An unchanged block costs a comparison.
  void replace(Session& session, const std::string& mesh, std::vector<Block> blocks) {
    if (blocks == now_) return;
    session.replace_blocks(mesh, blocks);
    now_ = std::move(blocks);
    ++revision_;
  }

  /// A number that changes with the blocks.
  [[nodiscard]] std::int64_t revision() const { return revision_; }

 private:
  std::vector<Block> now_;
  std::int64_t revision_ = 0;
};

}  // namespace sidestream
