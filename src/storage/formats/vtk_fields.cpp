// Values in VTK XML files, and the flags (vtkGhostType) of points and cells.
//
// Flags join what the simulation flags, cells that finer levels cover, parents of octrees, and cells of other blocks.
// Values that were not delivered are written as NaN, or 0 for integers. Arrays are written in slabs, converted where a
// precision is set.
#include "storage/formats/vtk_fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "sidestream/kit/data/box_values.hpp"

namespace sidestream {

namespace {

constexpr const char* flags_name = "vtkGhostType";
// VTK's bits (vtkDataSetAttributes). The first is for points and cells, the others only for cells.
constexpr std::uint8_t duplicate = 1, hidden_cell = 32, refined_cell = 8;

/// True if the array holds field values at points or in cells, not the geometry.
bool is_field(const Variable& variable) noexcept {
  switch (variable.role) {
    case Role::coordinates:
    case Role::connectivity:
    case Role::offsets:
    case Role::types:
    case Role::faces:
    case Role::face_offsets:
      return false;
    case Role::point_ghosts:
    case Role::cell_ghosts:
      return variable.name != flags_name;  // the flags are written under this name by other code
    default:
      return true;
  }
}

bool is_id(const Variable& variable) noexcept {
  return variable.role == Role::point_ids || variable.role == Role::cell_ids;
}

/// Ids of points and cells get the type of VTK's ids; readers do not accept others as ids.
Type written_type(const Variable& variable, const StoredForm& form) noexcept {
  return is_id(variable) ? Type::int64 : form.type;
}

bool has_flags(const Mesh& mesh, Centering centering) noexcept {
  if (centering != Centering::cell) return mesh.array(Role::point_ghosts) >= 0;
  return mesh.array(Role::cell_ghosts) >= 0 || !mesh.refinement.empty() || mesh.kind() == MeshKind::curvilinear ||
         mesh.kind() == MeshKind::octree;
}

/// Replaces values that were not delivered, so that readers do not mistake them for data.
void append_missing(VtkArray& out, Type type, std::uint64_t count) {
  with_type(type, [&](auto value) {
    using T = decltype(value);
    if constexpr (std::numeric_limits<T>::has_quiet_NaN) value = std::numeric_limits<T>::quiet_NaN();
    const std::vector<T> part(std::min<std::uint64_t>(count, 4096), value);
    for (std::uint64_t left = count; left > 0; left -= std::min<std::uint64_t>(left, part.size())) {
      out.append(std::as_bytes(std::span(part).first(std::min<std::uint64_t>(left, part.size()))));
    }
  });
}

/// Converts ids to 64 bits.
void append_ids(VtkArray& out, std::span<const std::byte> values, Type type) {
  if (type == Type::int64) return out.append(values);
  std::vector<std::int32_t> narrow(values.size() / sizeof(std::int32_t));
  std::memcpy(narrow.data(), values.data(), values.size());
  const std::vector<std::int64_t> wide(narrow.begin(), narrow.end());
  out.append(std::as_bytes(std::span(wide)));
}

void write_values(OutputFile& file, const BlockArray& array, const Block& block, VtkCompression compression) {
  const Variable& variable = *array.variable;
  const Box points = variable.points(block);
  const Type type = written_type(variable, array.form);
  Bytes made;
  VtkArray out(file, variable.name, type, variable.components, packed_bytes(points, variable.components, type),
               compression, is_id(variable) ? " IdType=\"1\"" : "");
  if (array.values == nullptr) {
    append_missing(out, type, static_cast<std::uint64_t>(points.count() * variable.components));
  } else {
    for_each_slab(
        array.values->array, points, Order::column, vtk_copy_bytes, [&](std::span<const std::byte> values, const Box&) {
          is_id(variable) ? append_ids(out, values, variable.type) : out.append(array.form.apply(values, made));
        });
  }
  out.finish();
}

/// Marks points and cells that count in another block or nowhere as duplicates; keeps the variable's own bits if it
/// uses VTK's name.
void take_flags(const VtkBlock& block, const Variable& variable, const BlockView& view,
                std::vector<std::uint8_t>& out) {
  std::size_t at = 0;
  for_each_slab(view.array, variable.points(block.block), Order::column, vtk_copy_bytes,
                [&](std::span<const std::byte> values, const Box&) {
                  for (const std::byte value : values) {
                    const auto flag = static_cast<std::uint8_t>(value);
                    out[at++] = flag == 0 || variable.name == flags_name ? flag : duplicate;
                  }
                });
}

void cover(const Box& cells, const Box& covered, std::vector<std::uint8_t>& out) {
  const Box here = intersection(cells, covered);
  for (Index k = here.lo[2]; k < here.hi[2]; ++k) {
    for (Index j = here.lo[1]; j < here.hi[1]; ++j) {
      const Index line = ((k - cells.lo[2]) * cells.extent(1) + j - cells.lo[1]) * cells.extent(0) - cells.lo[0];
      for (Index i = here.lo[0]; i < here.hi[0]; ++i) {
        // Some filters test one of the bits, some the other.
        out[static_cast<std::size_t>(line + i)] |= hidden_cell | refined_cell;
      }
    }
  }
}

/// Hides parents and marks cells of other blocks as duplicates.
void take_tree(const VtkBlock& block, std::vector<std::uint8_t>& out) {
  const BlockView *refined = block.of(Role::refined), *owned = block.of(Role::owned);
  for (std::size_t n = 0; n < out.size(); ++n) {
    const auto at = static_cast<Index>(n);
    if (refined && *refined->array.at<std::uint8_t>(at, 0, 0) != 0) out[n] |= hidden_cell | refined_cell;
    if (owned && *owned->array.at<std::uint8_t>(at, 0, 0) == 0) out[n] |= duplicate;
  }
}

void write_flags(OutputFile& file, const VtkBlock& block, Centering centering, VtkCompression compression) {
  const bool cells = centering == Centering::cell;
  const Box where = points_of(centering, Role::none, block.block);
  std::vector<std::uint8_t> flags(static_cast<std::size_t>(where.count()), block.gap && cells ? hidden_cell : 0);
  for (const BlockArray& array : block.arrays) {
    if (array.variable->role == (cells ? Role::cell_ghosts : Role::point_ghosts) && array.values != nullptr) {
      take_flags(block, *array.variable, *array.values, flags);
    }
  }
  if (cells) take_tree(block, flags);
  for (const Box& covered : block.covered) {
    if (cells && !block.block.is_list()) cover(block.block.cells, covered, flags);
  }
  write_vtk_array(file, flags_name, Type::uint8, 1, std::span<const std::uint8_t>(flags), compression);
}

/// ` GlobalIds="number"` for the section that holds the ids.
std::string ids_attribute(const Variable& variable) {
  return is_id(variable) ? fmt::format(" GlobalIds=\"{}\"", xml_escaped(variable.name)) : std::string();
}

/// Calls f(element, centring) for both centrings in the order that VTK writes them.
template <class F>
void for_centerings(const Mesh& mesh, F f) {
  f("PointData", nodes_of(mesh.dimensions));
  f("CellData", Centering::cell);
}

/// Appends three numbers per point: the given ones, then zeros.
void append_padded(VtkArray& out, std::span<const std::byte> values, std::size_t size, std::size_t dimensions) {
  if (dimensions == 3) return out.append(values);
  std::vector<std::byte> padded(values.size() / dimensions * 3);
  for (std::size_t from = 0, to = 0; from < values.size(); from += dimensions * size, to += 3 * size) {
    std::memcpy(&padded[to], &values[from], dimensions * size);
  }
  out.append(padded);
}

}  // namespace

const BlockView* VtkBlock::of(Role role) const noexcept {
  for (const BlockArray& array : arrays) {
    if (array.variable->role == role) return array.values;
  }
  return nullptr;
}

void write_vtk_fields(OutputFile& file, const Mesh& mesh, const VtkBlock& block, VtkCompression compression) {
  for_centerings(mesh, [&](const char* element, Centering centering) {
    std::vector<const BlockArray*> here;
    std::string ids;
    for (const BlockArray& array : block.arrays) {
      if (array.variable->centering != centering || !is_field(*array.variable)) continue;
      here.push_back(&array);
      ids += ids_attribute(*array.variable);
    }
    file.write(fmt::format("<{}{}>\n", element, ids));
    for (const BlockArray* array : here) write_values(file, *array, block.block, compression);
    if (has_flags(mesh, centering)) write_flags(file, block, centering, compression);
    file.write(fmt::format("</{}>\n", element));
  });
}

void declare_vtk_fields(OutputFile& file, const Mesh& mesh, const std::vector<VtkVariable>& variables) {
  for_centerings(mesh, [&](const char* element, Centering centering) {
    std::string ids, arrays;
    for (const auto& [variable, form] : variables) {
      if (variable->centering != centering || !is_field(*variable)) continue;
      ids += ids_attribute(*variable);
      arrays += fmt::format("<PDataArray type=\"{}\"{} Name=\"{}\" NumberOfComponents=\"{}\"/>\n",
                            vtk_type_name(written_type(*variable, form)), is_id(*variable) ? " IdType=\"1\"" : "",
                            xml_escaped(variable->name), variable->components);
    }
    if (has_flags(mesh, centering)) {
      arrays += fmt::format("<PDataArray type=\"UInt8\" Name=\"{}\" NumberOfComponents=\"1\"/>\n", flags_name);
    }
    file.write(fmt::format("<P{0}{1}>\n{2}</P{0}>\n", element, ids, arrays));
  });
}

void write_vtk_points(OutputFile& file, const VtkBlock& block, VtkCompression compression) {
  for (const BlockArray& array : block.arrays) {
    if (array.variable->role != Role::coordinates) continue;
    const Variable& variable = *array.variable;
    const Box points = variable.points(block.block);
    file.write("<Points>\n");
    VtkArray out(file, variable.name, variable.type, 3, packed_bytes(points, 3, variable.type), compression);
    if (array.values == nullptr) {
      append_missing(out, variable.type, static_cast<std::uint64_t>(3 * points.count()));
    } else {
      Bytes made;
      for_each_slab(array.values->array, points, Order::column, vtk_copy_bytes,
                    [&](std::span<const std::byte> published, const Box&) {
                      const BytesView values = array.form.apply(published, made);
                      append_padded(out, values, size_of(variable.type), static_cast<std::size_t>(variable.components));
                    });
    }
    out.finish();
    file.write("</Points>\n");
  }
}

}  // namespace sidestream
