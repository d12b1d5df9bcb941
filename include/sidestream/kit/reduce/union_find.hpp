// Disjoint sets (union-find).
#pragma once

#include <numeric>
#include <vector>

namespace sidestream {

/// Tarjan's disjoint sets with path halving. The member of lowest number represents a set, so that the result does not
/// depend on the order of joining.
template <class Number>
class UnionFind {
 public:
  explicit UnionFind(std::size_t count = 0) : parent_(count) { std::iota(parent_.begin(), parent_.end(), Number{0}); }
  [[nodiscard]] Number find(Number n) noexcept {
    while (parent_[n] != n) n = parent_[n] = parent_[parent_[n]];
    return n;
  }
  void join(Number a, Number b) noexcept {
    a = find(a);
    b = find(b);
    if (a < b) {
      parent_[b] = a;
    } else {
      parent_[a] = b;
    }
  }
  [[nodiscard]] std::size_t size() const noexcept { return parent_.size(); }

 private:
  std::vector<Number> parent_;
};

}  // namespace sidestream
