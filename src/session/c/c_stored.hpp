// Helpers of the C interfaces that read databases.
#pragma once

#include <algorithm>
#include <map>
#include <string>

#include "session/c/c_session.hpp"
#include "sidestream/data/catalogue.hpp"
#include "sidestream/stored.h"

namespace sidestream {

[[nodiscard]] inline Box box_of(const int64_t* lo, const int64_t* hi) {
  return {{lo[0], lo[1], lo[2]}, {hi[0], hi[1], hi[2]}};
}

inline void put(const Box& box, int64_t* lo, int64_t* hi) {
  std::copy(box.lo.begin(), box.lo.end(), lo);
  std::copy(box.hi.begin(), box.hi.end(), hi);
}

/// The text of entry `number` of `all`, or null beyond the last one.
template <class All>
[[nodiscard]] const char* name_at(const All& all, int32_t number) noexcept {
  if (number < 0 || static_cast<std::size_t>(number) >= all.size()) return nullptr;
  return all[static_cast<std::size_t>(number)].name.c_str();
}

/// The codecs of a variable, which `kept` keeps.
template <class From>
[[nodiscard]] const std::string& kept_codec(std::map<std::string, std::string>& kept, const From& from,
                                            const char* variable) {
  const auto known = kept.find(variable);
  return known != kept.end() ? known->second : kept.emplace(variable, from.codec(variable)).first->second;
}

/// Describes a variable; `codec` must live as long as the description.
[[nodiscard]] inline sidestream_stored_variable described(const Variable& variable, const Mesh& mesh,
                                                          std::int64_t length, const char* codec) {
  sidestream_stored_variable description{};
  description.mesh = mesh.name.c_str();
  description.type = static_cast<sidestream_type>(variable.type);
  description.components = variable.components;
  description.centering = static_cast<int32_t>(variable.centering);
  description.row_order = variable.order == Order::row ? 1 : 0;
  description.is_list = mesh.is_list() ? 1 : 0;
  description.length = length;
  description.role = static_cast<int32_t>(variable.role);
  description.unit = variable.unit.c_str();
  description.label = variable.label.c_str();
  description.group = variable.group.c_str();
  description.codec = codec;
  description.owned_points = mesh.owned_points ? 1 : 0;
  if (!mesh.is_list()) put(mesh.points(variable.centering), description.lo, description.hi);
  return description;
}

/// Bounds of a block's nodes on its own level, or declared bounds.
[[nodiscard]] inline Bounds place_of(const Mesh& mesh, const Block& block, const Index3& ratio) {
  if (mesh.axes() == nullptr || block.cells.empty()) return block.bounds;
  Bounds bounds;
  for (std::size_t a = 0; a < 3; ++a) {
    const auto at = [&](Index cell) {
      const Index below = cell / ratio[a] - (cell % ratio[a] < 0 ? 1 : 0), rest = cell - below * ratio[a];
      const double node = mesh.axes()->node(static_cast<int>(a), below);
      if (rest == 0) return node;
      const double share = static_cast<double>(rest) / static_cast<double>(ratio[a]);
      return node + share * (mesh.axes()->node(static_cast<int>(a), below + 1) - node);
    };
    const bool used = static_cast<int>(a) < mesh.dimensions;
    const double first = at(block.cells.lo[a]), last = used ? at(block.cells.hi[a]) : first;
    bounds.low[a] = std::min(first, last);
    bounds.high[a] = std::max(first, last);
  }
  return bounds;
}

[[nodiscard]] inline sidestream_stored_block described(const Block& block, const Mesh& mesh) {
  sidestream_stored_block own{};
  own.id = block.id;
  own.level = block.level;
  own.client = block.client;
  Block inside = block;
  if (mesh.owned_points) inside.cells = intersection(block.cells, mesh.cells);
  put(mesh.declared(inside.cells), own.lo, own.hi);
  own.points = block.lengths.points;
  own.corners = block.lengths.corners;
  own.faces = block.lengths.faces;
  const Index3 ratio = mesh.is_list() ? Index3{1, 1, 1} : mesh.ratio_to(block.level);
  std::copy(ratio.begin(), ratio.end(), own.ratio);
  const Bounds bounds = place_of(mesh, inside, ratio);
  own.has_bounds = bounds.known() ? 1 : 0;
  if (own.has_bounds == 0) return own;
  std::copy(bounds.low.begin(), bounds.low.end(), own.low);
  std::copy(bounds.high.begin(), bounds.high.end(), own.high);
  return own;
}

/// Reads a box of values of a level from a checkpoint or a context. `array_lo` and `array_hi` are both NULL if the
/// array is as large as the box. `call`: for messages.
template <class Stored>
void read_box_of(Stored& from, const char* call, const char* variable, int32_t level, const int64_t* lo,
                 const int64_t* hi, const int64_t* array_lo, const int64_t* array_hi, void* data) {
  need(variable, call, "variable");
  need(lo, call, "lo");
  need(hi, call, "hi");
  const Box box = box_of(lo, hi);
  if (!box.empty()) need(data, call, "data");
  if ((array_lo == nullptr) != (array_hi == nullptr)) {
    fail(Code::usage, "{}: one of array_lo and array_hi is NULL; give both or none", call);
  }
  from.read_box(variable, level, box, array_lo ? box_of(array_lo, array_hi) : box, data);
}

}  // namespace sidestream
