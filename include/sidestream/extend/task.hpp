// The contract of a task, which servers run in an iteration: an analysis or a writer.
#pragma once

#include <algorithm>
#include <cstdint>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sidestream/data/block.hpp"
#include "sidestream/data/catalogue.hpp"
#include "sidestream/data/event.hpp"
#include "sidestream/data/iteration.hpp"
#include "sidestream/data/metadata.hpp"
#include "sidestream/data/selection.hpp"
#include "sidestream/error.hpp"
#include "sidestream/extend/communicator.hpp"
#include "sidestream/extend/results.hpp"
#include "sidestream/extend/steering.hpp"

namespace sidestream {

/// The views of one entry of a selection: its variable, and the delivered arrays of its mesh.
struct EntryViews {
  std::int32_t variable = -1;  ///< variable of the entry
  /// By variable id; null: not part of this entry.
  std::vector<const std::vector<BlockView>*> views;
};

/// The input of `local`: this server's blocks of one iteration. It and the values stay valid until `combine` or
/// `discard` has returned.
struct LocalInput {
  const Iteration& iteration;
  const Metadata& metadata;
  /// Blocks as published, by variable id, in ascending block id; empty for variables that were not selected as
  /// published.
  std::span<const std::vector<BlockView>> blocks;
  int pass = 0;
  /// Return value of `combine` in the previous pass; the same bytes on every server. Empty in pass 0.
  BytesView feedback{};
  /// All blocks of all clients, if the selection asked for it; otherwise null.
  const Catalogue* catalogue = nullptr;
  /// Views by entry of the analysis' Selection::variables.
  std::span<const EntryViews> entries{};
  int server = 0, servers = 1;  ///< this server and the number of servers: pieces of decompositions belong to them
  /// Events with values or a scope, and barriers, that take effect in this iteration, in the same order on all servers.
  /// Events of scope `all` are on every server, others on the servers that see them. Events that `signal(event)` raised
  /// without values are not included; they only make analyses run.
  std::span<const Event> events{};
  /// True if the return value of `local` goes only to the next `combine` of the same object. It may then refer to data
  /// in the object, and a large partial is neither copied nor packed.
  bool stays = false;

  /// The views of entry `n` of the selection. A decomposition has one view, the server's piece, or none.
  [[nodiscard]] const std::vector<BlockView>& at(std::size_t n) const { return at(n, entry(n).variable); }
  /// The views of an array of the mesh of entry `n`, in the same pieces and with the same halo. Empty if the mesh has
  /// no such array.
  [[nodiscard]] const std::vector<BlockView>& at(std::size_t n, std::int32_t variable) const {
    static const std::vector<BlockView> none;
    const EntryViews& views = entry(n);
    const auto v = static_cast<std::size_t>(variable);
    return variable < 0 || v >= views.views.size() || !views.views[v] ? none : *views.views[v];
  }
  [[nodiscard]] const EntryViews& entry(std::size_t n) const {
    if (n < entries.size()) return entries[n];
    throw Error(Code::analysis, "entry " + std::to_string(n) + " of a selection of " + std::to_string(entries.size()) +
                                    " was asked for; entries are counted from 0");
  }
  [[nodiscard]] const std::vector<BlockView>& of(std::int32_t variable) const { return blocks[variable]; }
  /// The view of a block by its id in BlockView::block, or null if it is not here.
  [[nodiscard]] const BlockView* find(std::int32_t variable, std::int64_t block) const {
    if (variable < 0) return nullptr;
    const std::vector<BlockView>& views = of(variable);
    const auto at = std::lower_bound(views.begin(), views.end(), block,
                                     [](const BlockView& view, std::int64_t id) { return view.block.id < id; });
    return at == views.end() || at->block.id != block ? nullptr : &*at;
  }
};

/// The input of `combine`. `partials` are the return values of `local` on this server (with combined placements, of
/// several servers), in no particular order: results must not depend on their division.
struct CombineInput {
  const Iteration& iteration;
  const Metadata& metadata;
  std::span<const Bytes> partials;
  int pass = 0;
  Communicator& communicator;  ///< all servers; for this analysis only
  Results& results;
  /// The input of `local` on this server in this pass. Null if partials come from other servers (`forward: partials`).
  /// A kind that needs it declares that (AnalysisKind::any_partials) and is refused with such placements.
  const LocalInput* local = nullptr;
  /// Null if nothing can be steered, as in tests of a single analysis.
  Steering* steering = nullptr;
};

/// An analysis or a writer at work. There is one object per server and entry in the configuration, used by one thread,
/// in the total order (iteration, position in the file). In each pass every server calls `local`; the servers agree
/// that all succeeded; then every server calls `combine`. If `local` fails on any server, no server calls `combine`,
/// every server calls `discard`, and the failure is reported to the simulation. Later iterations still run.
class Task {
 public:
  virtual ~Task() = default;
  /// The data that the task needs. Called once, after the declarations are frozen.
  [[nodiscard]] virtual Selection selection() const = 0;
  /// 0 if results are bitwise equal whatever the placement and number of servers ("exact"), otherwise the relative
  /// difference to expect.
  [[nodiscard]] virtual double tolerance() const { return 0; }
  [[nodiscard]] virtual int passes() const { return 1; }
  /// Reduces this server's blocks to bytes. It may instead write them to temporary files and return the information for
  /// an index. Never communicates. May throw, and then leaves no files. Servers without blocks call it, too.
  [[nodiscard]] virtual Bytes local(const LocalInput& input) = 0;
  /// Merges partials over the communicator, and hands over results or names files; collective. Returns the feedback for
  /// the next pass, the same on every server. May throw only before its first or after its last communication, or on
  /// all servers alike.
  virtual Bytes combine(const CombineInput& input) = 0;
  /// Removes the files of `local`. Called instead of `combine` if a server failed. Never throws.
  virtual void discard(const Iteration& iteration) noexcept { static_cast<void>(iteration); }

  /// The reason of `refuse_iteration` since the last call; nothing if it was not called. For the engine, after a run.
  [[nodiscard]] virtual std::optional<std::string> take_refusal() { return std::exchange(refusal_, std::nullopt); }

 protected:
  /// Reports that no reader took an iteration which this task hands on. Its outcome is then `refused`, whatever other
  /// tasks did, and iterations.csv has the reason. Call it in `combine` or `discard`, on all servers alike. `combine`
  /// may throw afterwards, which is reported like any failure. Not possible with `forward: partials`.
  void refuse_iteration(std::string_view reason) noexcept {
    refusal_.emplace();
    try {
      refusal_->assign(reason);
    } catch (const std::bad_alloc&) {
      // The iteration is refused without a reason.
    }
  }

 private:
  std::optional<std::string> refusal_;
};

}  // namespace sidestream
