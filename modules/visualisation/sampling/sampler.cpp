// Values at places of any mesh, for probes, resampling and streamlines: options and dispatch.
//
// check_variable refuses meshes on which values between points are unknown. selection_of asks for blocks whose bounds
// hold a target, widened by a cell where levels are mixed. sample hands over to the sampler of the kind of mesh: boxes,
// trees or cells. PointValues reads values one by one, or a whole box at once if many are needed.
#include "visualisation/sampling/level_mixing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "sidestream/kit/analysis/common_options.hpp"
#include "visualisation/mesh/known_nodes.hpp"
#include "visualisation/sampling/samplers.hpp"

namespace sidestream::sampling {

namespace {

const Variable& variable_of(std::int32_t id, const Metadata& metadata) {
  return metadata.variables.at(static_cast<std::size_t>(id));
}

std::vector<std::int32_t> read_variables(const Settings& settings, const Metadata& metadata, const Query&) {
  const std::string option = "variables";
  std::vector<std::int32_t> ids;
  for (const std::string& name : settings.texts(option)) {
    const Variable& variable = *metadata.find_variable(name);
    check_variable(settings, option, variable, metadata);
    if (std::find(ids.begin(), ids.end(), variable.id) != ids.end()) {
      settings.fail(option, fmt::format("'{}' is named twice; name each variable once", name));
    }
    ids.push_back(variable.id);
    const Variable& first = variable_of(ids.front(), metadata);
    if (variable.mesh == first.mesh) continue;
    settings.fail(option, fmt::format("'{}' lies on mesh '{}', but '{}' on '{}'; name variables of one mesh", name,
                                      metadata.mesh_of(variable).name, first.name, metadata.mesh_of(first).name));
  }
  return ids;
}

}  // namespace

void check_variable(const Settings& settings, const std::string& option, const Variable& variable,
                    const Metadata& metadata) {
  const Mesh& mesh = metadata.mesh_of(variable);
  const MeshKind kind = mesh.kind();
  const bool fills =
      mesh.axes() || kind == MeshKind::curvilinear || kind == MeshKind::unstructured || kind == MeshKind::octree;
  if (!fills || variable.role != Role::none) {
    settings.fail(option, fmt::format("'{}' {} mesh '{}', which is {}; values between points are known of variables on "
                                      "uniform, rectilinear, curvilinear and unstructured meshes and in octrees",
                                      variable.name, variable.role == Role::none ? "lies on" : "describes", mesh.name,
                                      mesh.geometry ? mesh.geometry->kind() : "none"));
  }
  if (!mesh.axes()) require_cells_or_nodes(settings, option, variable, metadata);
  if (kind == MeshKind::curvilinear &&
      variable_of(mesh.array(Role::coordinates), metadata).components > mesh.dimensions) {
    settings.fail(option, fmt::format("'{}' lies on mesh '{}', which is a surface in space: no place is exactly on it; "
                                      "use a variable on another mesh",
                                      variable.name, mesh.name));
  }
  require_known_nodes(settings, option, mesh, variable.name);
}

OptionField<Query> variables_option() {
  return options_read_by(read_variables,
                         {{.name = "variables",
                           .type = OptionType::variable,
                           .list = true,
                           .required = true,
                           .text = "The variables, all on one mesh, with all components.",
                           .least_entries = 1}},
                         &Query::variables);
}

void check_query(const Settings& settings, const std::string& option, const Query& query, const Metadata& metadata) {
  const Mesh& mesh = mesh_of(query, metadata);
  if (!query.linear_cells || mesh.axes() || mesh.kind() == MeshKind::octree) return;
  const auto in_cells = [&](std::int32_t id) { return variable_of(id, metadata).centering == Centering::cell; };
  if (std::none_of(query.variables.begin(), query.variables.end(), in_cells)) return;
  settings.fail(option,
                fmt::format("mesh '{}' is {}; between the centres of its cells values are not interpolated: take "
                            "the cell's own value",
                            mesh.name, mesh.geometry->kind()));
}

Place read_place(const Settings& settings, const std::string& option, int dimensions) {
  const std::vector<double> numbers = settings.reals(option);
  Place place{};
  bool finite = true;
  for (std::size_t a = 0; a < numbers.size(); ++a) {
    place[a] = numbers[a];
    finite = finite && std::isfinite(numbers[a]);
  }
  if (static_cast<int>(numbers.size()) == dimensions && finite) return place;
  settings.fail(option, fmt::format("found {} numbers{}, expected {}, one for each dimension of the mesh",
                                    numbers.size(), finite ? "" : ", not all finite", dimensions));
}

Place place_between(const Place& from, const Place& to, std::int64_t n, std::int64_t count) {
  if (n + 1 == count) return to;
  const double t = static_cast<double>(n) / static_cast<double>(count - 1);
  Place at{};
  for (std::size_t a = 0; a < 3; ++a) at[a] = from[a] + t * (to[a] - from[a]);
  return at;
}

OptionField<Query> levels_option() {
  Option levels = choice_options().at(0);
  levels.text =
      "For octrees and refinement levels: only places whose finest cell is on this level, or on the levels from the "
      "first to the second of two; others have NaN, without a warning.";
  return options_read_by([](const Settings& settings, const Metadata& metadata,
                            const Query& query) { return read_choice_of_levels(settings, mesh_of(query, metadata)); },
                         {levels}, &Query::choice);
}

namespace {

/// Distance from a block to the farthest place that its cells contribute to: it lies before the middle of a cell next
/// to the one that contains the block's cell.
Place reach_of_cells(const Mesh& mesh) {
  Place size{};
  for (int a = 0; a < mesh.dimensions; ++a) {
    const auto n = static_cast<std::size_t>(a);
    const auto* tree = dynamic_cast<const OctreeGeometry*>(mesh.geometry.get());
    const Index first = mesh.cells.lo[n];
    size[n] = reach_in_cells *
              std::fabs(tree ? tree->spacing()[n] : mesh.axes()->node(a, first + 1) - mesh.axes()->node(a, first));
  }
  return size;
}

}  // namespace

Selection selection_of(const Query& query, const Metadata& metadata,
                       const std::shared_ptr<const SamplePoints>& targets) {
  const bool mixes = mixes_levels(query, metadata);
  const Place more = mixes ? reach_of_cells(mesh_of(query, metadata)) : Place{};
  BlockPredicate near;
  near.needed = [targets, more, choice = query.choice](const BlockSummary& summary) {
    if (!may_have_some(choice, summary)) return false;
    Place low, high;
    for (std::size_t a = 0; a < 3; ++a) {
      low[a] = std::min(summary.low[a], summary.high[a]) - more[a];
      high[a] = std::max(summary.low[a], summary.high[a]) + more[a];
    }
    widen(low, high);
    return targets->any_within(low, high);
  };
  Selection selection;
  const bool list = mesh_of(query, metadata).is_list();
  for (const std::int32_t id : query.variables) {
    const bool in_cells = variable_of(id, metadata).centering == Centering::cell;
    selection.variables.push_back({id, list || (mixes && in_cells) ? 0 : 1, near});
    selection.variables.back().wrap = false;  // places are inside the mesh
    selection.variables.back().covered = false;
  }
  return selection;
}

std::size_t value_count(const Query& query, const Metadata& metadata) {
  std::size_t count = 0;
  for (const std::int32_t id : query.variables) {
    count += static_cast<std::size_t>(variable_of(id, metadata).components);
  }
  return count;
}

std::int64_t sample(const Query& query, const SamplePoints& targets, const LocalInput& input, const Sink& sink) {
  const Mesh& mesh = mesh_of(query, input.metadata);
  if (mesh.axes()) {
    sample_boxes(query, targets, input, sink);
    return 0;
  }
  if (mesh.kind() == MeshKind::octree) {
    sample_trees(query, targets, input, sink);
    return 0;
  }
  return sample_cells(query, targets, input, sink);
}

const Mesh& mesh_of(const Query& query, const Metadata& metadata) {
  return metadata.mesh_of(variable_of(query.variables.at(0), metadata));
}

std::vector<SampledBlock> blocks_of(const Query& query, const LocalInput& input) {
  std::map<std::int64_t, SampledBlock> blocks;
  for (std::size_t v = 0; v < query.variables.size(); ++v) {
    for (const BlockView& view : input.of(query.variables[v])) {
      if (view.copy) continue;
      SampledBlock& block = blocks[view.block.id];
      block.block = view.block;
      block.views.resize(query.variables.size(), nullptr);
      block.views[v] = &view;
    }
  }
  std::vector<SampledBlock> all;
  for (auto& [id, block] : blocks) all.push_back(std::move(block));
  return all;
}

bool is_chosen(const Query& query, const SampledBlock& block) { return query.choice.has_level(block.block.level); }

bool is_chosen(const Query& query, const SampledBlock& block, const Index3& cell) {
  if (query.choice.all()) return true;  // the finest level at a place counts
  const auto view =
      std::find_if(block.views.begin(), block.views.end(), [](const BlockView* v) { return v != nullptr; });
  const Box one{cell, {cell[0] + 1, cell[1] + 1, cell[2] + 1}};
  return std::none_of((*view)->covered.begin(), (*view)->covered.end(),
                      [&](const Box& covered) { return covered.contains(one); });
}

PointValues::PointValues(const BlockView* view, int component, const Box& wanted, std::int64_t reads)
    : view_(view), component_(component), box_(wanted) {
  constexpr Index few = 4096, times = 64;
  if (view_ == nullptr || box_.empty() || box_.count() > few + times * reads) return;
  values_.resize(static_cast<std::size_t>(box_.count()));
  view_->gather(box_, component_, values_.data());
}

double PointValues::at(const Index3& p) const {
  double value = std::numeric_limits<double>::quiet_NaN();
  if (view_ == nullptr) return value;
  if (!values_.empty()) {
    const Index line = (p[2] - box_.lo[2]) * box_.extent(1) + p[1] - box_.lo[1];
    return values_[static_cast<std::size_t>(line * box_.extent(0) + p[0] - box_.lo[0])];
  }
  view_->gather({p, {p[0] + 1, p[1] + 1, p[2] + 1}}, component_, &value);
  return value;
}

void widen(Place& low, Place& high) {
  for (std::size_t a = 0; a < 3; ++a) {
    const double more = 1e-9 * (high[a] - low[a]);
    if (!(more > 0)) continue;  // already infinite, or flat
    low[a] -= more;
    high[a] += more;
  }
}

}  // namespace sidestream::sampling
