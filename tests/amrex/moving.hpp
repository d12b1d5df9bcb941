// A hierarchy of boxes that moves, appears and vanishes, with values that tell where and when they are. It uses nothing
// but AMReX' names, so that it compiles with AMReX and with the stand-in.
#pragma once

#include <AMReX.H>
#include <AMReX_MultiFab.H>
#include <AMReX_Particles.H>
#include <AMReX_iMultiFab.H>

#include <cmath>
#include <string>
#include <vector>

namespace moving {

constexpr int cells = 16, side = 4, first_cell = -8, dimensions = AMREX_SPACEDIM;

/// A box with equal indices on all axes.
inline amrex::Box cube(int low, int high) { return {amrex::IntVect(low), amrex::IntVect(high)}; }

/// Three levels with a ratio of 2, whose first cell is not 0: the coarsest has 16 cells along each axis.
inline amrex::Vector<amrex::Geometry> geometries() {
  amrex::Vector<amrex::Geometry> all;
  std::array<amrex::Real, AMREX_SPACEDIM> low{}, high{};
  low.fill(amrex::Real(-0.5));
  high.fill(amrex::Real(1.5));
  amrex::Array<int, AMREX_SPACEDIM> periodic{};
  periodic[0] = 1;
  for (int level = 0; level < 3; ++level) {
    const int first = first_cell * (1 << level);
    all.emplace_back(cube(first, first + (cells << level) - 1), amrex::RealBox(low, high), 0, periodic);
  }
  return all;
}

inline amrex::Vector<amrex::IntVect> ratios() { return {amrex::IntVect(2), amrex::IntVect(2)}; }

/// The number of levels in a step: the finest one comes and goes.
inline int levels_in(int step) { return step % 4 == 0 ? 1 : step % 4 == 3 ? 2 : 3; }

/// The boxes of a level in a step. Level 0 covers everything, finer ones a cube that moves.
inline amrex::BoxArray boxes_of(int level, int step) {
  amrex::Vector<amrex::Box> boxes;
  const int low = level == 0 ? first_cell : (first_cell + 2 * (step % 4)) * (1 << level) + (level - 1) * 4;
  const int count = level == 0 ? cells / side : 2;
  const int many = count * (dimensions > 1 ? count : 1) * (dimensions > 2 ? count : 1);
  for (int n = 0; n < many; ++n) {
    const int at[] = {n % count, n / count % count, n / count / count};
    amrex::IntVect from(low), to(low);
    for (int a = 0; a < dimensions; ++a) {
      from[a] = low + at[a] * side;
      to[a] = from[a] + side - 1;
    }
    boxes.emplace_back(from, to);
  }
  return {boxes.data(), static_cast<int>(boxes.size())};
}

/// Boxes go round from step to step. The last of several ranks has none.
inline amrex::DistributionMapping owners_of(const amrex::BoxArray& boxes, int step) {
  const int ranks = amrex::ParallelDescriptor::NProcs(), used = ranks > 1 ? ranks - 1 : 1;
  amrex::Vector<int> owners;
  for (int n = 0; n < boxes.size(); ++n) owners.push_back((n + step) % used);
  return amrex::DistributionMapping(owners);
}

/// The value of a component at a point, counted from the first cell of its level. Any Real has it exactly.
inline int value(int component, int level, int step, const int at[3]) {
  return (component + 1) * 1000000 + level * 300000 + (step % 4) * 70000 + at[0] + 64 * at[1] + 4096 * (at[2] % 16);
}

/// Fills a box of an array with `value`, and ghosts with -1.
template <class Fabs>
void fill(Fabs& fabs, int level, int step, int first_component) {
  for (const int n : fabs.IndexArray()) {
    const auto array = fabs.array(n);
    for (int c = 0; c < fabs.nComp(); ++c) {
      amrex::LoopOnCpu(fabs[n].box(), [&](int i, int j, int k) { array(i, j, k, c) = -1; });
      amrex::LoopOnCpu(fabs.box(n), [&](int i, int j, int k) {
        int at[] = {i, j, k};
        for (int a = 0; a < dimensions; ++a) at[a] -= first_cell * (1 << level);
        array(i, j, k, c) = static_cast<typename Fabs::value_type>(value(first_component + c, level, step, at));
      });
    }
  }
}

/// All fields of one step.
struct Fields {
  explicit Fields(int step) : levels(levels_in(step)) {
    for (int level = 0; level < levels; ++level) {
      const amrex::BoxArray here = boxes_of(level, step);
      const amrex::DistributionMapping owners = owners_of(here, step);
      boxes.push_back(here);
      ranks.push_back(owners);
      state.emplace_back(here, owners, 2, 1);
      fill(state.back(), level, step, 0);
      nodal.emplace_back(amrex::convert(here, amrex::IntVect(1)), owners, 1, 0);
      fill(nodal.back(), level, step, 2);
      faces.emplace_back();
      for (int a = 0; a < dimensions; ++a) {
        amrex::IntVect type(0);
        type[a] = 1;
        auto& face = faces.back()[static_cast<std::size_t>(a)];
        face = amrex::MultiFab(amrex::convert(here, type), owners, 1, 2);
        fill(face, level, step, 3 + a);
      }
      marks.emplace_back(here, owners, 1, 0);
      fill(marks.back(), level, step, 6);
    }
  }
  int levels;
  amrex::Vector<amrex::BoxArray> boxes;
  amrex::Vector<amrex::DistributionMapping> ranks;
  amrex::Vector<amrex::MultiFab> state, nodal;
  amrex::Vector<amrex::Array<amrex::MultiFab, AMREX_SPACEDIM>> faces;
  amrex::Vector<amrex::iMultiFab> marks;
};

/// Structures with one real and one integer, and arrays of one real more each.
using Mixed = amrex::ParticleContainer<1, 1, 2, 1>;
/// Only arrays: positions and one more real, and an integer.
using Pure = amrex::ParticleContainerPureSoA<AMREX_SPACEDIM + 1, 1>;

/// Adds a particle to box `box` of a level: number `n`, which counts in all boxes. Every third one is invalid.
template <class Container>
void add(Container& to, int level, int box, int n, const amrex::Box& cells_of_box, const amrex::Geometry& geometry) {
  auto& tile = to.DefineAndReturnParticleTile(level, box, 0);
  const amrex::Long id = n % 3 == 2 ? -(n + 1) : n + 1;
  amrex::ParticleReal at[AMREX_SPACEDIM];
  for (int a = 0; a < dimensions; ++a) {
    at[a] = static_cast<amrex::ParticleReal>(geometry.ProbLo(a) +
                                             geometry.CellSize(a) * (amrex::Real(cells_of_box.smallEnd(a)) -
                                                                     amrex::Real(geometry.Domain().smallEnd(a)) +
                                                                     amrex::Real(0.25) * amrex::Real(n % 4 + 1)));
  }
  if constexpr (Container::ParticleType::is_soa_particle) {
    std::uint64_t packed = 0;
    amrex::ParticleIDWrapper{packed} = id;
    amrex::ParticleCPUWrapper{packed} = n % 5;
    tile.GetStructOfArrays().GetIdCPUData().push_back(packed);
    for (int a = 0; a < dimensions; ++a) tile.push_back_real(a, at[a]);
    tile.push_back_real(dimensions, amrex::ParticleReal(n) / 4);
    tile.push_back_int(0, 10 * n);
  } else {
    typename Container::ParticleType particle;
    particle.id() = id;
    particle.cpu() = n % 5;
    for (int a = 0; a < dimensions; ++a) particle.pos(a) = at[a];
    particle.rdata(0) = amrex::ParticleReal(n) / 4;
    particle.idata(0) = 10 * n;
    tile.push_back(particle);
    for (int c = 0; c < to.NumRealComps(); ++c)
      tile.push_back_real(c, amrex::ParticleReal(n) / 8 + amrex::ParticleReal(c));
    tile.push_back_int(0, -n);
  }
}

/// Fills a container: box b of level 0 has b % 4 + step particles, boxes of finer levels one; none in step 2.
template <class Container>
void fill(Container& to, const Fields& fields, int step) {
  if (step == 2) return;
  const amrex::Vector<amrex::Geometry> geometry = geometries();
  int number = 0;
  for (int level = 0; level < fields.levels; ++level) {
    const auto l = static_cast<std::size_t>(level);
    for (int box = 0; box < fields.boxes[l].size(); ++box) {
      const int count = level == 0 ? box % 4 + step : 1;
      for (int n = 0; n < count; ++n, ++number) {
        if (fields.ranks[l][box] != amrex::ParallelDescriptor::MyProc()) continue;
        add(to, level, box, number, fields.boxes[l][box], geometry[l]);
      }
    }
  }
}

}  // namespace moving
