// Writing metadata files.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "data/derivation.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/storage/files/file_names.hpp"
#include "storage/formats/metadata_file.hpp"

namespace sidestream {

namespace {

using Out = std::back_insert_iterator<std::string>;

/// Writes the arrays of meshes whose geometry is in variables.
void put_arrays(Out out, const Mesh& mesh, const Metadata& metadata) {
  for (int n = 1; n < role_count; ++n) {
    const std::int32_t id = mesh.array(static_cast<Role>(n));
    if (id < 0) continue;
    fmt::format_to(out, ", {}: {}", name_of(static_cast<Role>(n)),
                   quoted_text(metadata.variables[static_cast<std::size_t>(id)].name));
  }
}

void put_geometry(Out out, const Mesh& mesh) {
  const auto used = static_cast<std::size_t>(mesh.dimensions);
  if (const auto* uniform = dynamic_cast<const UniformGeometry*>(mesh.geometry.get())) {
    std::vector<Index> size;
    for (int a = 0; a < mesh.dimensions; ++a) size.push_back(mesh.declared(mesh.cells).extent(a));
    const auto first = [&](const std::array<double, 3>& all) { return std::vector(all.begin(), all.begin() + used); };
    fmt::format_to(out, "type: uniform, size: [{}], origin: [{}], spacing: [{}]", fmt::join(size, ", "),
                   fmt::join(first(uniform->origin()), ", "), fmt::join(first(uniform->spacing()), ", "));
    return;
  }
  if (mesh.kind() == MeshKind::curvilinear) {
    std::vector<Index> size;
    for (int a = 0; a < mesh.dimensions; ++a) size.push_back(mesh.cells.extent(a));
    fmt::format_to(out, "type: curvilinear, size: [{}]", fmt::join(size, ", "));
    return;
  }
  if (const auto* tree = dynamic_cast<const OctreeGeometry*>(mesh.geometry.get())) {
    const auto first = [&](const auto& all) { return std::vector(all.begin(), all.begin() + mesh.dimensions); };
    fmt::format_to(out, "type: octree, size: [{}], origin: [{}], spacing: [{}]", fmt::join(first(tree->roots()), ", "),
                   fmt::join(first(tree->origin()), ", "), fmt::join(first(tree->spacing()), ", "));
    return;
  }
  if (mesh.is_list()) {
    fmt::format_to(out, "type: {}, dimensions: {}", mesh.geometry->kind(), mesh.dimensions);
    return;
  }
  const auto* rectilinear = dynamic_cast<const RectilinearGeometry*>(mesh.geometry.get());
  if (rectilinear == nullptr) {
    fail(Code::file, "the mesh '{}' is of a kind that metadata files have no place for", mesh.name);
  }
  fmt::format_to(out, "type: rectilinear, coordinates: {{");
  for (std::size_t a = 0; a < used; ++a) {
    fmt::format_to(out, "{}{}: [{}]", a ? ", " : "", "xyz"[a],
                   fmt::join(rectilinear->nodes(static_cast<int>(a)), ", "));
  }
  fmt::format_to(out, "}}");
}

void put_texts(Out out, const char* name, const std::array<std::string, 3>& texts, int dimensions) {
  if (texts == std::array<std::string, 3>{}) return;
  std::vector<std::string> quoted;
  for (int a = 0; a < dimensions; ++a) quoted.push_back(quoted_text(texts[static_cast<std::size_t>(a)]));
  fmt::format_to(out, ", {}: [{}]", name, fmt::join(quoted, ", "));
}

void put_attributes(Out out, const std::vector<Attribute>& attributes) {
  std::vector<std::string> entries;
  for (const Attribute& one : attributes) {
    const auto shown = [](const auto& value) {
      if constexpr (std::is_arithmetic_v<std::decay_t<decltype(value)>>)
        return fmt::format("{}", value);
      else
        return quoted_text(value);
    };
    entries.push_back(fmt::format("{}: {}", one.name, std::visit(shown, one.value)));
  }
  if (!entries.empty()) fmt::format_to(out, ", attributes: {{{}}}", fmt::join(entries, ", "));
}

void put_mesh(Out out, const Mesh& mesh, const Metadata& metadata) {
  fmt::format_to(out, "  {}: {{", quoted_text(mesh.name));
  put_geometry(out, mesh);
  put_arrays(out, mesh, metadata);
  std::vector<char> periodic;
  for (std::size_t a = 0; a < 3; ++a) {
    if (mesh.periodic[a]) periodic.push_back("xyz"[a]);
  }
  if (!periodic.empty()) fmt::format_to(out, ", periodic: [{}]", fmt::join(periodic, ", "));
  std::vector<std::string> refinement;
  for (const Index3& ratio : mesh.refinement) refinement.push_back(fmt::format("{}", fmt::join(ratio, "x")));
  if (!refinement.empty()) fmt::format_to(out, ", refinement: [{}]", fmt::join(refinement, ", "));
  put_texts(out, "units", mesh.units, mesh.dimensions);
  put_texts(out, "labels", mesh.labels, mesh.dimensions);
  put_attributes(out, mesh.attributes);
  fmt::format_to(out, "{}{}}}\n", mesh.fixed ? ", fixed: true" : "", mesh.owned_points ? ", points: owned" : "");
}

void put_relations(Out out, const VariableRelations& relations) {
  // The key of versions 1 and 2 of the format; the configuration calls it `parent`.
  if (!relations.parent.empty()) fmt::format_to(out, ", father: {}", quoted_text(relations.parent));
  if (!relations.equals.empty()) fmt::format_to(out, ", equals: {}", quoted_text(relations.equals));
  if (!relations.face.empty()) fmt::format_to(out, ", face: {}", relations.face);
  if (!relations.opposite.empty()) fmt::format_to(out, ", opposite: {}", quoted_text(relations.opposite));
  std::vector<std::string> names;
  for (const std::string& name : relations.divergence_free) names.push_back(quoted_text(name));
  if (!names.empty()) fmt::format_to(out, ", divergence_free: [{}]", fmt::join(names, ", "));
}

void put_variable(Out out, const Variable& v, const Metadata& metadata) {
  fmt::format_to(out, "  {}: {{mesh: {}, type: {}, centering: {}, components: {}, order: {}", quoted_text(v.name),
                 quoted_text(metadata.mesh_of(v).name), name_of(v.type),
                 name_of(v.centering, metadata.mesh_of(v).dimensions), v.components,
                 v.order == Order::row ? "row" : "column");
  if (!v.time_varying) fmt::format_to(out, ", time_varying: false");
  if (v.filled) fmt::format_to(out, ", ghosts: filled");
  if (!v.unit.empty()) fmt::format_to(out, ", unit: {}", quoted_text(v.unit));
  if (!v.label.empty()) fmt::format_to(out, ", label: {}", quoted_text(v.label));
  if (!v.group.empty()) fmt::format_to(out, ", group: {}", quoted_text(v.group));
  put_attributes(out, v.attributes);
  put_relations(out, v.relations);
  fmt::format_to(out, "}}\n");
}

/// Writes the tables of lists, if they have content.
void put_lists(Out out, const std::vector<Block>& blocks) {
  const auto list = [](const Block& b) { return b.is_list(); };
  if (std::any_of(blocks.begin(), blocks.end(), list)) {
    fmt::format_to(out, "# mesh, id, client, points, cells, corners, entries of faces\nlists: |\n");
  }
  for (const Block& b : blocks) {
    if (!b.is_list()) continue;
    fmt::format_to(out, "  {} {} {} {} {} {} {}\n", b.mesh, b.id, b.client, b.lengths.points, b.cells.hi[0],
                   b.lengths.corners, b.lengths.faces);
  }
  const auto known = [](const Block& b) { return b.bounds.known(); };
  if (std::any_of(blocks.begin(), blocks.end(), known)) {
    fmt::format_to(out, "# mesh, id, low, high\nbounds: |\n");
  }
  for (const Block& b : blocks) {
    if (!b.bounds.known()) continue;
    fmt::format_to(out, "  {} {} {} {}\n", b.mesh, b.id, fmt::join(b.bounds.low, " "), fmt::join(b.bounds.high, " "));
  }
}

void put_range(Out out, const BlockRange& r) {
  fmt::format_to(out, "  {} {} {} {} {}", r.block, r.variable, r.component, r.all.minimum, r.all.maximum);
  for (const Range& layer : r.lowest) fmt::format_to(out, " {} {}", layer.minimum, layer.maximum);
  fmt::format_to(out, "\n");
}

}  // namespace

std::string metadata_text(const MetadataFile& content) {
  const auto& [iteration, all, catalogue] = content;
  const Metadata metadata = published_part(all);
  std::string text;
  text.reserve(256 + 64 * catalogue.blocks.size() + 128 * catalogue.ranges.size());
  const Out out(text);
  fmt::format_to(out, "sidestream_metadata: 2\niteration: {{index: {}, cycle: {}, time: {}}}\nmeshes:\n",
                 iteration.index, iteration.cycle, iteration.time);
  for (const Mesh& mesh : metadata.meshes) put_mesh(out, mesh, metadata);
  fmt::format_to(out, "variables:\n");
  for (const Variable& variable : metadata.variables) {
    put_variable(out, variable, metadata);
  }
  fmt::format_to(out, "# mesh, id, level, client, lo, hi\nblocks: |\n");
  for (const Block& b : catalogue.blocks) {
    if (b.is_list()) continue;
    fmt::format_to(out, "  {} {} {} {} {} {}\n", b.mesh, b.id, b.level, b.client, fmt::join(b.cells.lo, " "),
                   fmt::join(b.cells.hi, " "));
  }
  put_lists(out, catalogue.blocks);
  if (catalogue.ranges.empty()) return text;
  fmt::format_to(out,
                 "# block, variable, component, minimum, maximum; the same of the first layer along x, y, z\n"
                 "ranges: |\n");
  for (const BlockRange& range : catalogue.ranges) put_range(out, range);
  if (catalogue.counted.empty()) return text;
  fmt::format_to(out,
                 "# block, block beside it, variable, component, minimum, maximum of cells that count\ncounted: |\n");
  for (const CountedRange& range : catalogue.counted) {
    fmt::format_to(out, "  {} {} {} {} {} {}\n", range.block, range.beside, range.variable, range.component,
                   range.range.minimum, range.range.maximum);
  }
  return text;
}

}  // namespace sidestream
