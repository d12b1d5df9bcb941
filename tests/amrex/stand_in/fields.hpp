// Stands in for the framework AMReX in tests: arrays of boxes. See boxes.hpp.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "boxes.hpp"

namespace amrex {

/// Memory; of a GPU if a test says so.
class Arena {
 public:
  explicit Arena(bool host) : host_(host) {}
  bool isHostAccessible() const { return host_; }

 private:
  bool host_;
};
inline Arena* The_Pinned_Arena() {
  static Arena arena(true);
  return &arena;
}
inline Arena* The_Device_Arena() {
  static Arena arena(false);
  return &arena;
}

namespace Gpu {
/// The number of times that somebody has waited for kernels.
inline int& waits() {
  static int count = 0;
  return count;
}
inline void streamSynchronizeAll() { ++waits(); }
}  // namespace Gpu

struct MFInfo {
  Arena* arena = The_Pinned_Arena();
  MFInfo& SetArena(Arena* of) {
    arena = of;
    return *this;
  }
};

template <class T>
struct Array4 {
  T* data;
  Box box;
  T& operator()(int i, int j, int k, int n = 0) const {
    const int at[] = {i, j, k};
    Long offset = 0, stride = 1;
    for (int a = 0; a < AMREX_SPACEDIM; ++a) {
      offset += stride * (at[a] - box.smallEnd(a));
      stride *= box.length(a);
    }
    return data[offset + n * stride];
  }
};

template <class T>
class BaseFab {
 public:
  using value_type = T;
  BaseFab(const Box& box, int components)
      : box_(box), values_(static_cast<std::size_t>(box.numPts()) * static_cast<std::size_t>(components)) {}
  const Box& box() const { return box_; }
  const T* dataPtr(int n = 0) const { return values_.data() + n * box_.numPts(); }
  Array4<T> array() { return {values_.data(), box_}; }

 private:
  Box box_;
  std::vector<T> values_;
};
using FArrayBox = BaseFab<Real>;
using IArrayBox = BaseFab<int>;
template <class FAB>
struct FabFactory {};

template <class FAB>
class FabArray {
 public:
  using fab_type = FAB;
  using value_type = typename FAB::value_type;
  FabArray() = default;
  FabArray(const BoxArray& boxes, const DistributionMapping& owners, int components, int ghosts,
           const MFInfo& info = MFInfo(), const FabFactory<FAB>& /*factory*/ = FabFactory<FAB>())
      : boxes_(boxes), owners_(owners), components_(components), ghosts_(ghosts), arena_(info.arena) {
    for (int n = 0; n < boxes.size(); ++n) {
      if (owners[n] != ParallelDescriptor::MyProc()) continue;
      mine_.push_back(n);
      fabs_.emplace(n, FAB(grow(boxes[n], ghosts), components));
    }
  }
  const BoxArray& boxArray() const { return boxes_; }
  const DistributionMapping& DistributionMap() const { return owners_; }
  const Vector<int>& IndexArray() const { return mine_; }
  Box box(int n) const { return boxes_[n]; }
  IndexType ixType() const { return boxes_.ixType(); }
  int nComp() const { return components_; }
  int nGrow() const { return ghosts_; }
  bool empty() const { return boxes_.empty(); }
  Arena* arena() const { return arena_; }
  const FAB& operator[](int n) const { return fabs_.at(n); }
  Array4<value_type> array(int n) { return fabs_.at(n).array(); }

 private:
  BoxArray boxes_;
  DistributionMapping owners_;
  int components_ = 0, ghosts_ = 0;
  Arena* arena_ = nullptr;
  Vector<int> mine_;
  std::map<int, FAB> fabs_;
};
class MultiFab : public FabArray<FArrayBox> {
 public:
  using FabArray::FabArray;
};
class iMultiFab : public FabArray<IArrayBox> {
 public:
  using FabArray::FabArray;
};

template <class F>
void LoopOnCpu(const Box& box, F&& f) {
  std::array<int, 3> low{0, 0, 0}, high{0, 0, 0};
  for (int a = 0; a < AMREX_SPACEDIM; ++a) {
    low[static_cast<std::size_t>(a)] = box.smallEnd(a);
    high[static_cast<std::size_t>(a)] = box.bigEnd(a);
  }
  for (int k = low[2]; k <= high[2]; ++k) {
    for (int j = low[1]; j <= high[1]; ++j) {
      for (int i = low[0]; i <= high[0]; ++i) f(i, j, k);
    }
  }
}

}  // namespace amrex
