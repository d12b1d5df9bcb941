#include "conformance/sample.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "sidestream/kit/data/selected_arrays.hpp"

namespace sidestream::conformance {

namespace {

constexpr Index most_points = 1 << 22;

/// Divides a mesh into blocks; ids are their positions in the list.
std::vector<Box> divide(const Box& cells, const Case& how) {
  std::vector<Box> boxes;
  const auto cut = [&](int a, Index part) { return cells.lo[a] + cells.extent(a) * part / how.parts[a]; };
  for (Index k = 0; k < how.parts[2]; ++k) {
    for (Index j = 0; j < how.parts[1]; ++j) {
      for (Index i = 0; i < how.parts[0]; ++i) {
        boxes.push_back({{cut(0, i), cut(1, j), cut(2, k)}, {cut(0, i + 1), cut(1, j + 1), cut(2, k + 1)}});
      }
    }
  }
  if (how.backwards) std::reverse(boxes.begin(), boxes.end());
  return boxes;
}

Box grown(const Box& box, int width, int dimensions) {
  Box result = box;
  for (int a = 0; a < dimensions; ++a) {
    result.lo[a] -= width;
    result.hi[a] += width;
  }
  return result;
}

}  // namespace

Views::Views(const Metadata& metadata, const Selection& selection, const Case& how, int server, int servers)
    : server_(server), servers_(servers), views_(metadata.variables.size()) {
  std::map<std::int32_t, Selected> widest;  // a variable may be selected several times
  for (const Selected& selected : selection.variables) {
    if (!selected.decomposition.is_published()) continue;
    Selected& all = widest.try_emplace(selected.variable, selected).first->second;
    all.halo = std::max(all.halo, selected.halo);
    all.wrap |= selected.wrap;
  }
  std::vector<std::int32_t> lists;  // the arrays of points' coordinates are included, as on servers
  for (const auto& [id, selected] : widest) {
    const Variable& variable = metadata.variables[static_cast<std::size_t>(id)];
    if (metadata.mesh_of(variable).kind() == MeshKind::points) {
      lists.push_back(id);
    } else if (!how.nothing) {
      add_variable(metadata, selected, how);
    }
  }
  for (const std::int32_t id : with_mesh_arrays(std::move(lists), metadata)) {
    if (!how.nothing) add_points(metadata, metadata.variables[static_cast<std::size_t>(id)], how);
  }
  flag_ghosts(metadata);
  for (const Selected& selected : selection.variables) {
    const bool published = selected.decomposition.is_published();
    pieces_.emplace_back();
    if (!published && !how.nothing) add_piece(metadata, selected, how);
    EntryViews& entry = entries_.emplace_back();
    entry.variable = selected.variable;
    entry.views.resize(metadata.variables.size(), nullptr);
    const auto v = static_cast<std::size_t>(selected.variable);
    entry.views[v] = published ? &views_[v] : &pieces_.back();
  }
}

void Views::add_variable(const Metadata& metadata, const Selected& selected, const Case& how) {
  const Variable& variable = metadata.variables[static_cast<std::size_t>(selected.variable)];
  const Mesh& mesh = metadata.mesh_of(variable);
  const std::vector<Box> boxes = divide(mesh.cells, how);
  std::vector<std::vector<Box>> owned;  // by block: a shared point belongs to the block with the lowest id
  for (std::size_t id = 0; id < boxes.size(); ++id) {
    std::vector<Box>& mine = owned.emplace_back();
    if (boxes[id].empty()) continue;
    mine = {variable.points(boxes[id])};
    for (std::size_t lower = 0; lower < id; ++lower) {
      if (!boxes[lower].empty()) mine = difference(mine, variable.points(boxes[lower]));
    }
  }
  for (std::size_t id = 0; id < boxes.size(); ++id) {
    if (static_cast<int>(id % static_cast<std::size_t>(servers_)) != server_) continue;
    BlockView view;
    view.block.id = static_cast<std::int64_t>(id);
    view.block.mesh = mesh.id;
    view.block.client = static_cast<std::int32_t>(id);
    view.block.cells = boxes[id];
    view.points = boxes[id].empty() ? boxes[id] : variable.points(boxes[id]);
    view.owned = owned[id];
    const Box covered = boxes[id].empty() ? boxes[id] : grown(view.points, how.ghosts, mesh.dimensions);
    std::vector<PeriodicImage> right;
    for (const Box& box : view.owned) right.push_back({box});
    view.array = array(variable, covered, right, how);
    if (selected.halo > 0 && !boxes[id].empty()) add_halo(view, mesh, variable, selected, owned, how);
    views_[static_cast<std::size_t>(variable.id)].push_back(std::move(view));
  }
}

/// `owned`: owned boxes by block.
void Views::add_halo(BlockView& view, const Mesh& mesh, const Variable& variable, const Selected& selected,
                     const std::vector<std::vector<Box>>& owned, const Case& how) {
  const Box around = grown(view.points, selected.halo, mesh.dimensions);
  std::vector<PeriodicImage> images{{around}};
  if (selected.wrap) {
    for (const PeriodicImage& image : images_of(around, mesh.cells, variable.centering, mesh.periodic))
      images.push_back(image);
  }
  for (std::size_t other = 0; other < owned.size(); ++other) {
    for (const PeriodicImage& image : images) {
      if (static_cast<std::int64_t>(other) == view.block.id && image.shift == Index3{}) continue;
      for (const Box& box : owned[other]) {
        const PeriodicImage part{intersection(box, image.source), image.shift};
        if (part.source.empty()) continue;
        const Box there = moved(part.source, part.shift);
        view.halo.push_back({there, array(variable, there, {part}, how)});
      }
    }
  }
}

/// Adds this server's piece of a decomposition, if it has one.
void Views::add_piece(const Metadata& metadata, const Selected& selected, const Case& how) {
  const Variable& variable = metadata.variables[static_cast<std::size_t>(selected.variable)];
  const Mesh& mesh = metadata.mesh_of(variable);
  const Box all = variable.points(mesh.cells);
  BlockView view;
  view.block.id = -1 - server_;
  view.block.mesh = mesh.id;
  view.block.client = -1;
  view.block.cells = piece_of(selected.decomposition, mesh, servers_, server_);
  if (view.block.cells.empty()) return;
  view.points = variable.points(view.block.cells);
  Box own = view.points, box = grown(view.points, selected.halo, mesh.dimensions);
  for (int a = 0; a < mesh.dimensions; ++a) {
    const auto n = static_cast<std::size_t>(a);
    if (view.block.cells.hi[n] < mesh.cells.hi[n]) own.hi[n] = view.block.cells.hi[n];
    if (selected.wrap && mesh.periodic[n]) continue;
    box.lo[n] = std::max(box.lo[n], all.lo[n]);
    box.hi[n] = std::min(box.hi[n], all.hi[n]);
  }
  std::vector<PeriodicImage> right = images_of(box, mesh.cells, variable.centering, mesh.periodic);
  right.push_back({intersection(box, all)});
  view.array = array(variable, box, right, how);
  view.owned = {own};
  for (const Box& rim : difference(box, own)) view.halo.push_back({rim, view.array});
  pieces_.back().push_back(std::move(view));
}

/// `right`: the regions with correct values; others get wrong ones.
ArrayView Views::array(const Variable& variable, const Box& box, const std::vector<PeriodicImage>& right,
                       const Case& how) {
  ArrayView view;
  view.type = variable.type;
  view.box = box;
  view.components = variable.components;
  view.strides = packed_strides(box, variable.components, variable.order);
  Bytes& bytes = memory_.emplace_back(packed_bytes(box, variable.components, variable.type));
  view.data = bytes.data();
  with_type(variable.type, [&](auto zero) {
    using T = decltype(zero);
    auto* data = reinterpret_cast<T*>(bytes.data());
    std::fill_n(data, bytes.size() / sizeof(T), static_cast<T>(117));  // far from every value of the field
    for (const auto& [part, shift] : right) {
      for (Index k = part.lo[2]; k < part.hi[2]; ++k) {
        for (Index j = part.lo[1]; j < part.hi[1]; ++j) {
          for (Index i = part.lo[0]; i < part.hi[0]; ++i) {
            for (int c = 0; c < variable.components; ++c) {
              *const_cast<T*>(view.at<T>(i + shift[0], j + shift[1], k + shift[2], c)) =
                  value_at<T>(variable, {i, j, k}, c, how.odd_values);
            }
          }
        }
      }
    }
  });
  return view;
}

std::string unsuitable(const Metadata& metadata) {
  for (const Mesh& mesh : metadata.meshes) {
    if (mesh.kind() == MeshKind::points || mesh.made) continue;
    if (!mesh.geometry || !mesh.geometry->axes()) {
      return fmt::format("the mesh '{}' is neither uniform nor rectilinear, nor has it only points", mesh.name);
    }
    double points = 1;
    for (int a = 0; a < 3; ++a) points *= static_cast<double>(mesh.cells.extent(a));
    if (points > static_cast<double>(most_points)) {
      return fmt::format("the mesh '{}' has {} cells, expected at most {}: give a smaller one with --set", mesh.name,
                         points, most_points);
    }
  }
  return {};
}

Catalogue catalogue_of(const Metadata& metadata, const Case& how) {
  Catalogue catalogue;
  catalogue.global = true;
  for (const Mesh& mesh : metadata.meshes) {
    if (mesh.made) continue;
    if (mesh.kind() == MeshKind::points) {
      const std::vector<Block> blocks = point_blocks(mesh, how);
      catalogue.blocks.insert(catalogue.blocks.end(), blocks.begin(), blocks.end());
      continue;
    }
    const std::vector<Box> boxes = divide(mesh.cells, how);
    for (std::size_t id = 0; id < boxes.size(); ++id) {
      Block block;
      block.id = static_cast<std::int64_t>(id);
      block.client = static_cast<std::int32_t>(id);
      block.mesh = mesh.id;
      block.cells = boxes[id];
      catalogue.blocks.push_back(block);
    }
  }
  return catalogue;
}

Catalogue catalogue_for(const Metadata& metadata, const Selection& selection, const Case& how) {
  if (!selection.catalogue) return {};
  Catalogue catalogue = catalogue_of(metadata, how);
  std::vector<Selected> wanted;
  for (const RangeRequest& request : selection.ranges) wanted.emplace_back(request.variable);
  const Views all(metadata, Selection(wanted), how, 0, 1);
  for (const RangeRequest& request : selection.ranges) {
    for (const BlockView& view : all.blocks()[static_cast<std::size_t>(request.variable)]) {
      if (view.block.cells.empty()) continue;
      BlockRange range;
      range.block = view.block.id;
      range.variable = request.variable;
      range.component = request.component;
      measure_range(view.array, view.points, request.component, range);
      catalogue.ranges.push_back(range);
    }
  }
  return catalogue;
}

}  // namespace sidestream::conformance
