// Statistics of each value over windows, as variables on a copy of the mesh.
//
// In `local` a server makes room, which may fail. In `combine` all servers know that none failed. They then
//
// 1. find out whether some block came without what was kept of it, and exchange that,
// 2. hand over a window that ended without an iteration at its end,
// 3. add the values of this iteration,
// 4. hand over the window if this was its last iteration.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <span>
#include <unordered_map>
#include <utility>

#include "climate/kinds.hpp"
#include "climate/over_time/kept_blocks.hpp"
#include "climate/over_time/query.hpp"
#include "climate/over_time/rows.hpp"
#include "sidestream/extend/kept_states.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/log.hpp"
#include "sidestream/kit/data/block_results.hpp"

namespace sidestream {

namespace {

using namespace over_time;

/// The blocks of this server in an iteration, with the arrays of the mesh, by id and lowest cell.
using Shells = std::map<std::pair<std::int64_t, Index3>, ResultBlock>;

class TimeStatistics final : public Task, public LastingTask, public BlockMaker {
 public:
  explicit TimeStatistics(Query query)
      : query_(std::move(query)), needs_(query_.needs()), kept_(needs_, query_.variables) {}

  Selection selection() const override {
    Selection selection;
    for (const Variable& variable : query_.variables) {
      selection.variables.emplace_back(variable.id);
      selection.variables.back().completed = false;
    }
    selection.catalogue = true;
    return selection;
  }

  Bytes local(const LocalInput& input) override;
  Bytes combine(const CombineInput& input) override;
  void keep_state(const Iteration& iteration, Communicator& servers, Results& results) override;
  void finish(const Iteration& last, Communicator& servers, Results& results) override;

 private:
  /// Calls f(entry, view) for each block here.
  template <class F>
  void for_each_view(const LocalInput& input, F&& f) const {
    for (std::size_t e = 0; e < query_.variables.size(); ++e) {
      for (const BlockView& view : input.at(e)) {
        if (!view.copy && !view.points.empty()) f(static_cast<std::int32_t>(e), view);
      }
    }
  }
  void restore(const CombineInput& input);
  void go_on_from(const std::vector<Bytes>& parts, const CombineInput& input);
  void warn_of_incomplete(const Iteration& first) const;
  void gather(Communicator& servers);
  void add(const LocalInput& input, double weight);
  [[nodiscard]] Shells shells(const LocalInput& input) const;
  void add_arrays(ResultBlock& shell, std::int32_t entry, const BlockView& view, const LocalInput& input) const;
  void hand_over(Shells shells, bool has_ended, Results& results);

  Query query_;
  Needed needs_;
  KeptBlocks kept_;
  WindowClock clock_;
  bool begun_ = false;  ///< the state of an earlier run was looked for
  bool sound_ = true;   ///< no iteration was left halfway by an exception
  Shells last_;         ///< with `partial: write`: blocks of the last iteration
};

Bytes TimeStatistics::local(const LocalInput& input) {
  kept_.begin();
  std::size_t needed = 0;
  for_each_view(input, [&](std::int32_t entry, const BlockView& view) {
    KeptBlock& kept = kept_.find(entry, view.block);
    kept.values.prepare(static_cast<std::size_t>(clock_.samples()));
    needed += kept.values.bytes();
    if (!query_.memory || needed <= *query_.memory) return;
    fail(
        Code::analysis,
        "the windows of '{}' need at least {} bytes on server {}, expected at most {} (`memory`); raise it, shorten the "
        "window, or use more servers",
        query_.makes, needed, input.server, *query_.memory);
  });
  return {};
}

Bytes TimeStatistics::combine(const CombineInput& input) {
  if (!begun_) restore(input);
  gather(input.communicator);
  const WindowClock::Place place = clock_.place(query_.rule, input.iteration);
  if (place.repeated) return {};
  sound_ = false;
  if (clock_.is_open() && clock_.window() != place.window) hand_over(shells(*input.local), true, input.results);
  const bool counts = place.window >= 0 && place.weight > 0;
  clock_.enter(input.iteration, counts ? place : WindowClock::Place{});
  if (counts) add(*input.local, place.weight);
  if (counts && place.is_last) {
    hand_over(shells(*input.local), true, input.results);
  } else if (query_.write_partial && counts) {
    last_ = shells(*input.local);
  }
  sound_ = true;
  return {};
}

/// Collective: looks for what an earlier run kept, or servers of this session that have ended.
void TimeStatistics::restore(const CombineInput& input) {
  auto* const states = dynamic_cast<KeptStates*>(&input.results);
  std::vector<Bytes> parts;
  if (states != nullptr) parts = states->earlier_state(query_.makes, input.communicator);
  std::int64_t most = static_cast<std::int64_t>(parts.size());
  input.communicator.maximum(std::span(&most, 1));
  if (most > 0) go_on_from(parts, input);
  begun_ = true;
  if (input.communicator.rank() == 0) warn_of_incomplete(input.iteration);
}

/// The first window of these servers lacks iterations if they were refused, had no values, or were lost with servers
/// that ended before.
void TimeStatistics::warn_of_incomplete(const Iteration& first) const {
  const std::int64_t lacks = clock_.lacks(query_.rule, first);
  if (lacks == 0) return;
  const auto all = static_cast<std::int64_t>(std::ceil(query_.rule.length / query_.rule.step));
  log::warning(
      "time_statistics '{}': the window of iteration {} has at most {} of {} iterations, since those before it did not "
      "come here",
      query_.makes, first.index, all - lacks, all);
}

/// Each part begins with the same text and clock, which all servers need.
void TimeStatistics::go_on_from(const std::vector<Bytes>& parts, const CombineInput& input) {
  std::int64_t differs = 0;
  WindowClock clock;
  for (const Bytes& part : parts) {
    ByteReader reader(part);
    std::string text;
    reader.get(text);
    if (text != query_.fingerprint()) {
      differs = 1;
      break;
    }
    reader.get(clock);
    kept_.get(reader);
  }
  input.communicator.maximum(std::span(&differs, 1));
  Bytes bytes;
  if (input.communicator.rank() == 0 && differs == 0) bytes.assign(bytes_of(clock).begin(), bytes_of(clock).end());
  input.communicator.broadcast(bytes, 0);
  if (differs == 0) {
    clock_ = record_of<WindowClock>(bytes);
    clock_.go_on(input.iteration);
    return;
  }
  kept_.clear();
  if (input.communicator.rank() != 0) return;
  log::warning(
      "time_statistics '{}': the run goes on from one with other windows, variables or statistics; what it kept "
      "of a window is not used",
      query_.makes);
}

/// Collective: gives blocks that came from other servers what these kept of them.
void TimeStatistics::gather(Communicator& servers) {
  std::int64_t states[] = {kept_.lacks(), kept_.has_more(), !sound_};
  servers.maximum(states);
  if (states[2] != 0) {
    if (servers.rank() == 0) {
      log::warning("time_statistics '{}': an iteration failed halfway; its window begins anew", query_.makes);
    }
    kept_.clear();
    clock_.close_window();
  } else if (states[0] != 0 && states[1] != 0) {
    kept_.exchange(servers);
  }
  kept_.settle();
}

void TimeStatistics::add(const LocalInput& input, double weight) {
  const auto n = static_cast<std::size_t>(clock_.samples() - 1);
  for_each_view(input, [&](std::int32_t entry, const BlockView& view) {
    KeptBlock& kept = kept_.find(entry, view.block);
    kept.values.prepare(n);
    kept.values.begin(n, weight);
    for_each_row(view.array, kept.points, query_.variables[static_cast<std::size_t>(entry)].order,
                 [&](std::size_t first, std::span<const double> values) { kept.values.add(first, values); });
  });
}

/// A part of a block, which a partitioner has cut, gets an id of its own.
std::int64_t id_of(const Block& part, const Box& whole) {
  if (part.cells == whole) return part.id;
  Index number = 0;
  for (std::size_t a = 3; a-- > 0;) {
    number = number * whole.extent(static_cast<int>(a)) + part.cells.lo[a] - whole.lo[a];
  }
  return part.id + (number + 1) * (std::int64_t{1} << 32);
}

void TimeStatistics::add_arrays(ResultBlock& shell, std::int32_t entry, const BlockView& view,
                                const LocalInput& input) const {
  const Mesh& mesh = input.metadata.mesh_of(query_.variables.front());
  for (const std::int32_t id : mesh.arrays) {
    if (id < 0) continue;
    const Variable& variable = input.metadata.variables[static_cast<std::size_t>(id)];
    for (const BlockView& array : input.at(static_cast<std::size_t>(entry), id)) {
      if (array.block.id != view.block.id || array.block.cells != view.block.cells || array.copy) continue;
      const Box points = variable.points(view.block);
      Bytes values(packed_bytes(points, variable.components, variable.type));
      pack(array.array, points, variable.order, values);
      shell.arrays.push_back({std::string(name_of(variable.role)), std::move(values)});
      break;
    }
  }
}

Shells TimeStatistics::shells(const LocalInput& input) const {
  std::unordered_map<std::int64_t, Box> wholes;
  for (const Block& block : input.catalogue ? std::span(input.catalogue->blocks) : std::span<const Block>()) {
    if (block.mesh == query_.variables.front().mesh) wholes.emplace(block.id, block.cells);
  }
  Shells shells;
  for_each_view(input, [&](std::int32_t entry, const BlockView& view) {
    const auto [at, is_new] = shells.try_emplace({view.block.id, view.block.cells.lo});
    if (!is_new) return;
    const auto whole = wholes.find(view.block.id);
    at->second.block = view.block;
    if (whole != wholes.end()) at->second.block.id = id_of(view.block, whole->second);
    add_arrays(at->second, entry, view, input);
  });
  return shells;
}

/// Gives the results of the open window to the tasks that use the mesh, and begins another one.
void TimeStatistics::hand_over(Shells shells, bool has_ended, Results& results) {
  const std::array<double, 2> span = clock_.span(query_.rule, has_ended);
  for (const KeptBlock& kept : kept_.all()) {
    const auto shell = shells.find({kept.block.id, kept.block.cells.lo});
    if (!kept.here || shell == shells.end()) continue;
    const Variable& variable = query_.variables[static_cast<std::size_t>(kept.entry)];
    for (const Output& output : query_.outputs) {
      shell->second.arrays.push_back(
          {Query::array_name(variable, output), kept.values.result(output.statistic, output.quantile)});
    }
  }
  std::vector<ResultBlock> blocks;
  for (auto& [key, block] : shells) blocks.push_back(std::move(block));
  std::vector<Attribute> about{{"time_begin", span[0]}, {"time_end", span[1]}, {"window_iterations", clock_.samples()}};
  if (auto* const receiver = dynamic_cast<BlockResults*>(&results)) {
    receiver->add_blocks(std::move(blocks), std::move(about));
  }
  kept_.reset();
  clock_.close_window();
  last_.clear();
}

void TimeStatistics::keep_state(const Iteration& iteration, Communicator& servers, Results& results) {
  auto* const states = dynamic_cast<KeptStates*>(&results);
  if (states == nullptr || query_.states == 0 || !begun_) return;
  ByteWriter writer;
  writer.put(query_.fingerprint());
  writer.put(clock_.kept(iteration));
  if (clock_.is_open()) kept_.put(writer);
  states->keep_state(query_.makes, writer.bytes(), servers, query_.states);
}

void TimeStatistics::finish(const Iteration&, Communicator&, Results& results) {
  if (query_.write_partial && sound_ && clock_.is_open()) hand_over(std::move(last_), false, results);
}

}  // namespace

AnalysisKind time_statistics_kind() {
  return {
      .name = "time_statistics",
      .text =
          "Mean, minimum, maximum, variance, sum and quantiles of each value over windows of iterations, cycles or "
          "time, as variables on a copy of the mesh, in the iteration that ends a window. The variables are called "
          "MESH_VARIABLE_STATISTIC: `daily_temperature_mean`. All are float64, but `count`, which is int64. Values are "
          "added in the order of the iterations, so results have the same bits in every placement. A run that goes on "
          "from a checkpoint continues the window in which that was written. See docs/time-statistics.md.",
      .options = over_time::query_options(),
      .create = [](const Settings& settings, const Metadata& metadata) -> std::unique_ptr<Task> {
        return std::make_unique<TimeStatistics>(over_time::read_query(settings, metadata));
      },
      .any_partials = false,
      .result_mesh = over_time::result_mesh};
}

}  // namespace sidestream
