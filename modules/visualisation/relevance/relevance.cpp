// The analysis `relevance`: blocks ranked by a metric, the last ones coarsened before they move.
//
// Passes: (for entropy without `range`: the range of all values;) the metric of each block, from which the first server
// decides which blocks are kept; then the blocks, kept or coarsened, which move to the server that writes them.
// Everything is in the order of block ids, so that the result has the same bits wherever the blocks are.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "sidestream/extend/option_table.hpp"
#include "sidestream/kit/analysis/common_options.hpp"
#include "sidestream/kit/base/records.hpp"
#include "visualisation/kinds.hpp"
#include "visualisation/relevance/metric.hpp"
#include "visualisation/relevance/mixed_cells.hpp"
#include "visualisation/relevance/thinned_block.hpp"

namespace sidestream {

namespace {

struct RelevanceQuery {
  Variable variable{};
  int component = 0;
  BlockMetric metric = BlockMetric::variance;
  double keep = 0;
  std::optional<std::int64_t> keep_blocks{};
  Index factor = 2;
  std::int64_t bins = 0;
  std::optional<std::array<double, 2>> range{};
  std::string file{}, table{};
  Pieces pieces = Pieces::automatic;
};

struct BlockRank {
  std::int64_t id = 0;
  double metric = 0;
};

/// The decision about all blocks.
struct RankedBlocks {
  std::vector<std::int64_t> kept;                               ///< their ids, ascending
  std::int64_t not_finite = 0;                                  ///< blocks that have to be kept
  double threshold = std::numeric_limits<double>::quiet_NaN();  ///< least metric of those that are kept
};

/// The number of blocks to keep: a part, rounded up. A product such as 0.07 * 100, which is a little more than 7, is 7.
std::size_t number_to_keep(const RelevanceQuery& query, std::size_t blocks) {
  const auto all = static_cast<double>(blocks);
  const double wanted =
      query.keep_blocks ? static_cast<double>(*query.keep_blocks) : std::ceil(query.keep * all - 1e-9);
  return static_cast<std::size_t>(std::clamp(wanted, 0.0, all));
}

/// Ranks by metric, and equal ones by id.
RankedBlocks rank_blocks(std::vector<BlockRank> blocks, const RelevanceQuery& query) {
  std::sort(blocks.begin(), blocks.end(), [](const BlockRank& a, const BlockRank& b) {
    return a.metric != b.metric ? a.metric > b.metric : a.id < b.id;
  });
  RankedBlocks result;
  for (const BlockRank& block : blocks) result.not_finite += std::isinf(block.metric) ? 1 : 0;
  const std::size_t kept = std::max(number_to_keep(query, blocks.size()), static_cast<std::size_t>(result.not_finite));
  for (std::size_t n = 0; n < kept; ++n) result.kept.push_back(blocks[n].id);
  if (kept > 0) result.threshold = blocks[kept - 1].metric;
  std::sort(result.kept.begin(), result.kept.end());
  return result;
}

Bytes joined_bytes(std::span<const Bytes> partials) {
  Bytes all;
  for (const Bytes& partial : partials) all.insert(all.end(), partial.begin(), partial.end());
  return all;
}

/// Sends each block to the server that writes its part of the result. Servers get ranges of ids of about equal sizes,
/// so that the parts, one after the other, are the whole. Collective.
Bytes shared_out(const Bytes& mine, Communicator& servers) {
  std::vector<std::array<std::int64_t, 2>> sizes;  // id, bytes
  const auto heads = heads_in(mine);
  for (const auto& [head, at] : heads) sizes.push_back({head.id, head.bytes});
  std::vector<std::array<std::int64_t, 2>> all;
  for (const Bytes& bytes : servers.gather(bytes_of(sizes), 0)) {
    for (const auto& one : records_of<std::array<std::int64_t, 2>>(bytes)) all.push_back(one);
  }
  std::sort(all.begin(), all.end());
  std::int64_t total = 0, before = 0;
  for (const auto& [id, bytes] : all) total += bytes;
  std::vector<std::int64_t> ends;  // the first id beyond each server's
  const auto count = static_cast<std::int64_t>(servers.size());
  for (const auto& [id, bytes] : all) {
    while (static_cast<std::int64_t>(ends.size()) < before * count / std::max<std::int64_t>(total, 1))
      ends.push_back(id);
    before += bytes;
  }
  Bytes decided = bytes_of(ends);
  servers.broadcast(decided, 0);
  ends = records_of<std::int64_t>(decided);
  std::vector<Bytes> to(static_cast<std::size_t>(servers.size()));
  for (const auto& [head, at] : heads) {
    const auto server = static_cast<std::size_t>(std::upper_bound(ends.begin(), ends.end(), head.id) - ends.begin());
    const BytesView block = BytesView(mine).subspan(at, sizeof head + static_cast<std::size_t>(head.bytes));
    to.at(server).insert(to.at(server).end(), block.begin(), block.end());
  }
  return joined_bytes(servers.all_to_all(to));
}

class Relevance final : public Task {
 public:
  explicit Relevance(RelevanceQuery query)
      : query_(std::move(query)), measures_(query_.metric == BlockMetric::entropy && !query_.range) {
    bins_.count = query_.bins;
    if (query_.range) std::tie(bins_.low, bins_.high) = std::pair((*query_.range)[0], (*query_.range)[1]);
  }

  [[nodiscard]] Selection selection() const override { return {{{query_.variable.id}}}; }
  [[nodiscard]] int passes() const override { return measures_ ? 3 : 2; }

  Bytes local(const LocalInput& input) override {
    switch (input.pass + (measures_ ? 0 : 1)) {
      case 0:
        return extremes_of_blocks(input);
      case 1:
        return metrics_of_blocks(input);
      default:
        return thinned_blocks(input);
    }
  }

  Bytes combine(const CombineInput& input) override {
    switch (input.pass + (measures_ ? 0 : 1)) {
      case 0:
        return extremes_of_all(input);
      case 1:
        return kept_of_all(input);
      default:
        write(input);
        return {};
    }
  }

 private:
  using Extremes = std::array<double, 2>;
  static constexpr double infinity = std::numeric_limits<double>::infinity();

  template <class F>
  void for_each_block(const LocalInput& input, F&& f) const {
    for (const BlockView& view : input.of(query_.variable.id)) {
      const BlockValues block = values_of(view, query_.component);
      if (block.counted > 0) f(block);
    }
  }

  [[nodiscard]] Bytes extremes_of_blocks(const LocalInput& input) const {
    Extremes extremes{infinity, -infinity};
    for_each_block(input, [&](const BlockValues& block) {
      if (!block.finite) return;  // is kept whatever the others are
      extremes = {std::min(extremes[0], block.low), std::max(extremes[1], block.high)};
    });
    const BytesView bytes = bytes_of(extremes);
    return {bytes.begin(), bytes.end()};
  }
  static Bytes extremes_of_all(const CombineInput& input) {
    Extremes extremes{infinity, -infinity};
    for (const Bytes& partial : input.partials) {
      const auto one = record_of<Extremes>(partial);
      extremes = {std::min(extremes[0], one[0]), std::max(extremes[1], one[1])};
    }
    input.communicator.minimum(std::span(&extremes[0], 1));
    input.communicator.maximum(std::span(&extremes[1], 1));
    const BytesView bytes = bytes_of(extremes);
    return {bytes.begin(), bytes.end()};
  }

  [[nodiscard]] Bytes metrics_of_blocks(const LocalInput& input) const {
    EntropyBins bins = bins_;
    if (measures_) {
      const auto extremes = record_of<Extremes>(input.feedback);
      if (extremes[0] <= extremes[1]) std::tie(bins.low, bins.high) = std::pair(extremes[0], extremes[1]);
    }
    const Mesh& mesh = input.metadata.mesh_of(query_.variable);
    std::vector<BlockRank> ranks;
    for_each_block(input, [&](const BlockValues& block) {
      ranks.push_back({block.id, metric_of(query_.metric, block, mesh, bins)});
    });
    return bytes_of(ranks);
  }
  /// The ids of the blocks to keep, the same on all servers.
  Bytes kept_of_all(const CombineInput& input) {
    std::vector<BlockRank> all;
    for (const Bytes& bytes : input.communicator.gather(joined_bytes(input.partials), 0)) {
      for (const BlockRank& one : records_of<BlockRank>(bytes)) all.push_back(one);
    }
    ranked_ = rank_blocks(std::move(all), query_);
    Bytes kept = bytes_of(ranked_.kept);
    input.communicator.broadcast(kept, 0);
    return kept;
  }

  [[nodiscard]] Bytes thinned_blocks(const LocalInput& input) const {
    const auto kept = records_of<std::int64_t>(input.feedback);
    const Mesh& mesh = input.metadata.mesh_of(query_.variable);
    Bytes blocks;
    for_each_block(input, [&](const BlockValues& block) {
      const bool full = std::binary_search(kept.begin(), kept.end(), block.id);
      put_block(block, full ? 1 : query_.factor, mesh, query_.variable.type, blocks);
    });
    return blocks;
  }

  void write(const CombineInput& input) const {
    Communicator& servers = input.communicator;
    const Bytes mine = joined_bytes(input.partials);
    std::vector<ThinnedHead> heads;
    for (const auto& [head, at] : heads_in(mine)) heads.push_back(head);
    const Mesh& mesh = input.metadata.mesh_of(query_.variable);
    std::int64_t boxes = 0;
    for (const ThinnedHead& head : heads) boxes += head.boxes;
    // A cell has its corners, three values, a type, an end, and about one point.
    const auto bytes = static_cast<std::uint64_t>(boxes) * static_cast<std::uint64_t>(57 + (8 << mesh.dimensions));
    if (in_pieces(query_.pieces, bytes, servers)) {
      input.results.add_parts(query_.file, cells_of(shared_out(mine, servers), mesh), servers, Pieces::always);
    } else {
      const Bytes all = joined_bytes(servers.gather(mine, 0));
      if (servers.rank() == 0) input.results.add(query_.file, cells_of(all, mesh));
    }
    std::vector<ThinnedHead> of_all = records_of<ThinnedHead>(joined_bytes(servers.gather(bytes_of(heads), 0)));
    if (servers.rank() == 0) input.results.add(query_.table, row_of(std::move(of_all)));
  }

  [[nodiscard]] CellSet cells_of(const Bytes& bytes, const Mesh& mesh) const {
    std::vector<ThinnedCells> blocks;
    for (const auto& [head, at] : heads_in(bytes)) {
      const BytesView block = BytesView(bytes).subspan(at, sizeof head + static_cast<std::size_t>(head.bytes));
      blocks.push_back(thinned_cells_in(block, query_.factor, mesh, query_.variable.type));
    }
    std::sort(blocks.begin(), blocks.end(), [](const auto& a, const auto& b) { return a.head.id < b.head.id; });
    return mixed_cells(blocks, mesh, query_.variable.name);
  }

  [[nodiscard]] Table row_of(std::vector<ThinnedHead> heads) const {
    std::sort(heads.begin(), heads.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
    std::int64_t cells = 0, boxes = 0, moved = 0, thinned = 0;
    double largest = 0, squares = 0;
    for (const ThinnedHead& head : heads) {
      cells += head.counted;
      boxes += head.boxes;
      moved += static_cast<std::int64_t>(sizeof(BlockRank) + sizeof head) + head.bytes;
      if (head.thinned == 0) continue;
      thinned += head.counted;
      largest = std::max(largest, head.largest);
      squares += head.squares;
    }
    const auto full = cells * static_cast<std::int64_t>(size_of(query_.variable.type));
    const double rms = thinned > 0 ? std::sqrt(squares / static_cast<double>(thinned)) : 0;
    return Table({"blocks", "kept", "not_finite", "threshold", "cells", "cells_moved", "bytes_full", "bytes_moved",
                  "largest_error", "rms_error"},
                 {{static_cast<std::int64_t>(heads.size()), static_cast<std::int64_t>(ranked_.kept.size()),
                   ranked_.not_finite, ranked_.threshold, cells, boxes, full, moved, largest, rms}});
  }

  RelevanceQuery query_;
  bool measures_;  ///< a pass finds the range of all values
  EntropyBins bins_;
  RankedBlocks ranked_;  ///< on the first server, from one pass to the next
};

/// Refuses meshes whose blocks are not boxes of cells on axes, on one level.
void check_relevant_mesh(const Settings& settings, const std::string& name, const Metadata& metadata,
                         RelevanceQuery& query) {
  const Mesh& mesh = metadata.mesh_of(query.variable);
  require_values_in_cells(settings, name, query.variable, mesh, "relevance");
  if (mesh.axes() == nullptr || !mesh.refinement.empty()) {
    settings.fail(name, fmt::format("'{}' lies on mesh '{}', {}; relevance needs a uniform or rectilinear mesh of one "
                                    "level. `resample` makes one of it",
                                    query.variable.name, mesh.name,
                                    mesh.axes() != nullptr ? std::string("which has refinement levels")
                                                           : fmt::format("which is {}", mesh.geometry->kind())));
  }
  if (query.variable.name != mixed_block_name && query.variable.name != mixed_joined_name) return;
  settings.fail(name, fmt::format("'{}' is also the name of an array of the result; name the variable otherwise",
                                  query.variable.name));
}

OptionTable<RelevanceQuery> relevance_options() {
  using Query = RelevanceQuery;
  OptionTable<Query> options{
      variable_option(&Query::variable, "The variable, in cells of a uniform or rectilinear mesh.")
          .then(check_relevant_mesh),
      one_component_option(&Query::component, &Query::variable),
      option<OptionType::choice>(
          "metric", &Query::metric,
          "What ranks a block: the `variance` of its values; their `range`; the root mean square of their `gradient`; "
          "the `entropy` of their distribution over `bins`.",
          {.standard = "variance",
           .choices = {{"variance", BlockMetric::variance},
                       {"range", BlockMetric::range},
                       {"gradient", BlockMetric::gradient},
                       {"entropy", BlockMetric::entropy}}}),
      option("keep", &Query::keep, "Part of the blocks that keep all their cells, rounded up.",
             {.standard = 0.25, .minimum = 0, .maximum = 1}),
      option("keep_blocks", &Query::keep_blocks, "Instead of `keep`: their number.", {.minimum = 0}),
      option("factor", &Query::factor, "Cells along each axis that become one in the other blocks.",
             {.standard = 2, .minimum = 2, .maximum = 1024}),
      option("bins", &Query::bins, "With `entropy`: the number of intervals.",
             {.standard = 64, .minimum = 2, .maximum = 65536}),
      option(
          "range", &Query::range,
          "With `entropy`: ends of the first and the last interval; values beyond count there. Default: those of all "
          "finite blocks in the iteration, which takes a pass over the values."),
      file_option(&Query::file, "relevance-{index:05}.vtu", "The cells, one file per iteration."),
      file_option(&Query::table, "relevance.csv", "Blocks, bytes and errors.", {}, "table"),
      pieces_option(&Query::pieces)};
  options.then([](const OptionTable<Query>& table, const Settings& settings, const Metadata&, Query& query) {
    if (query.keep_blocks && table.given(settings, &Query::keep)) {
      table.fail(settings, &Query::keep_blocks, "`keep` says how many blocks are kept, too; leave out one of both");
    }
    const auto check_used = [&](auto member, const char* name) {
      if (query.metric == BlockMetric::entropy || !table.given(settings, member)) return;
      table.fail(settings, member,
                 fmt::format("found '{}', which does nothing without 'metric: entropy'; add that, or remove it", name));
    };
    check_used(&Query::bins, "bins");
    check_used(&Query::range, "range");
    if (!query.range) return;
    const auto [low, high] = *query.range;
    if (low < high && std::isfinite(low) && std::isfinite(high)) return;
    table.fail(settings, &Query::range,
               fmt::format("found {} and {}, expected two finite numbers, the lower one first", low, high));
  });
  return options;
}

ResultMesh mesh_of_relevance(const Settings& settings, const Metadata& metadata) {
  const RelevanceQuery query = relevance_options().read(settings, metadata);
  ResultMesh made = result_lists(MeshKind::unstructured);
  Variable values = result_variable(query.variable, Centering::cell);
  values.components = 1;
  made.variables.push_back(std::move(values));
  for (const char* name : {mixed_block_name, mixed_joined_name}) {
    Variable& one = made.variables.emplace_back();
    one.name = name;
    one.centering = Centering::cell;
  }
  return made;
}

}  // namespace

AnalysisKind relevance_kind() {
  return {
      .name = "relevance",
      .text =
          "The blocks of a uniform or rectilinear mesh in which most happens with all their cells, the others with means "
          "of `factor` cells along each axis, made before the blocks move to the server that writes them. A metric "
          "ranks the blocks; equal ones are ranked by id. Blocks with NaN or infinities are always kept. The result is "
          "an unstructured mesh with the variable, the id of each cell's `block`, and the number of cells `joined` in "
          "it. The table has the numbers of blocks, cells and bytes, the least metric of the blocks that were kept, "
          "and the largest and root mean square error in the others (docs/relevance.md).",
      .options = relevance_options().declarations(),
      .create = [](const Settings& settings, const Metadata& metadata) -> std::unique_ptr<Task> {
        return std::make_unique<Relevance>(relevance_options().read(settings, metadata));
      },
      .result_mesh = mesh_of_relevance};
}

}  // namespace sidestream
