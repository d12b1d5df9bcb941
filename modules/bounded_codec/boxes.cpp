#include "bounded_codec/boxes.hpp"

#include <algorithm>

namespace sidestream::bounded {

namespace {

/// The largest box that begins with the point `begin` of an array with lines of nx points and layers of `layer` points,
/// and ends at `end` or before.
PointBox box_at(std::uint64_t nx, std::uint64_t layer, std::uint64_t begin, std::uint64_t end) {
  const std::uint64_t layers = begin % layer == 0 ? (end - begin) / layer : 0;
  if (layers > 0) return {.extents = {nx, layer / nx, layers}};
  end = std::min(end, (begin / layer + 1) * layer);
  const std::uint64_t lines = begin % nx == 0 ? (end - begin) / nx : 0;
  if (lines > 0) return {.extents = {nx, lines, 1}};
  return {.extents = {std::min(end, (begin / nx + 1) * nx) - begin, 1, 1}};
}

}  // namespace

std::vector<PointBox> boxes_of(const ChunkPlace& place, std::uint64_t count) {
  const std::uint64_t components = place.components;
  // Where nothing is known the array is one line.
  const std::uint64_t nx = place.points[0] == 0 ? count : place.points[0];
  const std::uint64_t layer = place.points[0] == 0 ? count : nx * place.points[1];
  std::vector<PointBox> boxes;
  for (std::uint64_t c = 0; c < components && c < count; ++c) {
    // The chunk may begin within a point; this component's first point is then the same or the next.
    std::uint64_t element = c, point = (place.first + c) / components;
    const std::uint64_t end = point + (count - c + components - 1) / components;
    while (point < end) {
      PointBox box = box_at(nx, layer, point, end);
      box.element = element;
      box.step = components;
      element += box.points() * components;
      point += box.points();
      boxes.push_back(box);
    }
  }
  return boxes;
}

}  // namespace sidestream::bounded
