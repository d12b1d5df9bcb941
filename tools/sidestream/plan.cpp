#include "commands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "config/groups.hpp"
#include "data/derivation.hpp"
#include "data/levels.hpp"
#include "loading.hpp"
#include "plan_report.hpp"
#include "server/redistribution/block_assignment.hpp"
#include "sidestream/kit/analysis/empty_results.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/log.hpp"

namespace sidestream {

namespace {

/// The configuration with another partitioner, given as text like a value in the file.
Document with_partitioner(const Document& document, const std::string& text) {
  Node root = document.root();
  const auto entry_of = [](Node& map, const char* key) -> Node& {
    for (Entry& entry : map.entries) {
      if (entry.key == key) return entry.value;
    }
    return map.entries.emplace_back(Entry{key, map.where, {}}).value;
  };
  Node& placement = entry_of(root, "placement");
  if (placement.kind != Node::Kind::map) {
    const Node mode = placement;
    placement = {};
    placement.kind = Node::Kind::map;
    placement.where = mode.where;
    if (mode.kind == Node::Kind::scalar) placement.entries.push_back({"mode", mode.where, mode});
  }
  entry_of(placement, "partitioner") = parse_node(text, "--partitioner");
  return Document(document.file(), std::move(root), document.folder());
}

/// Declarations of the program and the metadata; for names in both the metadata wins.
Metadata merged(const Metadata& program, const Metadata& source) {
  Metadata all = source;
  for (const Mesh& mesh : program.meshes) {
    if (all.find_mesh(mesh.name)) continue;
    all.meshes.push_back(mesh);
    all.meshes.back().id = static_cast<std::int32_t>(all.meshes.size()) - 1;
  }
  for (const Variable& variable : program.variables) {
    if (all.find_variable(variable.name)) continue;
    all.variables.push_back(variable);
    all.variables.back().mesh = all.find_mesh(program.mesh_of(variable).name)->id;
  }
  return all;
}

Selection selection_of(const TaskConfig& task, const Config& config, const Registry& registry) {
  if (task.writer) {
    const auto directory = null_directory(config.opening.directory);
    return registry.writers().at(task.kind).create(task.settings, config.metadata, directory)->selection();
  }
  if (const auto analysis = registry.analyses().at(task.kind).create(task.settings, config.metadata)) {
    return analysis->selection();
  }
  Selection selection;  // for a function of the program: whole variables
  for (const std::string& name : task.settings.texts("variables")) {
    selection.variables.push_back({config.metadata.find_variable(name)->id});
  }
  return selection;
}

/// The input of a plan, and the needs of its tasks.
class Planner {
 public:
  Planner(const Config& config, const Catalogue& catalogue)
      : config_(config),
        blocks_(catalogue.blocks),
        ranges_(catalogue.ranges),
        needs_(config.metadata, blocks_, ranges_, known_counted(catalogue)),
        covered_(wholly_covered(config.metadata, blocks_, BlockIndex(blocks_))),
        needed_(config.metadata.variables.size()) {}

  /// Adds the needs of a task; returns only those.
  Amount add(const Selection& selection) {
    std::vector<std::vector<bool>> alone(needed_.size());
    for (const Selected& selected : inputs_of(selection.variables, config_.metadata)) {
      const auto v = static_cast<std::size_t>(selected.variable);
      std::vector<bool> part = needs_.of(known_part(selected));
      leave_out_covered(selected, covered_, part);
      unite(alone[v], part);
      // Pieces of decompositions are cut from blocks without a partitioner.
      if (selected.decomposition.is_published()) unite(needed_[v], part);
    }
    return amount(alone);
  }
  /// Removes blocks of the part's mesh that the partitioner restricts away. Returns the number of needed blocks among
  /// them.
  std::int64_t restrict_to(const Selected& part) {
    const std::vector<bool> wanted = needs_.of(known_part(part));
    const std::int64_t before = amount(needed_).blocks;
    const std::int32_t mesh = config_.metadata.variables[static_cast<std::size_t>(part.variable)].mesh;
    for (auto& needed : needed_) {
      for (std::size_t b = 0; b < needed.size(); ++b) {
        needed[b] = needed[b] && (wanted[b] || blocks_[b].mesh != mesh);
      }
    }
    return before - amount(needed_).blocks;
  }
  /// The ranges that a selection depends on, if unknown.
  [[nodiscard]] std::optional<RangeRequest> unknown_ranges(const Selected& selected) const {
    const bool values = selected.part.kind == Part::Kind::values;
    if (!values && selected.part.kind != Part::Kind::predicate) return std::nullopt;
    RangeRequest request = values ? selected.part.values.of : selected.part.predicate.range;
    if (values && request.variable < 0) request.variable = selected.variable;
    if (request.variable < 0) return std::nullopt;
    const bool there = std::any_of(ranges_.begin(), ranges_.end(), [&](const BlockRange& r) {
      return RangeRequest{r.variable, r.component} == request;
    });
    return there ? std::nullopt : std::optional(request);
  }
  [[nodiscard]] Amount needed() const { return amount(needed_); }
  /// All blocks of all variables that any task reads.
  [[nodiscard]] Amount readable() const {
    std::vector<std::vector<bool>> all(needed_.size());
    for (std::size_t v = 0; v < all.size(); ++v) {
      if (!needed_[v].empty()) all[v] = needs_.of({static_cast<std::int32_t>(v)});
    }
    return amount(all);
  }
  [[nodiscard]] std::vector<PlannedBlock> planned() const {
    std::vector<PlannedBlock> result;
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      PlannedBlock block{blocks_[b]};
      bool any = false;
      for (std::size_t v = 0; v < needed_.size(); ++v) {
        if (needed_[v].empty() || !needed_[v][b]) continue;
        block.bytes += bytes_of(config_.metadata.variables[v], blocks_[b]);
        any = true;
      }
      if (any) result.push_back(block), positions_.push_back(b);
    }
    return result;
  }
  /// Bytes of a piece: of the needed variables of its block.
  [[nodiscard]] std::uint64_t bytes(const PlanPiece& piece) const {
    const std::size_t b = positions_[static_cast<std::size_t>(piece.block)];
    Block part = blocks_[b];
    part.cells = piece.cells;
    std::uint64_t sum = 0;
    for (std::size_t v = 0; v < needed_.size(); ++v) {
      if (!needed_[v].empty() && needed_[v][b]) sum += bytes_of(config_.metadata.variables[v], part);
    }
    return sum;
  }

 private:
  /// Files of earlier versions have none.
  static std::optional<std::span<const CountedRange>> known_counted(const Catalogue& catalogue) {
    if (catalogue.counted.empty()) return std::nullopt;
    return std::span<const CountedRange>(catalogue.counted);
  }
  static void unite(std::vector<bool>& all, const std::vector<bool>& part) {
    if (all.empty()) all.resize(part.size());
    for (std::size_t b = 0; b < part.size(); ++b) all[b] = all[b] || part[b];
  }
  [[nodiscard]] Amount amount(const std::vector<std::vector<bool>>& needed) const {
    Amount sum;
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      bool any = false;
      for (std::size_t v = 0; v < needed.size(); ++v) {
        if (needed[v].empty() || !needed[v][b]) continue;
        sum.bytes += bytes_of(config_.metadata.variables[v], blocks_[b]);
        any = true;
      }
      sum.blocks += any;
    }
    return sum;
  }
  /// Without ranges, every block would count as not delivered and nothing would seem to move, so all blocks are assumed
  /// needed.
  [[nodiscard]] Selected known_part(const Selected& selected) const {
    return unknown_ranges(selected) ? Selected(selected.variable, selected.halo) : selected;
  }

  const Config& config_;
  const std::vector<Block>& blocks_;
  const std::vector<BlockRange>& ranges_;
  Needs needs_;
  std::vector<bool> covered_;                     ///< true if finer levels cover the whole block
  std::vector<std::vector<bool>> needed_;         ///< by variable, then block; empty: no task reads the variable
  mutable std::vector<std::size_t> positions_{};  ///< positions of the planned blocks
};

/// `component 0 of 't'`, or nothing.
std::string unknown_text(const Planner& planner, const Selected& selected, const Metadata& metadata) {
  const auto unknown = planner.unknown_ranges(selected);
  if (!unknown) return {};
  return fmt::format("component {} of '{}'", unknown->component,
                     metadata.variables[static_cast<std::size_t>(unknown->variable)].name);
}

PlanReport::Task plan_task(const std::string& name, Selection selection, const Metadata& metadata, Planner& planner) {
  PlanReport::Task task;
  std::erase_if(selection.variables, SeenValues::only_listens);
  task.name = name;
  for (const Selected& selected : inputs_of(selection.variables, metadata)) {
    task.halo |= selected.halo > 0;
    task.pieces |= !selected.decomposition.is_published();
    if (task.unknown.empty()) task.unknown = unknown_text(planner, selected, metadata);
  }
  task.needed = planner.add(selection);
  return task;
}

void apply(const PartitionerKind& kind, const PlanInput& input, const Settings& settings, const Planner& planner,
           const std::vector<PlannedBlock>& blocks, PlanReport& report) {
  report.servers.resize(static_cast<std::size_t>(input.servers));
  std::vector<std::int32_t> pieces(blocks.size());
  std::set<std::pair<std::int64_t, std::int32_t>> given;
  for (const PlanPiece& piece : kind.plan(input, settings).pieces) {
    check_piece(piece, blocks, input.servers, kind.name);
    if (is_nothing(piece, blocks)) continue;
    if (!given.emplace(piece.block, piece.server).second) {
      fail_doubled(kind.name, piece.server, blocks[static_cast<std::size_t>(piece.block)].block.id);
    }
    Amount& server = report.servers[static_cast<std::size_t>(piece.server)];
    ++server.blocks;
    server.bytes += planner.bytes(piece);
    ++pieces[static_cast<std::size_t>(piece.block)];
  }
  report.moved = std::count_if(pieces.begin(), pieces.end(), [](std::int32_t n) { return n > 0; });
  report.split = std::count_if(pieces.begin(), pieces.end(), [](std::int32_t n) { return n > 1; });
}

int server_count(const PlanOptions& options, const PlacementConfig& placement) {
  const bool fixed = servers_of(placement.groups) > 0;
  if (options.servers > 0 && fixed && options.servers != servers_of(placement.groups)) {
    fail(
        Code::usage,
        "found --servers {} and groups of {} servers in all, expected as many; leave out --servers, or change the sizes",
        options.servers, servers_of(placement.groups));
  }
  if (options.servers > 0) return options.servers;
  if (placement.mode == PlacementMode::nodes && placement.whole_nodes == 0) return placement.servers;
  if (fixed) return servers_of(placement.groups);
  fail(Code::usage,
       "found no --servers and a configuration that does not say how many servers there are; add "
       "--servers N");
}

/// The blocks that move to `servers` servers that run these tasks.
PlanReport report_on(const std::vector<TaskConfig>& tasks, int servers, const Config& config, const Registry& registry,
                     const Catalogue& catalogue) {
  const PlacementConfig& placement = config.opening.placement;
  PlanReport report;
  report.partitioner = placement.partitioner;
  report.blocks = std::count_if(catalogue.blocks.begin(), catalogue.blocks.end(),
                                [](const Block& block) { return !block.empty(); });
  Planner planner(config, catalogue);
  for (const TaskConfig& task : tasks) {
    report.tasks.push_back(plan_task(task.name, selection_of(task, config, registry), config.metadata, planner));
  }
  report.readable = planner.readable();
  const PartitionerKind& kind = registry.partitioners().at(placement.partitioner);
  const Settings& settings = placement.partitioner_settings;
  if (kind.restrict_to) {
    const Selected part = kind.restrict_to(settings, config.metadata);
    report.unknown = unknown_text(planner, part, config.metadata);
    report.restricted = planner.restrict_to(part);
  }
  report.needed = planner.needed();
  const std::vector<PlannedBlock> blocks = planner.planned();
  apply(kind, {config.metadata, blocks, servers}, settings, planner, blocks, report);
  return report;
}

}  // namespace

std::string plan(const PlanOptions& options) {
  const Parameters parameters = parse_values(options.program);
  const Metadata program = parse_declarations(options.program);
  const std::string& file = options.program.file;
  auto document = with_declarations(parse_document(read_text(file, "the configuration"), file), options.program);
  if (!options.partitioner.empty()) {
    document = std::make_shared<Document>(with_partitioner(*document, options.partitioner));
  }
  const OpeningConfig opening = read_opening(*document);
  for (const std::string& former : opening.former_names) log::warning("{}", former);
  if (opening.placement.mode == PlacementMode::off) {
    fail(Code::configuration, "{}: found 'placement: off', with which nothing runs and nothing moves; choose another",
         file);
  }
  const Registry registry = all_kinds(opening, *document, options.program);
  MetadataFile source = load_source(options.metadata, *document);
  Config config = read_config(*document, registry, parameters, merged(program, source.metadata));
  use_ids_of(config.metadata, source);
  const PlacementConfig& placement = config.opening.placement;
  const int servers = server_count(options, placement);
  settle_groups(config, servers, 1);
  if (placement.groups.empty()) {
    std::erase_if(config.tasks, [](const TaskConfig& task) { return task.uses >= 0; });
    PlanReport report = report_on(config.tasks, servers, config, registry, source.catalogue);
    report.file = file;
    return text_of(report, options.table);
  }
  std::string text;
  for (std::size_t g = 0; g < placement.groups.size(); ++g) {
    std::vector<TaskConfig> tasks;
    std::copy_if(config.tasks.begin(), config.tasks.end(), std::back_inserter(tasks),
                 [&](const TaskConfig& task) { return task.group == g && task.uses < 0; });
    PlanReport report = report_on(tasks, placement.groups[g].size, config, registry, source.catalogue);
    report.file = fmt::format("{}, group '{}'", file, placement.groups[g].name);
    text += text_of(report, options.table);
  }
  return text;
}

}  // namespace sidestream
