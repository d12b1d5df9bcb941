// Stands in for the framework AMReX in tests, which is not installed: numbers, boxes, and who has them. It has the
// names that sidestream/amrex.hpp and the test programs use, and no more; programs that compile here compile with
// AMReX.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <vector>

#define AMREX_USE_MPI
#ifndef AMREX_SPACEDIM
#define AMREX_SPACEDIM 3
#endif
#if AMREX_SPACEDIM == 1
#define AMREX_D_DECL(a, b, c) a
#elif AMREX_SPACEDIM == 2
#define AMREX_D_DECL(a, b, c) a, b
#else
#define AMREX_D_DECL(a, b, c) a, b, c
#endif

namespace amrex {

#ifdef AMREX_USE_FLOAT
using Real = float;
#else
using Real = double;
#endif
#ifdef AMREX_SINGLE_PRECISION_PARTICLES
using ParticleReal = float;
#else
using ParticleReal = double;
#endif
using Long = long;

template <class T>
class Vector : public std::vector<T> {
 public:
  using std::vector<T>::vector;
  Long size() const { return static_cast<Long>(std::vector<T>::size()); }
};
template <class T, std::size_t N>
using Array = std::array<T, N>;

/// The communicator that Initialize was given.
inline MPI_Comm& communicator() {
  static MPI_Comm comm = MPI_COMM_NULL;
  return comm;
}
inline void Initialize(int& /*argc*/, char**& /*argv*/, bool /*parse*/, MPI_Comm comm) {
  MPI_Comm_dup(comm, &communicator());
}
inline void Finalize() { MPI_Comm_free(&communicator()); }

namespace ParallelDescriptor {
inline int MyProc() {
  int rank = 0;
  MPI_Comm_rank(communicator(), &rank);
  return rank;
}
inline int NProcs() {
  int size = 0;
  MPI_Comm_size(communicator(), &size);
  return size;
}
}  // namespace ParallelDescriptor

class IntVect {
 public:
  IntVect() = default;
  explicit IntVect(int all) { at_.fill(all); }
#if AMREX_SPACEDIM > 1
  IntVect(AMREX_D_DECL(int i, int j, int k)) : at_{AMREX_D_DECL(i, j, k)} {}
#endif
  int operator[](int axis) const { return at_[static_cast<std::size_t>(axis)]; }
  int& operator[](int axis) { return at_[static_cast<std::size_t>(axis)]; }
  bool operator==(const IntVect& other) const { return at_ == other.at_; }
  bool operator!=(const IntVect& other) const { return at_ != other.at_; }

 private:
  std::array<int, AMREX_SPACEDIM> at_{};
};

class IndexType {
 public:
  IndexType() = default;
  explicit IndexType(const IntVect& nodes) : nodes_(nodes) {}
  bool nodeCentered(int axis) const { return nodes_[axis] != 0; }
  bool operator==(const IndexType& other) const { return nodes_ == other.nodes_; }
  bool operator!=(const IndexType& other) const { return nodes_ != other.nodes_; }

 private:
  IntVect nodes_;
};

/// The indices from `low` to `high`, which is part of it.
class Box {
 public:
  Box() = default;
  Box(const IntVect& low, const IntVect& high, const IntVect& nodes = IntVect(0))
      : low_(low), high_(high), nodes_(nodes) {}
  int smallEnd(int axis) const { return low_[axis]; }
  int bigEnd(int axis) const { return high_[axis]; }
  const IntVect& smallEnd() const { return low_; }
  const IntVect& bigEnd() const { return high_; }
  IntVect type() const { return nodes_; }
  IndexType ixType() const { return IndexType(nodes_); }
  int length(int axis) const { return high_[axis] - low_[axis] + 1; }
  Long numPts() const {
    Long points = 1;
    for (int a = 0; a < AMREX_SPACEDIM; ++a) points *= length(a);
    return points;
  }
  bool operator==(const Box& other) const {
    return low_ == other.low_ && high_ == other.high_ && nodes_ == other.nodes_;
  }
  /// The same cells with other points.
  Box& convert(const IntVect& nodes) {
    for (int a = 0; a < AMREX_SPACEDIM; ++a) high_[a] += nodes[a] - nodes_[a];
    nodes_ = nodes;
    return *this;
  }
  Box& grow(int cells) {
    for (int a = 0; a < AMREX_SPACEDIM; ++a) {
      low_[a] -= cells;
      high_[a] += cells;
    }
    return *this;
  }

 private:
  IntVect low_, high_, nodes_;
};

inline Box convert(Box box, const IntVect& nodes) { return box.convert(nodes); }
inline Box grow(Box box, int cells) { return box.grow(cells); }
inline Box enclosedCells(const Box& box) { return convert(box, IntVect(0)); }

class BoxArray {
 public:
  BoxArray() = default;
  BoxArray(const Box* boxes, int count) : boxes_(boxes, boxes + count) {}
  Long size() const { return static_cast<Long>(boxes_.size()); }
  bool empty() const { return boxes_.empty(); }
  Box operator[](int n) const { return boxes_[static_cast<std::size_t>(n)]; }
  IndexType ixType() const { return boxes_.empty() ? IndexType() : boxes_.front().ixType(); }
  BoxArray& convert(const IntVect& nodes) {
    for (Box& box : boxes_) box.convert(nodes);
    return *this;
  }
  BoxArray& enclosedCells() { return convert(IntVect(0)); }
  bool operator==(const BoxArray& other) const { return boxes_ == other.boxes_; }

 private:
  std::vector<Box> boxes_;
};

inline BoxArray convert(BoxArray boxes, const IntVect& nodes) { return boxes.convert(nodes); }

/// The rank of each box.
class DistributionMapping {
 public:
  DistributionMapping() = default;
  explicit DistributionMapping(const Vector<int>& ranks) : ranks_(ranks) {}
  Long size() const { return ranks_.size(); }
  int operator[](int box) const { return ranks_[static_cast<std::size_t>(box)]; }
  bool operator==(const DistributionMapping& other) const { return ranks_ == other.ranks_; }

 private:
  Vector<int> ranks_;
};

class RealBox {
 public:
  RealBox(const std::array<Real, AMREX_SPACEDIM>& low, const std::array<Real, AMREX_SPACEDIM>& high)
      : low_(low), high_(high) {}
  Real lo(int axis) const { return low_[static_cast<std::size_t>(axis)]; }
  Real hi(int axis) const { return high_[static_cast<std::size_t>(axis)]; }

 private:
  std::array<Real, AMREX_SPACEDIM> low_, high_;
};

class Geometry {
 public:
  Geometry(const Box& domain, const RealBox& place, int coordinates, const Array<int, AMREX_SPACEDIM>& periodic)
      : domain_(domain), place_(place), coordinates_(coordinates), periodic_(periodic) {}
  const Box& Domain() const { return domain_; }
  Real ProbLo(int axis) const { return place_.lo(axis); }
  Real CellSize(int axis) const {
    return (place_.hi(axis) - place_.lo(axis)) / static_cast<Real>(domain_.length(axis));
  }
  int Coord() const { return coordinates_; }
  bool isPeriodic(int axis) const { return periodic_[static_cast<std::size_t>(axis)] != 0; }

 private:
  Box domain_;
  RealBox place_;
  int coordinates_;
  Array<int, AMREX_SPACEDIM> periodic_;
};

}  // namespace amrex
