// The last stage of assembling, which computes derived variables from their inputs.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "server/derived/derived_evaluator.hpp"
#include "server/redistribution/block_table.hpp"
#include "server/redistribution/exchange_plan.hpp"
#include "sidestream/data/iteration.hpp"
#include "sidestream/data/metadata.hpp"
#include "sidestream/data/selection.hpp"

namespace sidestream {

/// Computes each derived variable once, and gives every task that selects it the same views. They live in
/// Views::memory, as long as the iteration.
class DerivedStage {
 public:
  /// `metadata` must outlive this object.
  explicit DerivedStage(const Metadata& metadata) : metadata_(metadata) {}
  /// Deposits particles on the cells that will be requested. Collective; call it before `derive` with the same
  /// arguments. Throws the same error on all servers.
  void deposit(std::span<const Selected> derived, const BlockTable& table, const Views& views, Communicator& servers);
  /// Computes derived variables. `derived`: the selected derived variables; `views` must contain their inputs (see
  /// inputs_of), marked. Throws Error; views of derived variables must not be used then.
  void derive(std::span<const Selected> derived, const Iteration& iteration, const BlockTable& table, Views& views);

 private:
  /// A view of one block, or of one piece, of a derived variable.
  struct Wanted {
    const Variable& variable;
    const BlockView& like;  ///< view of an input with the same points
    std::int32_t halo = 0;
    bool wrap = true;
  };
  [[nodiscard]] DerivedProgram& program(const Variable& variable);
  /// Returns the points around a view that inputs must cover, with a `halo` for the user of the result.
  [[nodiscard]] Box region_of(const Variable& variable, const BlockView& like, std::int32_t halo) const;
  [[nodiscard]] std::vector<Box> regions_of(const Selected& selected, std::span<const Selected> derived,
                                            const BlockTable& table, const Views& views) const;
  [[nodiscard]] static std::int32_t widest_halo(const Variable& variable, std::span<const Selected> derived);
  void derive_blocks(const Variable& variable, std::span<const Selected> derived, const Iteration& iteration,
                     const BlockTable& table, Views& views);
  void derive_piece(const Selected& selected, const Iteration& iteration, Views& views);
  /// `view_of`: returns each input around the same block. Returns nothing if an input is missing.
  using ViewOf = std::function<const BlockView*(std::int32_t variable)>;
  [[nodiscard]] std::optional<BlockView> view(const Wanted& wanted, const Iteration& iteration, const ViewOf& view_of,
                                              Views& views);

  const Metadata& metadata_;
  std::map<std::int32_t, DerivedProgram> programs_;  ///< programs by variable
  using Region = std::pair<std::int32_t, Box>;       ///< mesh and box
  struct Before {
    bool operator()(const Region& a, const Region& b) const noexcept {
      return std::tie(a.first, a.second.lo, a.second.hi) < std::tie(b.first, b.second.lo, b.second.hi);
    }
  };
  std::map<Region, DepositedParts, Before> deposits_;  ///< deposits of the current iteration
};

}  // namespace sidestream
