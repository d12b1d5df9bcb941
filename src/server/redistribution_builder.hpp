// Makes the plan of a Redistribution.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "server/redistribution.hpp"

namespace sidestream {

/// First it notes what every view wants of every block, then it settles what is to be fetched, then it finds where each
/// view reads. References outlive it.
class Redistribution::Builder {
 public:
  Builder(Redistribution& plan, const BlockTable& table, const Owned& owned)
      : plan_(plan), table_(table), owned_(owned) {}
  void build();

 private:
  /// A variable on a block.
  using Key = std::pair<std::int32_t, std::int64_t>;
  /// Points of a block that are, or will be, here.
  struct Holding {
    std::size_t wanted;
    std::vector<Box> boxes;
  };
  /// What a view wants of a variable: `plain` of the mesh as it is, `wrapped` of its repetitions.
  struct Region {
    const Variable& variable;
    std::int32_t level;
    Box plain, wrapped;
  };

  std::size_t want(const Variable& variable, std::int64_t position, const Box& points);
  void add_own(const Variable& variable);
  void add_piece(std::size_t number);
  [[nodiscard]] Region region_of(const Own& own) const;
  [[nodiscard]] Region region_of(const Piece& piece) const;
  template <class F>
  void for_each_block(const Region& region, F&& f) const;
  void note(const Region& region);
  void settle();
  [[nodiscard]] std::vector<Source> sources_of(const Region& region, std::size_t own_wanted) const;

  Redistribution& plan_;
  const BlockTable& table_;
  const Owned& owned_;
  std::map<Key, std::vector<Holding>> holdings_;
  std::map<Key, std::vector<Box>> fetched_;  ///< disjoint
};

}  // namespace sidestream
