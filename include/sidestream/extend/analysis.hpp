// The contract of an analysis: code that runs on servers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sidestream/data/block.hpp"
#include "sidestream/data/catalogue.hpp"
#include "sidestream/data/iteration.hpp"
#include "sidestream/data/metadata.hpp"
#include "sidestream/data/result.hpp"
#include "sidestream/data/selection.hpp"
#include "sidestream/error.hpp"
#include "sidestream/extend/communicator.hpp"
#include "sidestream/extend/options.hpp"

namespace sidestream {

/// What one entry of a selection asked for: its variable, and the arrays of its mesh that came along.
struct EntryViews {
  std::int32_t variable = -1;  ///< of the entry
  /// By variable id; null: not of this entry.
  std::vector<const std::vector<BlockView>*> views;
};

/// What `local` gets: this server's blocks of one iteration. Valid during the call only.
struct LocalInput {
  const Iteration& iteration;
  const Metadata& metadata;
  /// Blocks as published by variable id, in ascending block id; variables not selected so are empty.
  std::span<const std::vector<BlockView>> blocks;
  int pass = 0;
  /// What `combine` of the pass before returned; the same bytes on every server. Empty in pass 0.
  BytesView feedback;
  /// All blocks of all clients, if the selection asked for it; otherwise null.
  const Catalogue* catalogue = nullptr;
  /// By entry of the analysis' Selection::variables.
  std::span<const EntryViews> entries{};
  int server = 0, servers = 1;  ///< this one and how many there are: pieces of decompositions are theirs

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

/// Where `combine` puts results. `file` is a file option's value; its ending chooses the format. A table whose pattern
/// names no iteration gets its rows appended, with the columns iteration, cycle and time before them; other results are
/// one file each, with a series index beside them. Files appear whole or not at all. Throws Error(file).
class Results {
 public:
  virtual ~Results() = default;
  // Of a result that one server has whole: only what rank 0 of the communicator adds is kept.
  virtual void add(const std::string& file, const Table& table) = 0;
  virtual void add(const std::string& file, const Image& image) = 0;
  virtual void add(const std::string& file, const Surface& surface) = 0;
  virtual void add(const std::string& file, const DataSet& data) = 0;

  // Of a result that all servers have a part of. Collective over `servers`, the communicator of CombineInput, and
  // throws on all of them alike. In pieces, every server writes a file, and rank 0 one that lists them; what the pieces
  // hold, in the order of ranks, is what one file holds. Otherwise rank 0 gathers them, as these functions of the base
  // do.
  /// Rows follow each other in the order of ranks. A table whose rows are appended is never in pieces.
  virtual void add_parts(const std::string& file, const Table& mine, Communicator& servers, Pieces how);
  /// Points and triangles follow each other in the order of ranks.
  virtual void add_parts(const std::string& file, const Surface& mine, Communicator& servers, Pieces how);
  /// All servers give the same arrays; `start` and `size` say which part of each is whose. The parts fill the arrays
  /// and do not overlap.
  virtual void add_parts(const std::string& file, const DataSet& mine, Communicator& servers, Pieces how);
};

/// Whether a result that takes `bytes` on this server and more on others is to be written in pieces. Collective unless
/// `how` says it.
[[nodiscard]] bool in_pieces(Pieces how, std::uint64_t bytes, Communicator& servers);

/// What `combine` gets. `partials` are what `local` returned on this server (with combined placements, what several
/// servers' `local` returned), in no particular order: results must not depend on how they are divided.
struct CombineInput {
  const Iteration& iteration;
  const Metadata& metadata;
  std::span<const Bytes> partials;
  int pass = 0;
  Communicator& communicator;  ///< of this analysis alone, all servers
  Results& results;
};

/// An analysis. One object per server and entry in the configuration, used by one thread, in the total order
/// (iteration, position in the file). For each pass: every server calls `local`; the servers agree that all succeeded;
/// then every server calls `combine`. If `local` fails anywhere, `combine` is called nowhere for this iteration and the
/// failure is reported to the simulation; later iterations run.
class Analysis {
 public:
  virtual ~Analysis() = default;
  /// What it needs; asked once, after the declarations are frozen.
  [[nodiscard]] virtual Selection selection() const = 0;
  /// 0 if results are bitwise equal whatever the placement and number of servers ("exact"), otherwise the relative
  /// difference to expect.
  [[nodiscard]] virtual double tolerance() const { return 0; }
  [[nodiscard]] virtual int passes() const { return 1; }
  /// Reduces this server's blocks to bytes. Never communicates; may throw. A server without blocks calls it too.
  [[nodiscard]] virtual Bytes local(const LocalInput& input) = 0;
  /// Merges partials over the communicator; collective. Returns the feedback for the next pass, the same on every
  /// server. May throw only before its first or after its last communication, or on all servers alike.
  virtual Bytes combine(const CombineInput& input) = 0;
};

/// A kind of analysis, as registered: its name and options in the configuration and how to make one.
struct AnalysisKind {
  std::string name;
  std::string text;             ///< for the reference manual
  std::vector<Option> options;  ///< besides those of every analysis (every, start, end, on, name)
  /// May throw Error(configuration) through Settings::fail. Called with the frozen declarations; never communicates.
  std::function<std::unique_ptr<Analysis>(const Settings&, const Metadata&)> create;
  /// False: `combine` takes one partial on each server, no more and no fewer. Placements in which a server may get any
  /// number (`forward: partials`) are refused at the start.
  bool any_partials = true;
};

}  // namespace sidestream
