// Boxes that enclose marked cells.
#pragma once

#include <vector>

#include "box.hpp"

namespace advection {

/// A flag for each cell of a box; cells are mostly tiles here.
class Marks {
 public:
  explicit Marks(const Box& box) : box_(box), set_(static_cast<std::size_t>(box.count()), 0) {}
  [[nodiscard]] const Box& box() const { return box_; }
  [[nodiscard]] bool at(Index i, Index j, Index k) const { return set_[place(i, j, k)] != 0; }
  void set(Index i, Index j, Index k) { set_[place(i, j, k)] = 1; }
  [[nodiscard]] std::vector<std::uint8_t>& bytes() { return set_; }

 private:
  [[nodiscard]] std::size_t place(Index i, Index j, Index k) const {
    const auto at = [&](Index n, std::size_t a) { return static_cast<std::size_t>(n - box_.lo[a]); };
    const auto size = [&](std::size_t a) { return static_cast<std::size_t>(box_.size(a)); };
    return at(i, 0) + size(0) * (at(j, 1) + size(1) * at(k, 2));
  }
  Box box_;
  std::vector<std::uint8_t> set_;
};

/// Disjoint boxes that enclose all marks, at most `largest` wide. Where a box could be cut, at least the share
/// `efficiency` of it is marked: M. Berger, I. Rigoutsos, "An algorithm for point clustering and grid generation", IEEE
/// Trans. Systems, Man and Cybernetics 21 (1991). The order only depends on the marks.
[[nodiscard]] std::vector<Box> cluster(const Marks& marks, double efficiency, Index largest);

/// Divides `box` into equal parts that are at most `largest` wide.
[[nodiscard]] std::vector<Box> divided(const Box& box, Index largest);

}  // namespace advection
