// The contract of a task: what servers run in an iteration, be it an analysis or a writer.
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

/// What one entry of a selection asked for: its variable, and the arrays of its mesh that came along.
struct EntryViews {
  std::int32_t variable = -1;  ///< of the entry
  /// By variable id; null: not of this entry.
  std::vector<const std::vector<BlockView>*> views;
};

/// What `local` gets: this server's blocks of one iteration. It and the values stay until `combine` has returned, or
/// `discard`.
struct LocalInput {
  const Iteration& iteration;
  const Metadata& metadata;
  /// Blocks as published by variable id, in ascending block id; variables not selected so are empty.
  std::span<const std::vector<BlockView>> blocks;
  int pass = 0;
  /// What `combine` of the pass before returned; the same bytes on every server. Empty in pass 0.
  BytesView feedback{};
  /// All blocks of all clients, if the selection asked for it; otherwise null.
  const Catalogue* catalogue = nullptr;
  /// By entry of the analysis' Selection::variables.
  std::span<const EntryViews> entries{};
  int server = 0, servers = 1;  ///< this one and how many there are: pieces of decompositions are theirs
  /// Events with values or a scope, and barriers, that take effect in this iteration, in the one order in which all
  /// servers have them; those of scope `all` on every server, others where they are seen. Not those that
  /// `signal(event)` alone raised, which only make analyses run.
  std::span<const Event> events{};
  /// Whether what `local` returns comes to the next `combine` of the same object and to nobody else. Then it may say
  /// where in the object the rest of it is, and a large partial is neither copied nor packed.
  bool stays = false;

  /// What entry `n` of the selection asked for: of a decomposition the server's piece, one view or none.
  [[nodiscard]] const std::vector<BlockView>& at(std::size_t n) const { return at(n, entry(n).variable); }
  /// An array of the mesh of entry `n`, in the same pieces and as far round them; empty if it is none.
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

/// What `combine` gets. `partials` are what `local` returned on this server (with combined placements, what several
/// servers' `local` returned), in no particular order: results must not depend on how they are divided.
struct CombineInput {
  const Iteration& iteration;
  const Metadata& metadata;
  std::span<const Bytes> partials;
  int pass = 0;
  Communicator& communicator;  ///< of this analysis alone, all servers
  Results& results;
  /// What `local` got here in this pass. Null where partials come from other servers (`forward: partials`); a kind that
  /// can not do without says so (AnalysisKind::any_partials) and is refused there.
  const LocalInput* local = nullptr;
  /// Null where nothing can be steered: in tests of the analysis alone.
  Steering* steering = nullptr;
};

/// An analysis or a writer at work. One object per server and entry in the configuration, used by one thread, in the
/// total order (iteration, position in the file). For each pass: every server calls `local`; the servers agree that all
/// succeeded; then every server calls `combine`. If `local` fails anywhere, `combine` is called nowhere, every server
/// calls `discard`, and the failure is reported to the simulation; later iterations run.
class Task {
 public:
  virtual ~Task() = default;
  /// What it needs; asked once, after the declarations are frozen.
  [[nodiscard]] virtual Selection selection() const = 0;
  /// 0 if results are bitwise equal whatever the placement and number of servers ("exact"), otherwise the relative
  /// difference to expect.
  [[nodiscard]] virtual double tolerance() const { return 0; }
  [[nodiscard]] virtual int passes() const { return 1; }
  /// Reduces this server's blocks to bytes, or writes them to temporary files and returns what an index needs to know
  /// of them. Never communicates; may throw, and leaves no files then. A server without blocks calls it too.
  [[nodiscard]] virtual Bytes local(const LocalInput& input) = 0;
  /// Merges partials over the communicator, and gives results away or names files; collective. Returns the feedback for
  /// the next pass, the same on every server. May throw only before its first or after its last communication, or on
  /// all servers alike.
  virtual Bytes combine(const CombineInput& input) = 0;
  /// Called in place of `combine` when some server failed: removes what `local` left. Never throws.
  virtual void discard(const Iteration& iteration) noexcept { static_cast<void>(iteration); }

  /// The reason of `refuse_iteration` since the last call; nothing if it was not called. For the engine, after a run.
  [[nodiscard]] virtual std::optional<std::string> take_refusal() { return std::exchange(refusal_, std::nullopt); }

 protected:
  /// Says that nobody took an iteration which this task hands on. Its outcome is then `refused`, whatever other tasks
  /// made of it, and iterations.csv has the reason. To be called in `combine` or `discard`, on all servers alike.
  /// `combine` may throw afterwards: that is reported as any failure. Not possible with `forward: partials`.
  void refuse_iteration(std::string_view reason) noexcept {
    refusal_.emplace();
    try {
      refusal_->assign(reason);
    } catch (const std::bad_alloc&) {
      // It is refused without a reason.
    }
  }

 private:
  std::optional<std::string> refusal_;
};

}  // namespace sidestream
