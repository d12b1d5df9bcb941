// Merge trees of superlevel sets as triplets: this maximum, the saddle at which its component meets an elder one, and
// the maximum of that.
//
// After Morozov and Weber, "Distributed merge trees" (2013), and Smirnov and Morozov, "Triplet merge trees" (2017).
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "sidestream/data/box.hpp"

namespace sidestream::halos {

/// A cell in the order of the tree: by value, of equal ones by linear index. `Cell` of trees; travels.
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

/// A maximum whose component meets, at the saddle, that of an elder one. With saddle == top the cell is no maximum of
/// the whole field, only of a part of it.
struct Triplet {
  ValuedCell top, saddle, into;
};

/// Those of the edges that form a maximal spanning forest: the highest ways between all maxima. Each with the eldest
/// maximum of both sides, the younger one first: top, saddle, into. In descending order of saddles.
[[nodiscard]] std::vector<Triplet> spanning(std::vector<TreeEdge> edges);

/// Finds the triplet of a maximum by its linear index.
class TripletMap {
 public:
  TripletMap() = default;
  explicit TripletMap(const std::vector<Triplet>& triplets);
  [[nodiscard]] const Triplet* find(Index top) const noexcept;
  /// The eldest maximum of the component that `top` has at a level not above it: all cells >= `level`.
  [[nodiscard]] ValuedCell follow(ValuedCell top, const ValuedCell& level) const noexcept;
  void add(const std::vector<Triplet>& triplets);
  [[nodiscard]] const std::unordered_map<Index, Triplet>& all() const noexcept { return triplets_; }

 private:
  std::unordered_map<Index, Triplet> triplets_;
};

/// The lowest cell that reaches a value.
[[nodiscard]] inline ValuedCell level_of(double value) noexcept { return {value, -1}; }

}  // namespace sidestream::halos
