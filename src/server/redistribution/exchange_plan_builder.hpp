// Builder of an ExchangePlan.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "server/redistribution/exchange_plan.hpp"

namespace sidestream {

/// Collects what every view needs of every block, then decides what to fetch, and finds the sources of each view.
/// References must outlive it.
class ExchangePlan::Builder {
 public:
  Builder(ExchangePlan& plan, const BlockTable& table, const Owned& owned, const Allocated& allocated)
      : plan_(plan), table_(table), owned_(owned), allocated_(allocated) {}
  void build();

 private:
  /// Variable and position of the block.
  using Key = std::pair<std::int32_t, std::int64_t>;
  /// Points of a block that are, or will be, on this server.
  struct Holding {
    std::size_t wanted;
    std::vector<Box> boxes;
  };
  /// Points that a view needs of a variable: `plain` in the mesh itself, `wrapped` in its periodic images.
  struct Region {
    const Variable& variable;
    std::int32_t level;
    Box plain, wrapped;
    const Own* own = nullptr;  ///< the piece that the region surrounds; null: none
    Box filled{};              ///< points that its own array has
  };

  std::size_t want(const Variable& variable, std::int64_t position, const Box& points);
  void add_own(const Variable& variable);
  /// True if views get the upper nodes of their cells from neighbours, as a halo.
  [[nodiscard]] bool completes(const Variable& variable) const {
    const std::vector<bool>& completed = plan_.assignment_->completed;
    const auto v = static_cast<std::size_t>(variable.id);
    return v < completed.size() && completed[v];
  }
  [[nodiscard]] Box taken(const Variable& variable, const BlockAssignment::Piece& piece, const Box& points,
                          std::int32_t halo) const;
  void add_piece(std::size_t number);
  [[nodiscard]] Region region_of(const Own& own) const;
  [[nodiscard]] Region region_of(const Piece& piece) const;
  template <class F>
  void for_each_block(const Region& region, F&& f) const;
  void note(const Region& region);
  void settle();
  [[nodiscard]] std::vector<Box> parts_of(const Region& region, std::int64_t position, const Box& source,
                                          const Index3& shift) const;
  [[nodiscard]] std::vector<Source> sources_of(const Region& region) const;

  ExchangePlan& plan_;
  const BlockTable& table_;
  const Owned& owned_;
  const Allocated& allocated_;
  std::map<Key, std::vector<Holding>> holdings_;
  std::map<Key, std::vector<Box>> fetched_;  ///< disjoint
};

}  // namespace sidestream
