#include "storage/hdf5/hdf5_layout.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "sidestream/kit/base/fail.hpp"

namespace sidestream {

namespace {

constexpr std::int64_t format_version = 2, version_with_scales = 3;

/// The axes that the mesh uses, slowest first.
std::vector<int> axes_slowest_first(Order order, int dimensions) {
  std::vector<int> axes;
  for (int a = 0; a < dimensions; ++a) axes.push_back(order == Order::column ? dimensions - 1 - a : a);
  return axes;
}

/// Writes the refinement ratios: a row for each level that has a finer one.
void describe_levels(hdf5::Group& group, const Mesh& mesh) {
  if (mesh.refinement.empty()) return;
  std::vector<std::int64_t> ratios;
  for (const Index3& ratio : mesh.refinement) ratios.insert(ratios.end(), ratio.begin(), ratio.end());
  group.set("refinement", ratios, 3);
}

/// Writes the paths of the variables that hold the mesh's geometry.
void describe_arrays(hdf5::Group& group, const Mesh& mesh, const Metadata& metadata) {
  for (int n = 1; n < role_count; ++n) {
    const std::int32_t id = mesh.array(static_cast<Role>(n));
    if (id < 0) continue;
    group.set(std::string(name_of(static_cast<Role>(n))),
              variable_path(metadata.variables[static_cast<std::size_t>(id)]));
  }
}

void describe_geometry(hdf5::Group& group, const Mesh& mesh) {
  if (mesh.geometry == nullptr) return;
  group.set("kind", mesh.geometry->kind());
  if (const auto* uniform = dynamic_cast<const UniformGeometry*>(mesh.geometry.get())) {
    group.set("origin", std::span<const double>(uniform->origin()));
    group.set("spacing", std::span<const double>(uniform->spacing()));
    return;
  }
  if (const auto* tree = dynamic_cast<const OctreeGeometry*>(mesh.geometry.get())) {
    group.set("roots", std::vector<std::int64_t>(tree->roots().begin(), tree->roots().end()));
    group.set("origin", std::span<const double>(tree->origin()));
    group.set("spacing", std::span<const double>(tree->spacing()));
    return;
  }
  const auto* rectilinear = dynamic_cast<const RectilinearGeometry*>(mesh.geometry.get());
  if (rectilinear == nullptr) return;
  constexpr const char* names[3] = {"x", "y", "z"};
  for (int axis = 0; axis < mesh.dimensions; ++axis) {
    const auto& nodes = rectilinear->nodes(axis);
    hdf5::Dataset dataset = group.dataset(names[axis], Type::float64, {nodes.size()}, {});
    dataset.write(Type::float64, {{0}, {nodes.size()}}, std::as_bytes(std::span(nodes)));
  }
}

}  // namespace

std::string block_name(std::int64_t id, std::int32_t level) {
  return level == 0 ? fmt::format("block-{}", id) : fmt::format("level-{}-block-{}", level, id);
}

std::string variable_path(const Variable& variable) {
  return variable.group.empty() ? "variables/" + variable.name : "variables/" + variable.group + "/" + variable.name;
}

hdf5::Extents extents_of(const Variable& variable, int dimensions, const Index3& extents) {
  hdf5::Extents out;
  for (const int axis : axes_slowest_first(variable.order, dimensions))
    out.push_back(static_cast<hsize_t>(extents[axis]));
  if (variable.components > 1) out.push_back(static_cast<hsize_t>(variable.components));
  return out;
}

hdf5::Part part_of(const Variable& variable, int dimensions, const Box& inner, const Box& outer) {
  hdf5::Part part;
  for (const int axis : axes_slowest_first(variable.order, dimensions)) {
    part.start.push_back(static_cast<hsize_t>(inner.lo[axis] - outer.lo[axis]));
    part.size.push_back(static_cast<hsize_t>(inner.extent(axis)));
  }
  if (variable.components > 1) {
    part.start.push_back(0);
    part.size.push_back(static_cast<hsize_t>(variable.components));
  }
  return part;
}

void describe_file(hdf5::Group& root, const std::string& kind, const Iteration& iteration,
                   const std::string& provenance, int servers, bool scaled) {
  root.set("format", kind);
  root.set("version", scaled ? version_with_scales : format_version);
  root.set("iteration", iteration.index);
  root.set("cycle", iteration.cycle);
  root.set("time", iteration.time);
  root.set("servers", static_cast<std::int64_t>(servers));
  root.set("provenance", provenance);
}

/// Writes additional attributes from the configuration or the program.
static void describe_freely(hdf5::Object& object, const std::vector<Attribute>& attributes) {
  std::vector<std::string> names;
  for (const Attribute& one : attributes) {
    names.push_back(one.name);
    std::visit([&](const auto& value) { object.set(one.name, value); }, one.value);
  }
  if (!names.empty()) object.set("attributes", names);
}

void describe_meshes(hdf5::Group& root, const Metadata& metadata, const std::vector<std::int32_t>& variables,
                     std::span<const double> level_times) {
  hdf5::Group meshes = root.group("meshes");
  std::set<std::int32_t> done;
  for (const std::int32_t id : variables) {
    const Mesh& mesh = metadata.mesh_of(metadata.variables[id]);
    if (!done.insert(mesh.id).second) continue;
    hdf5::Group group = meshes.group(mesh.name);
    group.set("dimensions", static_cast<std::int64_t>(mesh.dimensions));
    describe_box(group, mesh.cells);
    describe_geometry(group, mesh);
    describe_levels(group, mesh);
    if (!level_times.empty() && has_level_times(mesh)) group.set("level_times", level_times);
    describe_arrays(group, mesh, metadata);
    if (mesh.owned_points) group.set("points", std::string("owned"));
    const auto texts = [&](const char* name, const std::array<std::string, 3>& all) {
      const std::vector<std::string> used(all.begin(), all.begin() + mesh.dimensions);
      if (std::any_of(used.begin(), used.end(), [](const std::string& text) { return !text.empty(); }))
        group.set(name, used);
    };
    texts("units", mesh.units);
    texts("labels", mesh.labels);
    describe_freely(group, mesh.attributes);
  }
}

void describe_variable(hdf5::Object& object, const Variable& variable, const Metadata& metadata) {
  object.set("mesh", metadata.mesh_of(variable).name);
  object.set("type", std::string(name_of(variable.type)));
  object.set("centering", std::string(name_of(variable.centering, metadata.mesh_of(variable).dimensions)));
  object.set("components", static_cast<std::int64_t>(variable.components));
  object.set("order", std::string(variable.order == Order::column ? "column" : "row"));
  object.set("unit", variable.unit);
  object.set("label", variable.title());
  // Named as in netCDF and its tools.
  if (!variable.unit.empty()) object.set("units", variable.unit);
  if (!variable.label.empty()) object.set("long_name", variable.label);
  describe_freely(object, variable.attributes);
}

void describe_form(hdf5::Object& object, const StoredForm& form) {
  if (!form.why_full.empty()) object.set("full_since", form.why_full);
  if (form.is_full()) return;
  object.set("precision", form.precision.text);
  // netCDF's attribute for this rounding.
  if (form.precision.kind == Precision::Kind::bit_round) {
    object.set("_QuantizeBitRoundNumberOfSignificantBits", static_cast<std::int64_t>(form.precision.bits));
  }
}

void describe_scale(hdf5::Object& dataset, const StoredForm& form) {
  if (!form.is_scaled) return;
  dataset.set("scale_factor", form.scale);
  dataset.set("add_offset", form.offset);
  dataset.set_missing("_FillValue", form.type);
}

void describe_axes(hdf5::Object& dataset, const Variable& variable, int dimensions) {
  constexpr const char* names[3] = {"i", "j", "k"};
  std::vector<std::string> labels;
  for (const int axis : axes_slowest_first(variable.order, dimensions)) labels.emplace_back(names[axis]);
  if (variable.components > 1) labels.emplace_back("component");
  dataset.set("DIMENSION_LABELS", labels);
}

void describe_box(hdf5::Object& object, const Box& box, const std::string& prefix) {
  const std::string front = prefix.empty() ? "" : prefix + "_";
  object.set(front + "lo", std::span<const std::int64_t>(box.lo));
  object.set(front + "hi", std::span<const std::int64_t>(box.hi));
}

std::vector<double> level_times_of(const LocalInput& input, const std::string& event) {
  if (event.empty()) return {};
  const auto named = [&](const Event& one) { return one.name == event; };
  const auto found = std::find_if(input.events.rbegin(), input.events.rend(), named);
  if (found == input.events.rend()) return {};
  if (found->type != Type::float64 || found->scope != EventScope::all) {
    fail(Code::analysis, "the event '{}' has values of type {}{}, expected the times of levels: float64, of scope all",
         event, name_of(found->type), found->scope == EventScope::all ? "" : " for some servers");
  }
  std::vector<double> times(found->count());
  std::memcpy(times.data(), found->values.data(), found->values.size());
  for (const double time : times) {
    if (!std::isfinite(time)) fail(Code::analysis, "the event '{}' has a time that is {}", event, time);
  }
  return times;
}

}  // namespace sidestream
