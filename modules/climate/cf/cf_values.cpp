#include "climate/cf/cf_values.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <span>
#include <string_view>

#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/data/box_values.hpp"
#include "sidestream/kit/storage/files/output_file.hpp"

namespace sidestream {

namespace {

constexpr std::uint64_t values_at_once = 8u << 20;  ///< memory for values that are not contiguous

const Variable& variable_of(const CfArray& array, const Metadata& metadata) {
  return metadata.variables[static_cast<std::size_t>(array.variable)];
}

bool is_position_of_cells(const CfArray& array) {
  return array.source == CfSource::centres || array.source == CfSource::corners;
}

/// The boxes of the whole array that a block fills; for lists, in the block's own numbering.
std::vector<Box> filled_boxes(const CfArray& array, const BlockView& view, const Metadata& metadata) {
  const Mesh& mesh = metadata.mesh_of(variable_of(array, metadata));
  if (view.copy) return {};
  if (array.source == CfSource::corner_ids) return {view.block.cells};
  if (mesh.is_list()) return {view.points};
  if (is_position_of_cells(array)) return {view.block.cells};
  std::vector<Box> boxes;
  for (const Box& owned : view.owned) {
    const Box here = intersection(intersection(owned, view.points), mesh.points(array.centering));
    if (!here.empty()) boxes.push_back(here);
  }
  return boxes;
}

/// View of one component of an array.
ArrayView component_of(const ArrayView& array, int component) {
  ArrayView one = array;
  const auto width = static_cast<std::ptrdiff_t>(size_of(array.type));
  one.data = static_cast<const std::byte*>(array.data) + width * component * array.strides[3];
  one.components = 1;
  return one;
}

double number_at(const ArrayView& array, const Index3& p, int c) {
  return with_type(array.type,
                   [&](auto zero) { return static_cast<double>(*array.at<decltype(zero)>(p[0], p[1], p[2], c)); });
}

double mean_of_nodes(const ArrayView& nodes, const Index3& cell, int dimensions, int component) {
  double sum = 0;
  const int corners = 1 << dimensions;
  for (int n = 0; n < corners; ++n) {
    sum += number_at(nodes, {cell[0] + (n & 1), cell[1] + (n >> 1 & 1), cell[2] + (n >> 2 & 1)}, component);
  }
  return sum / corners;
}

/// Calls f(point) for the points of a box, in the storage `order` of an array.
template <class F>
void for_each_point(const Box& box, Order order, F f) {
  const std::size_t fast = order == Order::column ? 0 : 2, slow = 2 - fast;
  Index3 p{};
  for (p[slow] = box.lo[slow]; p[slow] < box.hi[slow]; ++p[slow]) {
    for (p[1] = box.lo[1]; p[1] < box.hi[1]; ++p[1]) {
      for (p[fast] = box.lo[fast]; p[fast] < box.hi[fast]; ++p[fast]) f(p);
    }
  }
}

/// Positions of the cells of a curvilinear block: their centres, or their corners counterclockwise.
std::vector<double> positions_of_cells(const CfArray& array, const BlockView& view, int dimensions, Order order) {
  constexpr std::array<std::array<Index, 2>, 4> around{{{0, 0}, {1, 0}, {1, 1}, {0, 1}}};
  std::vector<double> all;
  for_each_point(view.block.cells, order, [&](const Index3& cell) {
    if (array.source == CfSource::centres) {
      all.push_back(mean_of_nodes(view.array, cell, dimensions, array.component));
      return;
    }
    for (const auto& [i, j] : around) {
      all.push_back(number_at(view.array, {cell[0] + i, cell[1] + j, cell[2]}, array.component));
    }
  });
  return all;
}

/// The box of a block's list in the concatenated list.
Box shifted(const Box& list, Index by) { return {{list.lo[0] + by, 0, 0}, {list.hi[0] + by, 1, 1}}; }

}  // namespace

CfLists::CfLists(std::vector<CfBlock> blocks) : blocks_(std::move(blocks)) {
  std::sort(blocks_.begin(), blocks_.end(),
            [](const CfBlock& a, const CfBlock& b) { return std::pair(a.mesh, a.id) < std::pair(b.mesh, b.id); });
  for (const CfBlock& block : blocks_) {
    CfBlock& total = totals_[block.mesh];
    starts_[{block.mesh, block.id}] = {total.points, total.cells};
    total.points += block.points;
    total.cells += block.cells;
    total.dimensions = std::max(total.dimensions, block.dimensions);
    total.most = std::max(total.most, block.most);
    total.least = std::min(total.least, block.least);
  }
  for (const auto& [mesh, total] : totals_) {
    if (total.cells == 0 || total.points <= INT32_MAX) continue;
    fail(Code::analysis, "an unstructured mesh has {} points, more than the {} that VTK and this output can number",
         total.points, INT32_MAX);
  }
}

CfBlock CfLists::total(std::int32_t mesh) const {
  const auto found = totals_.find(mesh);
  return found == totals_.end() ? CfBlock{} : found->second;
}

CfLists::Start CfLists::start(std::int32_t mesh, std::int64_t block) const { return starts_.at({mesh, block}); }

Index CfLists::length(const CfDimension& dimension) const {
  const CfBlock all = total(dimension.mesh);
  switch (dimension.kind) {
    case CfLength::cells:
      return all.cells;
    case CfLength::points:
      return all.points;
    case CfLength::corners:
      return std::max<Index>(all.most, 1);
    case CfLength::fixed:
      break;
  }
  return dimension.length;
}

std::vector<CfBlock> cf_blocks(const LocalInput& input, const CfLayout& layout) {
  std::map<std::pair<std::int32_t, std::int64_t>, CfBlock> found;
  for (const CfArray& array : layout.arrays) {
    if (!input.metadata.mesh_of(variable_of(array, input.metadata)).is_list()) continue;
    for (const BlockView& view : input.of(array.variable)) {
      if (view.copy) continue;
      const Block& block = view.block;
      found.try_emplace({block.mesh, block.id},
                        CfBlock{block.id, block.mesh, 0, block.lengths.points, block.cells.extent(0)});
    }
  }
  std::vector<CfBlock> blocks;
  for (auto& [key, block] : found) {
    const Mesh& mesh = input.metadata.meshes[static_cast<std::size_t>(block.mesh)];
    if (mesh.kind() == MeshKind::unstructured) scan_cells(input, mesh, block);
    blocks.push_back(block);
  }
  return blocks;
}

Box cf_points(const CfArray& array, const Metadata& metadata, const CfLists& lists) {
  const Mesh& mesh = metadata.mesh_of(variable_of(array, metadata));
  if (!mesh.is_list()) return is_position_of_cells(array) ? mesh.cells : mesh.points(array.centering);
  const CfBlock total = lists.total(mesh.id);
  return list_box(array.on_cells ? total.cells : total.points);
}

Index cf_values_of_point(const CfArray& array, const Metadata& metadata, const CfLists& lists) {
  switch (array.source) {
    case CfSource::values:
      return variable_of(array, metadata).components;
    case CfSource::corners:
      return 4;
    case CfSource::corner_ids:
      return std::max<Index>(lists.total(metadata.mesh_of(variable_of(array, metadata)).id).most, 1);
    case CfSource::component:
    case CfSource::centres:
      break;
  }
  return 1;
}

Type cf_type(const CfArray& array, const Metadata& metadata) {
  if (is_position_of_cells(array)) return Type::float64;
  return array.source == CfSource::corner_ids ? Type::int32 : variable_of(array, metadata).type;
}

Order cf_order(const CfArray& array, const Metadata& metadata) { return variable_of(array, metadata).order; }

Index cf_count(const CfArray& array, const LocalInput& input) {
  if (input.of(array.variable).empty()) return -1;
  Index count = 0;
  for (const BlockView& view : input.of(array.variable)) {
    for (const Box& box : filled_boxes(array, view, input.metadata)) count += box.count();
  }
  return count;
}

void cf_put(const CfArray& array, const LocalInput& input, const CfLists& lists, const StoredForm& form,
            const CfSink& sink) {
  const Variable& variable = variable_of(array, input.metadata);
  const Mesh& mesh = input.metadata.mesh_of(variable);
  Bytes made;
  for (const BlockView& view : input.of(variable.id)) {
    if (view.copy) continue;
    const CfLists::Start start = mesh.is_list() ? lists.start(mesh.id, view.block.id) : CfLists::Start{};
    const Index by = array.on_cells ? start.cells : start.points;
    if (array.source == CfSource::corner_ids) {
      const Index width = cf_values_of_point(array, input.metadata, lists);
      const auto rows = rows_of_cells(input, mesh, view.block.id, width, start.points);
      if (!rows.empty()) sink(std::as_bytes(std::span(rows)), shifted(view.block.cells, by));
      continue;
    }
    if (is_position_of_cells(array)) {
      const auto all = positions_of_cells(array, view, mesh.dimensions, variable.order);
      if (!all.empty()) sink(std::as_bytes(std::span(all)), view.block.cells);
      continue;
    }
    const bool one = array.source == CfSource::component;
    const ArrayView values = one ? component_of(view.array, array.component) : view.array;
    for (const Box& box : filled_boxes(array, view, input.metadata)) {
      for_each_slab(values, box, variable.order, values_at_once, [&](BytesView published, const Box& part) {
        sink(form.apply(published, made), mesh.is_list() ? shifted(part, by) : part);
      });
    }
  }
}

void for_each_run(const CfPlace& place, BytesView values, const Box& part, const CfRun& run_of) {
  const std::array<int, 3> axes = place.order == Order::column ? std::array{0, 1, 2} : std::array{2, 1, 0};
  std::array<Index, 3> stride{};  // of an axis, in points, fastest first
  Index all = 1;
  for (std::size_t n = 0; n < 3; ++n) {
    stride[n] = all;
    all *= place.whole.extent(axes[n]);
  }
  // Whole lines and planes are contiguous in the file, too.
  std::size_t merged = 0;
  Index run = part.extent(axes[0]);
  while (merged < 2 && part.extent(axes[merged]) == place.whole.extent(axes[merged])) {
    run *= part.extent(axes[++merged]);
  }
  const auto lowest = [&](std::size_t n) {
    return part.lo[static_cast<std::size_t>(axes[n])] - place.whole.lo[static_cast<std::size_t>(axes[n])];
  };
  const Index rows = merged < 1 ? part.extent(axes[1]) : 1, planes = merged < 2 ? part.extent(axes[2]) : 1;
  const std::size_t bytes = static_cast<std::size_t>(run) * place.point_bytes;
  std::size_t from = 0;
  for (Index plane = 0; plane < planes; ++plane) {
    for (Index row = 0; row < rows; ++row, from += bytes) {
      const Index at = lowest(0) + (lowest(1) + row) * stride[1] + (lowest(2) + plane) * stride[2];
      run_of(place.offset + static_cast<std::uint64_t>(at) * place.point_bytes, values.subspan(from, bytes));
    }
  }
}

void write_part(int descriptor, const std::string& path, const CfPlace& place, BytesView values, const Box& part) {
  for_each_run(place, values, part, [&](std::uint64_t at, BytesView run) {
    write_at(descriptor, path, at, {reinterpret_cast<const char*>(run.data()), run.size()});
  });
}

}  // namespace sidestream
