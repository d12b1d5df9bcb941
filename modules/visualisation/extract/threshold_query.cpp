// Thresholds: cells whose value, or the values at whose points, lie in a range; and the parts that clips and thresholds
// share.
//
// selection_of asks for blocks whose ranges overlap. parts_of tests a cell's value first, then whether it counts, then
// its points, since each needs more of the cell. add_part (collective) merges the pieces on rank 0, or on each server
// when they are large.
#include <fmt/format.h>

#include <algorithm>

#include "sidestream/kit/analysis/common_options.hpp"
#include "visualisation/extract/part_query.hpp"
#include "visualisation/mesh/known_nodes.hpp"

namespace sidestream {

Option part_fields_option() {
  return {.name = "fields",
          .type = OptionType::variable,
          .list = true,
          .text = "Further variables of the same mesh to add, with all components."};
}

PartQuery read_part(const Settings& settings, const Metadata& metadata, const std::string& what, Purpose purpose) {
  const Variable& variable = read_variable(settings, metadata);
  const Mesh& mesh = metadata.mesh_of(variable);
  require_cells_or_nodes(settings, "variable", variable, metadata);
  if (mesh.axes() == nullptr && mesh.kind() < MeshKind::curvilinear) {
    settings.fail("variable",
                  fmt::format("'{}' lies on mesh '{}' of type '{}'; {} needs a uniform, rectilinear, "
                              "curvilinear or unstructured mesh, an octree, or points",
                              variable.name, mesh.name, mesh.geometry ? mesh.geometry->kind() : "none", what));
  }
  require_known_nodes(settings, "variable", mesh, variable.name);
  if (variable.role != Role::none) {
    settings.fail("variable",
                  fmt::format("'{}' describes mesh '{}'; name a variable with values on it", variable.name, mesh.name));
  }
  PartQuery query;
  if (purpose == Purpose::surface) query.variables = read_fields(settings, variable, metadata);
  if (std::find(query.variables.begin(), query.variables.end(), variable.id) != query.variables.end()) {
    settings.fail("fields", fmt::format("'{}' is the `variable` already; leave it out", variable.name));
  }
  query.variables.insert(query.variables.begin(), variable.id);
  query.choice = read_choice(settings, mesh);
  // Only three-dimensional cells have faces between them; lists have no neighbouring blocks.
  query.neighbours = purpose == Purpose::picture && mesh.dimensions == 3 && !mesh.is_list();
  return query;
}

bool is_chosen(const CellChoice& choice, const BlockCells& cells, std::size_t number, const BlockCell& cell) {
  if (choice.all()) return true;
  if (!choice.has_level(cells.level(number))) return false;
  if (!choice.boxed) return true;
  // The first and the last corner are opposite: only cells along the axes can be chosen by place.
  const auto low = cells.place(cell.points.front()), high = cells.place(cell.points.back());
  bool in = true;
  for (std::size_t a = 0; a < 3; ++a) in = in && choice.has_place(a, 0.5 * (low[a] + high[a]));
  return in;
}

Selection selection_of_part(const PartQuery& query, const Metadata& metadata, const Part& part) {
  Selection selection;
  for (const std::int32_t id : query.variables) {
    const Variable& variable = metadata.variables.at(static_cast<std::size_t>(id));
    selection.variables.push_back({id, halo_for_cells(metadata.mesh_of(variable), variable, query.neighbours), part});
    selection.variables.back().wrap = false;  // a mesh ends at its faces
    selection.variables.back().covered = false;
  }
  return selection;
}

CellLayout layout_of(const PartQuery& query, const Metadata& metadata) {
  CellLayout layout;
  for (const std::int32_t id : query.variables) {
    const Variable& variable = metadata.variables.at(static_cast<std::size_t>(id));
    const bool points = metadata.mesh_of(variable).kind() == MeshKind::points || variable.centering != Centering::cell;
    (points ? layout.point_data : layout.cell_data).push_back({variable.name, variable.components});
  }
  return layout;
}

std::vector<BlockNumbers> fields_of(const PartQuery& query, const Metadata& metadata, const BlockCells& cells) {
  std::vector<BlockNumbers> fields;
  for (const std::int32_t id : query.variables) {
    const Variable& variable = metadata.variables.at(static_cast<std::size_t>(id));
    for (int c = 0; c < variable.components; ++c) fields.push_back(cells.numbers(variable, c));
  }
  return fields;
}

RepeatedPoints add_part(const std::string& file, Pieces how, const CellLayout& layout, const CombineInput& input) {
  RepeatedPoints repeated;
  Communicator& servers = input.communicator;
  std::uint64_t size = 0;
  for (const Bytes& partial : input.partials) size += partial.size();
  if (in_pieces(how, size, servers)) {
    input.results.add_parts(file, merge(share_cells(input.partials, servers), layout, repeated), servers,
                            Pieces::always);
    return gathered(repeated, servers);
  }
  Bytes mine;
  for (const Bytes& partial : input.partials) mine.insert(mine.end(), partial.begin(), partial.end());
  std::vector<CellPiece> pieces;
  for (const Bytes& bytes : servers.gather(mine, 0)) {
    for (CellPiece& piece : to_cell_pieces(bytes)) pieces.push_back(std::move(piece));
  }
  if (servers.rank() == 0) input.results.add(file, merge(std::move(pieces), layout, repeated));
  return repeated;
}

Bytes to_bytes(std::vector<BlockPart> parts) {
  std::vector<CellPiece> pieces;
  for (BlockPart& part : parts) pieces.push_back(std::move(part.own));
  return to_bytes(pieces);
}

namespace {

/// The options of a threshold; read_part reads the options of any part of a mesh.
OptionTable<ThresholdQuery> threshold_table(Purpose purpose) {
  using Query = ThresholdQuery;
  OptionTable<Query> table{
      options_read_elsewhere<Query>(
          {variable_option("The variable that decides; it is part of the result."),
           component_option("The component that decides, from 0; required if the variable has several.")}),
      option("minimum", &Query::low, "Leaves out lower values. Default: no limit."),
      option("maximum", &Query::high, "Leaves out higher values. Default: no limit."),
      option<OptionType::choice>(
          "points", &Query::any,
          "For a variable at points: `all` points of a cell must have a value in the range, or `any` one.",
          {.standard = "all", .choices = {{"all", false}, {"any", true}}}),
      options_read_elsewhere<Query>(choice_options())};
  if (purpose == Purpose::surface) table.add(options_read_elsewhere<Query>({part_fields_option()}));
  return table;
}

}  // namespace

std::vector<Option> threshold_options(Purpose purpose) { return threshold_table(purpose).declarations(); }

ThresholdQuery read_threshold(const Settings& settings, const Metadata& metadata, Purpose purpose) {
  const OptionTable<ThresholdQuery> options = threshold_table(purpose);
  ThresholdQuery query{read_part(settings, metadata, "a threshold", purpose)};
  const Variable& variable = metadata.variables.at(static_cast<std::size_t>(query.variables.front()));
  query.component = read_one_component(settings, variable);
  options.fill(settings, metadata, query);
  if (!options.given(settings, &ThresholdQuery::low) && !options.given(settings, &ThresholdQuery::high)) {
    settings.fail("minimum", "a threshold has neither `minimum` nor `maximum`, and would keep everything; give one");
  }
  if (!(query.low <= query.high)) {
    settings.fail("maximum", fmt::format("found a range from {} to {}, expected numbers, the lower one as `minimum`",
                                         query.low, query.high));
  }
  if (query.any && variable.centering == Centering::cell) {
    settings.fail("points",
                  fmt::format("'{}' lies in cells, each of which has one value; leave `points` out", variable.name));
  }
  return query;
}

std::string why_empty(const ThresholdQuery& query, const SeenValues& seen, const CombineInput& input) {
  const Variable& variable = input.metadata.variables.at(static_cast<std::size_t>(query.variables.front()));
  return fmt::format("nothing lies where '{}' is from {} to {}; {}", variable.name, query.low, query.high,
                     seen.text(input));
}

Selection selection_of(const ThresholdQuery& query, const Metadata& metadata) {
  const auto needed = [low = query.low, high = query.high, choice = query.choice](const BlockSummary& block) {
    return may_have_some(choice, block) && block.range.minimum <= high &&
           block.range.maximum >= low;  // false for a range without values
  };
  return selection_of_part(query, metadata, BlockPredicate{needed, {query.variables.front(), query.component}});
}

namespace {

/// Decides which cells of a block are in the range.
class Chooser {
 public:
  Chooser(const ThresholdQuery& query, const BlockNumbers& numbers) : query_(query), numbers_(numbers) {
    for (const double value : numbers.values) in_.push_back(value >= query.low && value <= query.high);
  }
  [[nodiscard]] bool chosen(std::size_t number, const BlockCell& cell) const {
    if (!numbers_.at_points) return in(number);
    const auto point_in = [&](std::size_t p) { return in(p); };
    return query_.any ? std::any_of(cell.points.begin(), cell.points.end(), point_in)
                      : std::all_of(cell.points.begin(), cell.points.end(), point_in);
  }
  /// False if a value in cells excludes the cell, before anything else of the cell is read.
  [[nodiscard]] bool possible(std::size_t number) const { return numbers_.at_points || in(number); }

 private:
  [[nodiscard]] bool in(std::size_t n) const { return n < in_.size() && in_[n] != 0; }
  const ThresholdQuery& query_;
  const BlockNumbers& numbers_;
  std::vector<char> in_;
};

}  // namespace

std::vector<BlockPart> parts_of(const ThresholdQuery& query, const LocalInput& input) {
  const Variable& variable = input.metadata.variables.at(static_cast<std::size_t>(query.variables.front()));
  std::vector<BlockPart> parts;
  for (const BlockView& view : input.of(variable.id)) {
    const auto cells = cells_of_block(input, variable, view, query.neighbours);
    if (!cells) continue;
    const std::vector<BlockNumbers> fields = fields_of(query, input.metadata, *cells);
    const Chooser chooser(query, fields.at(static_cast<std::size_t>(query.component)));
    PieceBuilder own(*cells, fields), around(*cells, fields);
    BlockCell cell;
    for (std::size_t n = 0; n < cells->cells(); ++n) {
      if (!chooser.possible(n)) continue;
      const Standing standing = cells->standing(n);
      if (standing == Standing::absent) continue;
      cells->load(n, cell);
      if (chooser.chosen(n, cell) && is_chosen(query.choice, *cells, n, cell))
        (standing == Standing::own ? own : around).add(n, cell);
    }
    parts.push_back({std::move(own.piece()), std::move(around.piece())});
  }
  return parts;
}

}  // namespace sidestream
