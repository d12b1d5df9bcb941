// Isosurfaces: options, selection and extraction.
//
// 1. selection_of: blocks whose ranges bracket a value. With means at points or slopes on lists of cells all blocks are
//    needed, since points on a border depend on every block around them.
// 2. Passes: on lists, first means at shared points (averaged values), then slopes for normals; `seams` gives a block's
//    part, `joined` adds them (collective) and returns them as feedback.
// 3. extract: by levels of refinement, by lists of cells, or by grids block by block.
// 4. extract_rows: for pictures, in bricks from near to far, each small enough for the cache.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "sidestream/kit/analysis/common_options.hpp"
#include "sidestream/kit/base/records.hpp"
#include "visualisation/contour/contour_cells.hpp"
#include "visualisation/contour/flying_edges.hpp"
#include "visualisation/extract/extract.hpp"
#include "visualisation/extract/level_surfaces.hpp"
#include "visualisation/mesh/cells/point_averages.hpp"

namespace sidestream {

namespace {

/// The options of isosurfaces; read_isosurface reads mesh-dependent ones.
OptionTable<IsosurfaceQuery> isosurface_table(Purpose purpose) {
  using Query = IsosurfaceQuery;
  OptionTable<Query> table{options_read_elsewhere<Query>(
                               {variable_option("The variable whose isosurfaces are extracted."),
                                component_option("The variable's component, from 0; required if it has several.")}),
                           option("values", &Query::values, "The values, with one surface for each.",
                                  {.required = true, .least_entries = 1}),
                           options_read_elsewhere<Query>(choice_options())};
  if (purpose == Purpose::picture) return table;
  return table
      .add(options_read_elsewhere<Query>(
          {{.name = "fields",
            .type = OptionType::variable,
            .list = true,
            .text = "Further variables of the same mesh to add at the vertices, with all components."}}))
      .add(option("normals", &Query::normals,
                  "Adds normals from the variable's gradient, towards lower values; lines have none.",
                  {.standard = true}))
      .add(precision_option(&Query::single));
}

}  // namespace

std::vector<Option> isosurface_options(Purpose purpose) { return isosurface_table(purpose).declarations(); }

IsosurfaceQuery read_isosurface(const Settings& settings, const Metadata& metadata, Purpose purpose) {
  const Variable& variable = read_variable(settings, metadata);
  require_surfaces(settings, variable, metadata, "an isosurface");
  const Mesh& mesh = metadata.mesh_of(variable);
  if (mesh.is_list() && !has_levels(mesh) && purpose == Purpose::picture)
    require_points(settings, "variable", variable, mesh);
  const OptionTable<IsosurfaceQuery> options = isosurface_table(purpose);
  IsosurfaceQuery query = options.read(settings);
  query.variable = variable.id;
  query.in_levels = has_levels(mesh);
  query.in_lists = mesh.is_list() && !query.in_levels;
  query.averaged = query.in_lists && variable.centering == Centering::cell;
  query.component = read_one_component(settings, variable);
  for (const double value : query.values) {
    if (!std::isfinite(value)) {
      options.fail(settings, &IsosurfaceQuery::values, fmt::format("{} has no surface; write finite numbers", value));
    }
  }
  query.choice = read_choice(settings, mesh);
  if (purpose == Purpose::picture) {
    query.normals = mesh.dimensions == 3 && !query.in_lists;
    return query;
  }
  query.fields = read_fields(settings, variable, metadata);
  for (const std::int32_t id : query.fields) {
    const Variable& field = metadata.variables[static_cast<std::size_t>(id)];
    if (query.in_lists) require_points(settings, "fields", field, mesh);
    if (query.in_levels) require_in_cells(settings, "fields", field, mesh);
  }
  // Lines have no normals. In lists of cells a point's neighbours may be in other blocks, so normals take a further
  // pass and all blocks.
  const bool wanted = (!query.in_lists && !query.in_levels) || options.given(settings, &IsosurfaceQuery::normals);
  query.normals = query.normals && mesh.dimensions == 3 && wanted;
  return query;
}

namespace {

/// Selection of whole lists: everything between their points is in one block. But means at points on a block's border,
/// and slopes, may depend on any other block.
Selection selection_of_lists(const IsosurfaceQuery& query, const Metadata& metadata, Part bracketed) {
  // Nodes on a patch's border may belong to another patch.
  const auto halo = [&](std::int32_t id) {
    const bool nodes =
        query.in_levels && metadata.variables.at(static_cast<std::size_t>(id)).centering != Centering::cell;
    return nodes ? 1 : 0;
  };
  if (query.averaged || (query.in_lists && query.normals)) bracketed = AllBlocks{};
  Selection selection{{{query.variable, halo(query.variable), bracketed}}};
  for (const std::int32_t id : query.fields) {
    if (id != query.variable) selection.variables.push_back({id, halo(id), bracketed});
  }
  for (Selected& selected : selection.variables) {
    selected.covered = !query.in_levels;
    selected.wrap = !query.in_levels;  // a surface ends at the mesh's faces
  }
  return selection;
}

/// Results of the passes before the last one: means of the variable, and of its slopes, at points shared by several
/// blocks.
struct Found {
  Bytes averages, slopes;
  Found() = default;
  explicit Found(BytesView bytes) {
    if (bytes.empty()) return;
    ByteReader in(bytes);
    in.get(averages);
    in.get(slopes);
  }
  [[nodiscard]] Bytes bytes() const {
    ByteWriter out;
    out.put(averages);
    out.put(slopes);
    return out.take();
  }
};

/// Values of the variable at the points of a block.
std::vector<double> numbers_at_points(const IsosurfaceQuery& query, const CellList& list, const BlockView& view,
                                      const Found& found) {
  std::vector<double> numbers = numbers_of(view, query.component);
  if (!query.averaged) return numbers;
  return sums_of_cells(list, list.in_cells(std::move(numbers))).means(SeamMeans(found.averages, 1));
}

std::vector<Piece> extract_from_lists(const IsosurfaceQuery& query, const LocalInput& input) {
  const Found found = query.averaged || query.normals ? Found(input.feedback) : Found();
  std::vector<Piece> pieces;
  for (const BlockView& view : input.of(query.variable)) {
    const std::optional<CellList> list = cell_list_of(input, view);
    if (!list) continue;
    CellContour request{.list = *list,
                        .numbers = numbers_at_points(query, *list, view, found),
                        .fields = cell_fields(query.fields, input, view.block, *list),
                        .period = query.period};
    if (query.normals) request.slopes = slopes_of_cells(*list, request.numbers).means(SeamMeans(found.slopes, 3));
    for (Piece& piece : contour_cells(request, query.values)) pieces.push_back(std::move(piece));
  }
  return pieces;
}

}  // namespace

int passes_of(const IsosurfaceQuery& query) {
  return query.in_lists ? 1 + (query.averaged ? 1 : 0) + (query.normals ? 1 : 0) : 1;
}

Bytes seams(const IsosurfaceQuery& query, const LocalInput& input) {
  const Found found(input.feedback);
  Bytes all;
  for (const BlockView& view : input.of(query.variable)) {
    const std::optional<CellList> list = cell_list_of(input, view);
    if (!list) continue;
    const bool averages = query.averaged && input.pass == 0;
    const Bytes bytes = averages ? sums_of_cells(*list, list->in_cells(numbers_of(view, query.component))).seams()
                                 : slopes_of_cells(*list, numbers_at_points(query, *list, view, found)).seams();
    all.insert(all.end(), bytes.begin(), bytes.end());
  }
  return all;
}

Bytes joined(const IsosurfaceQuery& query, const CombineInput& input, Bytes& found) {
  const bool averages = query.averaged && input.pass == 0;
  Found all = input.pass == 0 ? Found() : Found(found);
  (averages ? all.averages : all.slopes) = join_seams(input.partials, averages ? 1 : 3, input.communicator);
  found = all.bytes();
  return found;
}

Selection selection_of(const IsosurfaceQuery& query, const Metadata& metadata) {
  const Variable& variable = metadata.variables.at(static_cast<std::size_t>(query.variable));
  const ValuesBracketed bracketed{query.values, {query.variable, query.component}};
  if (query.in_lists || query.in_levels) return selection_of_lists(query, metadata, bracketed);
  Selection selection{{{query.variable, halo_for(variable.centering, variable.centering, query.normals), bracketed}}};
  for (const std::int32_t id : query.fields) {
    const Variable& field = metadata.variables.at(static_cast<std::size_t>(id));
    const int halo = halo_for(variable.centering, field.centering, false);
    if (id == query.variable) {
      selection.variables[0].halo = std::max(selection.variables[0].halo, halo);
    } else {
      selection.variables.push_back({id, halo, bracketed});
    }
  }
  for (Selected& selected : selection.variables) selected.wrap = false;  // a surface ends at the mesh's faces
  return selection;
}

std::vector<AttributeLayout> layout_of(const IsosurfaceQuery& query, const Metadata& metadata) {
  return layout_of_variables(query.fields, metadata);
}

namespace {

/// Calls `work` with the request for each block.
template <class Work>
void for_each_block(const IsosurfaceQuery& query, const LocalInput& input, Work work) {
  const Metadata& metadata = input.metadata;
  const Variable& variable = metadata.variables.at(static_cast<std::size_t>(query.variable));
  const Mesh& mesh = metadata.mesh_of(variable);
  const PointGrid grid(mesh, variable.centering, Reach::centres);
  for (const BlockView& view : input.of(variable.id)) {
    const std::vector<Box> cells =
        cells_between_chosen(query.choice, mesh, variable.centering, grid.cells_of(view, flags_of(mesh, input, view)));
    FieldSource numbers(grid, mesh, variable, query.component, &view);
    const AttributeSources attributes(grid, query.fields, view.block.id, input);
    std::optional<CurvedPoints> places;
    if (grid.curved()) places.emplace(grid, mesh, metadata, coordinates_of(mesh, input, view), false);
    work(ContourRequest{.grid = grid,
                        .scalar = numbers,
                        .cells = cells,
                        .curved = places ? &*places : nullptr,
                        .attributes = attributes.pointers(),
                        .period = query.period,
                        .normals = query.normals,
                        .view = &view,
                        .component = query.component,
                        .single = query.single});
  }
}

}  // namespace

std::vector<Piece> extract(const IsosurfaceQuery& query, const LocalInput& input) {
  if (query.in_levels) return extract_from_levels(query, input).pieces;
  if (query.in_lists) return extract_from_lists(query, input);
  std::vector<Piece> pieces;
  for_each_block(query, input, [&](const ContourRequest& request) {
    for (Piece& piece : contour(request, query.values)) pieces.push_back(std::move(piece));
  });
  return pieces;
}

bool extracts_by_rows(const IsosurfaceQuery& query, const Metadata& metadata) {
  const Mesh& mesh = metadata.mesh_of(metadata.variables.at(static_cast<std::size_t>(query.variable)));
  return !mesh.is_list() && !query.in_levels && mesh.dimensions == 3;
}

namespace {

/// Small enough for the result of one box to stay in the cache; a row of points fills a word of bits.
constexpr Index3 brick{63, 32, 32};

/// Boxes of a block's cells, the nearest first.
std::vector<Box> bricks_of(const ContourRequest& request,
                           const std::function<double(const std::array<double, 3>&)>& distance) {
  std::vector<Box> bricks;
  if (request.curved != nullptr) {
    for (const Box& cells : request.cells) {
      for (const Box& box : cut_for_flying(cells)) bricks.push_back(box);
    }
    return bricks;
  }
  for (const Box& cells : request.cells) {
    for (Index k = cells.lo[2]; k < cells.hi[2]; k += brick[2]) {
      for (Index j = cells.lo[1]; j < cells.hi[1]; j += brick[1]) {
        for (Index i = cells.lo[0]; i < cells.hi[0]; i += brick[0]) {
          bricks.push_back(intersection(cells, {{i, j, k}, {i + brick[0], j + brick[1], k + brick[2]}}));
        }
      }
    }
  }
  std::vector<std::pair<double, Box>> sorted;
  for (const Box& box : bricks) {
    sorted.emplace_back(distance(request.grid.position(
                            {(box.lo[0] + box.hi[0]) / 2, (box.lo[1] + box.hi[1]) / 2, (box.lo[2] + box.hi[2]) / 2})),
                        box);
  }
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (std::size_t n = 0; n < bricks.size(); ++n) bricks[n] = sorted[n].second;
  return bricks;
}

}  // namespace

void extract_rows(const IsosurfaceQuery& query, const LocalInput& input,
                  const std::function<double(const std::array<double, 3>&)>& distance,
                  const std::function<std::unique_ptr<ContourRows>(std::size_t value)>& make) {
  for_each_block(query, input, [&](const ContourRequest& request) {
    const std::vector<Box> bricks = bricks_of(request, distance);
    for (std::size_t v = 0; v < query.values.size(); ++v) {
      for (const Box& cells : bricks) fly_edges(request, cells, query.values[v], *make(v));
    }
  });
}

}  // namespace sidestream
