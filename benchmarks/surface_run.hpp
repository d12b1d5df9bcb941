// Meshes with a field, for the benchmarks of surfaces.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "data/mesh_arrays.hpp"
#include "visualisation/extract/extract.hpp"

namespace benchmark {

using namespace sidestream;

struct Sizes {
  Index cells;
  [[nodiscard]] Index nodes() const { return cells + 1; }
  [[nodiscard]] Index points() const { return nodes() * nodes() * nodes(); }
};

/// A mesh of one block with a field `n` at its points or in its cells, and the input of an analysis.
class Run {
 public:
  /// `waves`: radians along each axis.
  Run(MeshKind kind, const Sizes& sizes, double waves = 20, Centering centering = Centering::node)
      : sizes_(sizes), waves_(waves) {
    const Index n = sizes.cells;
    const double h = 1.0 / static_cast<double>(n);
    std::shared_ptr<const Geometry> geometry = std::make_shared<ArrayGeometry>(kind);
    if (kind == MeshKind::uniform) {
      geometry = std::make_shared<UniformGeometry>(std::array{0.0, 0.0, 0.0}, std::array{h, h, h});
    }
    metadata_.meshes.push_back({0, "m", {{0, 0, 0}, {n, n, n}}, 3, geometry});
    block_.cells = metadata_.meshes[0].cells;
    if (kind == MeshKind::unstructured) {
      const Index cells = 6 * n * n * n;
      block_.space = IndexSpace::list;
      block_.cells = list_box(cells);
      block_.lengths = {sizes.points(), 4 * cells, 0};
      add_tetrahedra();
    }
    add_values(centering);
    if (kind != MeshKind::uniform) add_places();
    input_.emplace(LocalInput{iteration_, metadata_, views_, 0, {}});
  }
  Run(const Run&) = delete;

  [[nodiscard]] const LocalInput& input() const { return *input_; }
  [[nodiscard]] std::int32_t field() const { return metadata_.find_variable("n")->id; }

 private:
  void give(const char* name, Role role, Type type, int components, Centering centering, const void* data) {
    Variable v;
    v.id = static_cast<std::int32_t>(metadata_.variables.size());
    v.name = name;
    v.mesh = 0;
    v.type = type;
    v.components = components;
    v.centering = centering;
    metadata_.variables.push_back(v);
    if (role != Role::none) assign_role(metadata_, "m", role, name);
    BlockView& view = views_.emplace_back().emplace_back();
    view.block = block_;
    view.points = metadata_.variables.back().points(block_);
    view.owned = {view.points};
    view.array = {data,        type,       MemorySpace::host,
                  view.points, components, packed_strides(view.points, components, Order::column)};
  }

  /// Calls f with x, y and z, x fastest, of the points that are `shift` of a cell above the nodes.
  template <class F>
  static void for_points(Index count, double step, double shift, F f) {
    const auto at = [&](Index i) { return step * (static_cast<double>(i) + shift); };
    for (Index k = 0; k < count; ++k) {
      for (Index j = 0; j < count; ++j) {
        for (Index i = 0; i < count; ++i) f(at(i), at(j), at(k));
      }
    }
  }

  void add_values(Centering centering) {
    const double h = 1.0 / static_cast<double>(sizes_.cells);
    const bool nodes = centering == Centering::node;
    for_points(nodes ? sizes_.nodes() : sizes_.cells, h, nodes ? 0 : 0.5, [&](double x, double y, double z) {
      const double a = waves_ * x, b = waves_ * y, c = waves_ * z;
      values_.push_back(std::sin(a) * std::cos(b) + std::sin(b) * std::cos(c) + std::sin(c) * std::cos(a));
    });
    give("n", Role::none, Type::float64, 1, centering, values_.data());
  }

  void add_places() {
    const double h = 1.0 / static_cast<double>(sizes_.cells);
    for_points(sizes_.nodes(), h, 0, [&](double x, double y, double z) { places_.insert(places_.end(), {x, y, z}); });
    give("pos", Role::coordinates, Type::float64, 3, Centering::node, places_.data());
  }

  void add_tetrahedra() {
    constexpr int ways[6][2] = {{1, 3}, {3, 2}, {2, 6}, {6, 4}, {4, 5}, {5, 1}};  // around the diagonal from 0 to 7
    const Index n = sizes_.cells, row = sizes_.nodes(), plane = row * row;
    for (Index cube = 0; cube < n * n * n; ++cube) {
      const Index first = cube / (n * n) * plane + cube / n % n * row + cube % n;
      const auto point = [&](int c) { return first + (c & 1) + (c >> 1 & 1) * row + (c >> 2) * plane; };
      for (const auto& [a, b] : ways) {
        links_.insert(links_.end(), {point(0), point(a), point(b), point(7)});
        ends_.push_back(static_cast<std::int64_t>(links_.size()));
      }
    }
    types_.assign(ends_.size(), 10);
    give("links", Role::connectivity, Type::int64, 1, Centering::cell, links_.data());
    give("ends", Role::offsets, Type::int64, 1, Centering::cell, ends_.data());
    give("types", Role::types, Type::uint8, 1, Centering::cell, types_.data());
  }

  Sizes sizes_;
  double waves_;
  Iteration iteration_;
  Metadata metadata_;
  Block block_;
  std::vector<double> values_, places_;
  std::vector<std::int64_t> links_, ends_;
  std::vector<std::uint8_t> types_;
  std::vector<std::vector<BlockView>> views_;
  std::optional<LocalInput> input_;
};

}  // namespace benchmark
