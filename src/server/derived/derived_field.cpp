#include "server/derived/derived_field.hpp"

#include <limits>

namespace sidestream {

InputValues::InputValues(const BlockView& view, const Box& region) : view_(view), region_(region) {
  // Pieces of decompositions have no values at the points that they list as absent.
  own_ = view.absent.empty() ? std::vector<Box>{view.points} : view.owned;
  for (const Box& box : own_) there_.push_back(intersection(box, region));
  for (const HaloPiece& piece : view.halo) there_.push_back(intersection(piece.box, region));
  direct_ = view.absent.empty() && view.halo.empty() && view.points.contains(region);
  field_.box = region;
  field_.components.resize(static_cast<std::size_t>(view.array.components));
}

const std::vector<double>& InputValues::gathered(int component) {
  std::vector<double>& values = field_.components[static_cast<std::size_t>(component)];
  if (!values.empty()) return values;
  values.assign(static_cast<std::size_t>(region_.count()), std::numeric_limits<double>::quiet_NaN());
  for (const Box& box : own_)
    copy_to_double(view_.array, component, intersection(box, region_), values.data(), region_);
  for (const HaloPiece& piece : view_.halo) {
    copy_to_double(piece.array, component, intersection(piece.box, region_), values.data(), region_);
  }
  return values;
}

void InputValues::read(int component, const PointLine& line, double* out) {
  if (direct_) {
    const Index3& p = line.first;
    const Box box{p, {p[0] + line.count, p[1] + 1, p[2] + 1}};
    return copy_to_double(view_.array, component, box, out, box);
  }
  const std::vector<double>& values = gathered(component);
  std::copy_n(values.data() + field_.offset(line.first), line.count, out);
}

Presence::Presence(const Box& region, const std::vector<const InputValues*>& inputs) : region_(region) {
  for (const InputValues* input : inputs) {
    std::vector<Box> rest{region};
    for (const Box& box : input->there()) rest = difference(rest, box);
    for (const Box& box : rest) {
      missing_.resize(static_cast<std::size_t>(region.count()), false);
      for_each_line(box, [&](const PointLine& line, Index) {
        const DerivedField whole{region};
        const auto first = static_cast<std::ptrdiff_t>(whole.offset(line.first));
        std::fill_n(missing_.begin() + first, line.count, true);
      });
    }
  }
}

namespace {

double node_at(const Mesh& mesh, const Index3& ratio, int axis, Index index) {
  const auto a = static_cast<std::size_t>(axis);
  const auto* uniform = dynamic_cast<const UniformGeometry*>(mesh.geometry.get());
  if (ratio[a] == 1 || uniform == nullptr) return mesh.axes()->node(axis, index);
  return uniform->origin()[a] + uniform->spacing()[a] * (static_cast<double>(index) / static_cast<double>(ratio[a]));
}

/// The number of periods of n points that shifts an index down into the mesh; the smallest in magnitude.
Index repetitions(Index index, Index low, Index n, Index points) {
  if (index < low) return -((low - index + n - 1) / n);
  if (index >= low + points) return (index - low - points) / n + 1;
  return 0;
}

/// Means of neighbours along an axis.
DerivedField halved(const DerivedField& field, int axis) {
  const auto a = static_cast<std::size_t>(axis);
  DerivedField result{field.box};
  --result.box.hi[a];
  for (const std::vector<double>& values : field.components) {
    std::vector<double>& means = result.components.emplace_back(static_cast<std::size_t>(result.box.count()));
    for_each_line(result.box, [&](const PointLine& line, Index offset) {
      Index3 next = line.first;
      ++next[a];
      const double* lower = values.data() + field.offset(line.first);
      const double* upper = values.data() + field.offset(next);
      for (Index i = 0; i < line.count; ++i) means[static_cast<std::size_t>(offset + i)] = 0.5 * (lower[i] + upper[i]);
    });
  }
  return result;
}

}  // namespace

DerivedPoints::DerivedPoints(const Mesh& mesh, std::int32_t level, Centering centering, const Box& region,
                             const BlockView* coordinates)
    : region_(region) {
  if (region.empty()) return;
  if (mesh.axes() != nullptr) {
    for (int axis = 0; axis < mesh.dimensions; ++axis) find_along(mesh, level, centering, axis);
  } else if (coordinates != nullptr) {
    curved_ = true;
    take_coordinates(mesh, centering, *coordinates);
  }
}

void DerivedPoints::find_along(const Mesh& mesh, std::int32_t level, Centering centering, int axis) {
  const auto a = static_cast<std::size_t>(axis);
  const Index3 ratio = mesh.ratio_to(level);
  const Box cells = mesh.cells_on(level);
  if (const auto* uniform = dynamic_cast<const UniformGeometry*>(mesh.geometry.get())) {
    spacing_[a] = uniform->spacing()[a] / static_cast<double>(ratio[a]);
  }
  const auto node = [&](Index index) { return node_at(mesh, ratio, axis, index); };
  const double length = mesh.periodic[a] ? node(cells.hi[a]) - node(cells.lo[a]) : 0;
  const bool nodes = at_nodes(centering, axis);
  for (Index index = region_.lo[a]; index < region_.hi[a]; ++index) {
    const Index n = cells.extent(axis), away = repetitions(index, cells.lo[a], n, n + (nodes ? 1 : 0));
    const Index own = index - away * n;
    const double place = nodes ? node(own) : 0.5 * (node(own) + node(own + 1));
    own_[a].push_back(place);
    places_[a].push_back(place + static_cast<double>(away) * length);
  }
}

void DerivedPoints::take_coordinates(const Mesh& mesh, Centering centering, const BlockView& coordinates) {
  field_.box = region_;
  for (int axis = 0; axis < mesh.dimensions && !mesh.is_list(); ++axis) {
    if (!at_nodes(centering, axis)) ++field_.box.hi[static_cast<std::size_t>(axis)];
  }
  InputValues nodes(coordinates, field_.box);
  for (int d = 0; d < mesh.dimensions; ++d) {
    std::vector<double>& values = field_.components.emplace_back(static_cast<std::size_t>(field_.box.count()));
    for_each_line(field_.box,
                  [&](const PointLine& line, Index offset) { nodes.read(d, line, values.data() + offset); });
  }
  for (int axis = 0; axis < mesh.dimensions && !mesh.is_list(); ++axis) {
    if (!at_nodes(centering, axis)) field_ = halved(field_, axis);
  }
}

}  // namespace sidestream
