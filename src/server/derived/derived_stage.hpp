// The last stage of assembling: derived variables, from what they are computed from.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <vector>

#include "server/derived/derived_evaluator.hpp"
#include "server/redistribution/block_table.hpp"
#include "server/redistribution/redistribution.hpp"
#include "sidestream/data/iteration.hpp"
#include "sidestream/data/metadata.hpp"
#include "sidestream/data/selection.hpp"

namespace sidestream {

/// Gives every task that selects a derived variable the same views, computed once. They live in Views::memory, as long
/// as the iteration does.
class DerivedStage {
 public:
  /// `metadata` outlives it.
  explicit DerivedStage(const Metadata& metadata) : metadata_(metadata) {}
  /// Collective, before `derive` of the same: puts particles on the cells of which it will be asked. Throws on all
  /// servers alike.
  void deposit(std::span<const Selected> derived, const BlockTable& table, const Views& views, Communicator& servers);
  /// `derived`: what is selected of derived variables; `views` has what inputs_of says of it, marked. Throws Error; no
  /// views of derived variables are to be used then.
  void derive(std::span<const Selected> derived, const Iteration& iteration, const BlockTable& table, Views& views);

 private:
  /// A view of one block of a derived variable, or of its piece.
  struct Wanted {
    const Variable& variable;
    const BlockView& like;  ///< of an input with the same points
    std::int32_t halo = 0;
    bool wrap = true;
  };
  [[nodiscard]] DerivedProgram& program(const Variable& variable);
  /// The points around a view's, `halo` of them for whoever wants the result, that inputs have to cover.
  [[nodiscard]] Box region_of(const Variable& variable, const BlockView& like, std::int32_t halo) const;
  [[nodiscard]] std::vector<Box> regions_of(const Selected& selected, std::span<const Selected> derived,
                                            const BlockTable& table, const Views& views) const;
  [[nodiscard]] static std::int32_t widest_halo(const Variable& variable, std::span<const Selected> derived);
  void derive_blocks(const Variable& variable, std::span<const Selected> derived, const Iteration& iteration,
                     const BlockTable& table, Views& views);
  void derive_piece(const Selected& selected, const Iteration& iteration, Views& views);
  /// `views_of`: of each input round the same block. Nothing if one of them is not there.
  using ViewOf = std::function<const BlockView*(std::int32_t variable)>;
  [[nodiscard]] std::optional<BlockView> view(const Wanted& wanted, const Iteration& iteration, const ViewOf& view_of,
                                              Views& views);

  const Metadata& metadata_;
  std::map<std::int32_t, DerivedProgram> programs_;  ///< by variable
  using Region = std::pair<std::int32_t, Box>;       ///< of a mesh
  struct Before {
    bool operator()(const Region& a, const Region& b) const noexcept {
      return std::tie(a.first, a.second.lo, a.second.hi) < std::tie(b.first, b.second.lo, b.second.hi);
    }
  };
  std::map<Region, DepositedParts, Before> deposits_;  ///< of the iteration at hand
};

}  // namespace sidestream
