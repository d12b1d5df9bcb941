// Merge trees of superlevel sets as triplets: a maximum, a higher maximum, and the saddle where their components meet.
//
// After Morozov and Weber, "Distributed merge trees" (2013), and Smirnov and Morozov, "Triplet merge trees" (2017).
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "sidestream/data/box.hpp"

namespace sidestream::halos {

/// A cell in the order of the tree: by value, then by linear index. Trivially copyable; sent between servers.
struct ValuedCell {
  double value = 0;
  Index id = -1;
  [[nodiscard]] bool below(const ValuedCell& other) const noexcept {
    return value != other.value ? value < other.value : id < other.id;
  }
  bool operator==(const ValuedCell& other) const noexcept { return id == other.id; }
};

/// Two maxima whose components meet at a cell.
struct TreeEdge {
  ValuedCell a, b, saddle;
};

/// A maximum whose component meets, at the saddle, that of a higher maximum. If saddle == top, the cell is only a
/// maximum of a part of the field, not of the whole.
struct Triplet {
  ValuedCell top, saddle, into;
};

/// Maximum spanning forest of the edges, which preserves the highest paths between all maxima. Each triplet has the
/// highest maxima of both sides, the lower one as top. In descending order of saddles.
[[nodiscard]] std::vector<Triplet> spanning(std::vector<TreeEdge> edges);

/// Index of triplets by the linear index of their maximum.
class TripletMap {
 public:
  TripletMap() = default;
  explicit TripletMap(const std::vector<Triplet>& triplets);
  [[nodiscard]] const Triplet* find(Index top) const noexcept;
  /// The highest maximum of the component of `top` in the superlevel set of cells >= `level`, which must not be above
  /// `top`.
  [[nodiscard]] ValuedCell follow(ValuedCell top, const ValuedCell& level) const noexcept;
  void add(const std::vector<Triplet>& triplets);
  [[nodiscard]] const std::unordered_map<Index, Triplet>& all() const noexcept { return triplets_; }

 private:
  std::unordered_map<Index, Triplet> triplets_;
};

/// The lowest cell with a value >= `value`.
[[nodiscard]] inline ValuedCell level_of(double value) noexcept { return {value, -1}; }

}  // namespace sidestream::halos
