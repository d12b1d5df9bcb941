// An unstructured mesh with known fields, dealt out to blocks cell by cell, as an analysis sees it on servers.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "data/mesh_arrays.hpp"
#include "sidestream/kit/data/selected_arrays.hpp"
#include "support/fake_domain.hpp"

namespace sidestream::testing {

using Place = std::array<double, 3>;

/// A cell: its VTK type, its points, and the faces if it is a polyhedron.
struct FakeCell {
  std::uint8_t type;
  std::vector<std::int64_t> points;
  std::vector<std::vector<std::int64_t>> faces{};
};

struct FakeMesh {
  std::vector<Place> places;
  std::vector<FakeCell> cells;
};

/// Optional arrays of the mesh.
struct FakeNames {
  bool points = true, cells = true;
  bool shuffled = false;  ///< numbers are not in the order of the list
  bool flags = false;     ///< every block also has a flagged copy of all cells of the next one
  /// Gives the number of a point by its index in the mesh. Without it all numbers differ.
  std::function<std::int64_t(std::int64_t)> numbering{};
  /// Gives vectors, which are the fields `v` at points and `w` in cells. Without it there are none.
  std::function<Place(const Place&)> vectors{};
};

/// The number that a point or cell gets.
inline std::int64_t fake_name(std::int64_t n, bool shuffled) { return shuffled ? (n * 7919 + 13) % 1000003 : n; }

/// A mesh `m`, with the fields `n` at points and `c` in cells.
class FakeLists {
 public:
  using Field = std::function<double(const Place&)>;
  /// `block_of` is the block of each cell. The value of a cell is the field at the mean of its points.
  FakeLists(const FakeMesh& mesh, int dimensions, const std::vector<int>& block_of, int blocks, const Field& at_points,
            const Field& in_cells, const FakeNames& names = {})
      : mesh_(mesh), dimensions_(dimensions), at_points_(at_points), in_cells_(in_cells), names_(names) {
    metadata.meshes.push_back({0, "m", {}, dimensions, std::make_shared<ArrayGeometry>(MeshKind::unstructured)});
    declare("pos", Type::float64, Role::coordinates, dimensions);
    declare("links", Type::int64, Role::connectivity);
    declare("ends", Type::int32, Role::offsets);
    declare("kinds", Type::uint8, Role::types);
    declare("faces", Type::int64, Role::faces);
    declare("face_ends", Type::int64, Role::face_offsets);
    if (names.points) declare("point_ids", Type::int64, Role::point_ids);
    if (names.cells) declare("cell_ids", Type::int32, Role::cell_ids);
    declare("n", Type::float64, Role::none, 1, nodes_of(dimensions));
    declare("c", Type::float32, Role::none, 2, Centering::cell);
    if (names.vectors) {
      declare("v", Type::float64, Role::none, dimensions, nodes_of(dimensions));
      declare("w", Type::float64, Role::none, dimensions, Centering::cell);
    }
    for (int b = 0; b < blocks; ++b) add_block(b, block_of, blocks);
  }

  Metadata metadata;
  /// The views of some blocks, by variable.
  [[nodiscard]] std::vector<std::vector<BlockView>> views(const std::vector<std::size_t>& blocks) const {
    std::vector<std::vector<BlockView>> all(metadata.variables.size());
    for (const std::size_t b : blocks) {
      for (std::size_t v = 0; v < all.size(); ++v) all[v].push_back(blocks_[b][v]);
    }
    return all;
  }
  [[nodiscard]] std::size_t blocks() const { return blocks_.size(); }

 private:
  void declare(const std::string& name, Type type, Role role, int components = 1, Centering centering = {}) {
    Variable v;
    v.id = static_cast<std::int32_t>(metadata.variables.size());
    v.name = name;
    v.mesh = 0;
    v.type = type;
    v.components = components;
    v.centering = centering;
    metadata.variables.push_back(v);
    if (role != Role::none) assign_role(metadata, "m", role, name);
  }

  template <class T>
  void give(const char* name, const Block& block, const std::vector<T>& values, int components = 1) {
    const Variable& variable = *metadata.find_variable(name);
    BlockView view;
    view.block = block;
    view.points = list_box(static_cast<Index>(values.size()) / components);
    view.owned = {view.points};
    view.array.type = variable.type;
    view.array.box = view.points;
    view.array.components = components;
    view.array.strides = packed_strides(view.points, components, Order::column);
    Bytes& bytes = memory_.emplace_back(std::max<std::size_t>(8, values.size() * size_of(variable.type)));
    with_type(variable.type, [&](auto zero) {
      auto* to = reinterpret_cast<decltype(zero)*>(bytes.data());
      for (const T value : values) *to++ = static_cast<decltype(zero)>(value);
    });
    view.array.data = bytes.data();
    if (variable.centering == Centering::cell && variable.role != Role::connectivity && variable.role != Role::faces &&
        names_.flags) {
      view.ghosts.type = Type::uint8;
      view.ghosts.box = view.points;
      view.ghosts.data = memory_.emplace_back(flags_).data();
    }
    blocks_.back()[static_cast<std::size_t>(variable.id)] = view;
  }

  void add_block(int b, const std::vector<int>& block_of, int blocks) {
    std::vector<std::size_t> cells;
    flags_.clear();
    for (int copy = 0; copy < (names_.flags ? 2 : 1); ++copy) {
      for (std::size_t c = 0; c < mesh_.cells.size(); ++c) {
        if (block_of[c] != (b + copy) % blocks) continue;
        cells.push_back(c);
        flags_.push_back(std::byte(copy));
      }
    }
    flags_.resize(std::max<std::size_t>(1, flags_.size()));
    std::set<std::int64_t> used;
    for (const std::size_t c : cells) used.insert(mesh_.cells[c].points.begin(), mesh_.cells[c].points.end());
    std::vector<std::int64_t> points(used.begin(), used.end());
    if (b % 2 == 1) std::reverse(points.begin(), points.end());  // the local order has no meaning
    std::map<std::int64_t, std::int64_t> local;
    for (std::size_t p = 0; p < points.size(); ++p) local[points[p]] = static_cast<std::int64_t>(p);
    std::vector<std::int64_t> links, ends, kinds, faces, face_ends, ids, cell_ids;
    std::vector<double> pos, n, c, v, w;
    const auto add_vector = [&](const Place& at, std::vector<double>& to) {
      if (!names_.vectors) return;
      const Place vector = names_.vectors(at);
      to.insert(to.end(), vector.begin(), vector.begin() + dimensions_);
    };
    for (const std::int64_t p : points) {
      const Place& x = mesh_.places[static_cast<std::size_t>(p)];
      pos.insert(pos.end(), x.begin(), x.begin() + dimensions_);
      n.push_back(at_points_(x));
      add_vector(x, v);
      ids.push_back(names_.numbering ? names_.numbering(p) : fake_name(p, names_.shuffled));
    }
    for (const std::size_t cell : cells) {
      const FakeCell& one = mesh_.cells[cell];
      Place middle{};
      for (const std::int64_t p : one.points) {
        links.push_back(local[p]);
        for (std::size_t d = 0; d < 3; ++d) {
          middle[d] += mesh_.places[static_cast<std::size_t>(p)][d] / static_cast<double>(one.points.size());
        }
      }
      ends.push_back(static_cast<std::int64_t>(links.size()));
      kinds.push_back(one.type);
      if (!one.faces.empty()) faces.push_back(static_cast<std::int64_t>(one.faces.size()));
      for (const auto& face : one.faces) {
        faces.push_back(static_cast<std::int64_t>(face.size()));
        for (const std::int64_t p : face) faces.push_back(local[p]);
      }
      face_ends.push_back(one.faces.empty() ? -1 : static_cast<std::int64_t>(faces.size()));
      cell_ids.push_back(fake_name(static_cast<std::int64_t>(cell), names_.shuffled));
      c.insert(c.end(), {in_cells_(middle), 1 + in_cells_(middle)});
      add_vector(middle, w);
    }
    Block block;
    block.id = b;
    block.space = IndexSpace::list;
    block.cells = list_box(static_cast<Index>(cells.size()));
    block.lengths = {static_cast<Index>(points.size()), static_cast<Index>(links.size()),
                     static_cast<Index>(faces.size())};
    blocks_.emplace_back(metadata.variables.size());
    give("pos", block, pos, dimensions_);
    give("links", block, links);
    give("ends", block, ends);
    give("kinds", block, kinds);
    give("faces", block, faces);
    give("face_ends", block, face_ends);
    if (names_.points) give("point_ids", block, ids);
    if (names_.cells) give("cell_ids", block, cell_ids);
    give("n", block, n);
    give("c", block, c, 2);
    if (!names_.vectors) return;
    give("v", block, v, dimensions_);
    give("w", block, w, dimensions_);
  }

  FakeMesh mesh_;
  int dimensions_;
  Field at_points_, in_cells_;
  FakeNames names_;
  std::vector<std::byte> flags_;
  std::deque<Bytes> memory_;
  std::vector<std::vector<BlockView>> blocks_;  ///< [block][variable]
};

/// Runs an analysis through all its passes, blocks dealt out to the members in turn.
inline CapturedResults run_lists(const AnalysisKind& kind, const std::string& yaml, const FakeLists& lists,
                                 Communicator& servers) {
  const auto analysis = kind.create(fake_settings(kind, yaml, lists.metadata), lists.metadata);
  static_cast<void>(with_mesh_arrays(analysis->selection(), lists.metadata));  // this call checks the selection
  std::vector<std::size_t> mine;
  for (auto b = static_cast<std::size_t>(servers.rank()); b < lists.blocks();
       b += static_cast<std::size_t>(servers.size())) {
    mine.push_back(b);
  }
  const std::vector<std::vector<BlockView>> views = lists.views(mine);
  CapturedResults results;
  Bytes feedback;
  const Iteration iteration;
  for (int pass = 0; pass < analysis->passes(); ++pass) {
    const LocalInput input{iteration, lists.metadata, views, pass, feedback};
    const std::vector<Bytes> partials{analysis->local(input)};
    feedback = analysis->combine({iteration, lists.metadata, partials, pass, servers, results, &input});
  }
  return results;
}

inline CapturedResults run_lists(const AnalysisKind& kind, const std::string& yaml, const FakeLists& lists) {
  MpiCommunicator self(MPI_COMM_SELF);
  return run_lists(kind, yaml, lists, self);
}

// ---- meshes of a cube from -1 to 1 ----------------------------------------------------------------------------------

/// n^3 cubes, deformed smoothly and divided into cells of the kind of their column.
class FakeCubes {
 public:
  enum class Made { hexahedra, voxels, wedges, pyramids, tetrahedra, polyhedra, mixed };

  FakeCubes(std::int64_t n, Made made, double bend = 0.1) : n_(n) {
    for (std::int64_t k = 0; k <= n; ++k) {
      for (std::int64_t j = 0; j <= n; ++j) {
        for (std::int64_t i = 0; i <= n; ++i) mesh_.places.push_back(bent(at(i), at(j), at(k), bend));
      }
    }
    for (std::int64_t k = 0; k < n; ++k) {
      for (std::int64_t j = 0; j < n; ++j) {
        for (std::int64_t i = 0; i < n; ++i) {
          constexpr Made columns[] = {Made::hexahedra, Made::wedges, Made::pyramids, Made::polyhedra};
          add(i, j, k, made == Made::mixed ? columns[(2 * i + j) % 4] : made);
        }
      }
    }
  }
  [[nodiscard]] const FakeMesh& mesh() const { return mesh_; }
  /// Deforms the cube, and keeps its outer faces where they are.
  [[nodiscard]] static Place bent(double x, double y, double z, double bend) {
    const double w = bend * (1 - x * x) * (1 - y * y) * (1 - z * z);
    return {x + w * std::sin(3 * y + z), y + w * std::cos(2 * z - x), z + w * std::sin(2 * x + 3 * y)};
  }

 private:
  [[nodiscard]] double at(std::int64_t i) const { return -1 + 2 * static_cast<double>(i) / static_cast<double>(n_); }
  [[nodiscard]] std::int64_t point(std::int64_t i, std::int64_t j, std::int64_t k) const {
    return (k * (n_ + 1) + j) * (n_ + 1) + i;
  }

  void add(std::int64_t i, std::int64_t j, std::int64_t k, Made made) {
    std::array<std::int64_t, 8> p;  // x fastest
    for (int c = 0; c < 8; ++c) p[static_cast<std::size_t>(c)] = point(i + (c & 1), j + (c >> 1 & 1), k + (c >> 2));
    const std::vector<std::int64_t> round{p[0], p[1], p[3], p[2], p[4], p[5], p[7], p[6]};
    const std::vector<std::vector<std::int64_t>> faces{{p[0], p[2], p[3], p[1]}, {p[4], p[5], p[7], p[6]},
                                                       {p[0], p[1], p[5], p[4]}, {p[1], p[3], p[7], p[5]},
                                                       {p[3], p[2], p[6], p[7]}, {p[2], p[0], p[4], p[6]}};
    switch (made) {
      case Made::voxels:
        return mesh_.cells.push_back({11, {p.begin(), p.end()}});
      case Made::wedges:  // one as VTK has it, one mirrored
        mesh_.cells.push_back({13, {p[0], p[3], p[1], p[4], p[7], p[5]}});
        return mesh_.cells.push_back({13, {p[0], p[3], p[2], p[4], p[7], p[6]}});
      case Made::pyramids:
        return add_pyramids(round, faces);
      case Made::tetrahedra:  // Kuhn's six round the diagonal
        for (const std::array<int, 2>& way : {std::array{1, 3}, {3, 2}, {2, 6}, {6, 4}, {4, 5}, {5, 1}}) {
          mesh_.cells.push_back(
              {10, {p[0], p[static_cast<std::size_t>(way[0])], p[static_cast<std::size_t>(way[1])], p[7]}});
        }
        return;
      case Made::polyhedra: {
        auto turned = faces;  // faces need not have the same orientation
        std::reverse(turned[1].begin(), turned[1].end());
        std::reverse(turned[4].begin(), turned[4].end());
        return mesh_.cells.push_back({42, round, turned});
      }
      default:
        return mesh_.cells.push_back({12, round});
    }
  }

  void add_pyramids(const std::vector<std::int64_t>& corners, const std::vector<std::vector<std::int64_t>>& faces) {
    Place middle{};
    for (const std::int64_t p : corners) {
      for (std::size_t d = 0; d < 3; ++d) middle[d] += mesh_.places[static_cast<std::size_t>(p)][d] / 8;
    }
    const auto apex = static_cast<std::int64_t>(mesh_.places.size());
    mesh_.places.push_back(middle);
    for (const auto& face : faces) mesh_.cells.push_back({14, {face[0], face[1], face[2], face[3], apex}});
  }

  std::int64_t n_;
  FakeMesh mesh_;
};

/// Numbers of the points of n^3 cubes as a periodic code gives them. Points at both ends of an axis have the same
/// number.
inline std::function<std::int64_t(std::int64_t)> periodic_numbering(std::int64_t n) {
  return [n](std::int64_t p) {
    const std::int64_t i = p % (n + 1), j = p / (n + 1) % (n + 1), k = p / ((n + 1) * (n + 1));
    return ((k % n) * n + j % n) * n + i % n;
  };
}

}  // namespace sidestream::testing
