// A mesh with known fields, divided among blocks in any way, as an analysis sees it on servers. It has ownership of
// shared nodes and halos from neighbours. Ghosts and copies of shared nodes hold wrong values on purpose.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "base/mpi/communicator.hpp"
#include "config/options/document.hpp"
#include "config/options/read_settings.hpp"
#include "sidestream/extend/analysis.hpp"
#include "sidestream/kit/data/beside_results.hpp"
#include "sidestream/kit/data/selected_arrays.hpp"

namespace sidestream::testing {

inline constexpr std::array<Centering, centering_count> every_centering{
    Centering::cell,   Centering::x_face, Centering::y_face, Centering::z_edge,
    Centering::z_face, Centering::y_edge, Centering::x_edge, Centering::node};

/// A variable, and a function for its value at a point, from position, indices and component.
struct FakeField {
  std::string name;
  std::function<double(const std::array<double, 3>& x, const Index3& p, int c)> value;
  Centering centering = Centering::cell;
  int components = 1;
  Type type = Type::float64;
  Order order = Order::column;
};

/// A mesh "grid" with fields on it.
struct FakeDomain {
  FakeDomain(const Box& cells, std::shared_ptr<const Geometry> geometry, std::vector<FakeField> given,
             int dimensions = 3)
      : fields(std::move(given)) {
    metadata.meshes.push_back({0, "grid", cells, dimensions, std::move(geometry)});
    for (const FakeField& field : fields) {
      Variable v;
      v.id = static_cast<std::int32_t>(metadata.variables.size());
      v.name = field.name;
      v.mesh = 0;
      v.type = field.type;
      v.centering = reduced(field.centering, dimensions);
      v.components = field.components;
      v.order = field.order;
      metadata.variables.push_back(v);
    }
  }
  [[nodiscard]] const Mesh& mesh() const { return metadata.meshes[0]; }
  [[nodiscard]] double value(std::size_t field, const Index3& p, int c) const {
    const FakeField& f = fields[field];
    std::array<double, 3> x{};
    if (const Axes* axes = mesh().geometry->axes()) {
      for (int a = 0; a < 3; ++a) x[a] = axes->position(f.centering, a, p[a]);
    }
    return f.value(x, p, c);
  }

  Metadata metadata;
  std::vector<FakeField> fields;
};

/// A cube of n cells on each axis from `low` to `high`.
inline FakeDomain fake_cube(Index n, double low, double high, std::vector<FakeField> fields) {
  const double h = (high - low) / static_cast<double>(n);
  return FakeDomain({{0, 0, 0}, {n, n, n}},
                    std::make_shared<UniformGeometry>(std::array{low, low, low}, std::array{h, h, h}),
                    std::move(fields));
}

/// A square of n x n cells, of two dimensions, at z = `low`.
inline FakeDomain fake_square(Index n, double low, double high, std::vector<FakeField> fields) {
  const double h = (high - low) / static_cast<double>(n);
  return FakeDomain({{0, 0, 0}, {n, n, 1}},
                    std::make_shared<UniformGeometry>(std::array{low, low, low}, std::array{h, h, h}),
                    std::move(fields), 2);
}

/// Disjoint boxes of cells; block ids are their positions.
using Division = std::vector<Box>;

/// n[0] x n[1] x n[2] blocks, as even as possible.
inline Division even_division(const Box& cells, const Index3& n) {
  Division boxes;
  const auto cut = [&](int a, Index part) { return cells.lo[a] + cells.extent(a) * part / n[a]; };
  for (Index k = 0; k < n[2]; ++k) {
    for (Index j = 0; j < n[1]; ++j) {
      for (Index i = 0; i < n[0]; ++i) {
        boxes.push_back({{cut(0, i), cut(1, j), cut(2, k)}, {cut(0, i + 1), cut(1, j + 1), cut(2, k + 1)}});
      }
    }
  }
  return boxes;
}

/// `count` blocks from random cuts. They are uneven, with corners that meet faces, and ids are shuffled.
inline Division random_division(const Box& cells, std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  Division boxes{cells};
  while (boxes.size() < count) {
    std::size_t largest = 0;
    for (std::size_t n = 1; n < boxes.size(); ++n) {
      if (boxes[n].count() > boxes[largest].count()) largest = n;
    }
    int axis = static_cast<int>(random() % 3);
    while (boxes[largest].extent(axis) < 2) axis = (axis + 1) % 3;
    Box rest = boxes[largest];
    const Index cut = rest.lo[axis] + 1 + static_cast<Index>(random() % static_cast<unsigned>(rest.extent(axis) - 1));
    boxes[largest].hi[axis] = rest.lo[axis] = cut;
    boxes.push_back(rest);
  }
  std::shuffle(boxes.begin(), boxes.end(), random);
  return boxes;
}

/// The views of some blocks of a domain, and the memory that they refer to.
class FakeServer {
 public:
  /// `mine` has the ids of this server's blocks, ascending, `absent` those of blocks that nobody delivered. Arrays have
  /// `ghosts` layers of wrong values around them.
  FakeServer(const FakeDomain& domain, const Division& division, const std::vector<std::size_t>& mine,
             const Selection& selection, int ghosts, const std::vector<std::size_t>& absent = {})
      : views_(domain.metadata.variables.size()) {
    const auto is_absent = [&](std::size_t id) { return std::find(absent.begin(), absent.end(), id) != absent.end(); };
    std::map<std::int32_t, std::int32_t> halos;  // a variable may be selected several times
    for (const Selected& selected : selection.variables) {
      halos[selected.variable] = std::max(halos[selected.variable], selected.halo);
    }
    for (const auto& [selected, halo] : halos) {
      const auto v = static_cast<std::size_t>(selected);
      const Variable& variable = domain.metadata.variables[v];
      std::vector<std::vector<Box>> owned;
      for (std::size_t id = 0; id < division.size(); ++id)
        owned.push_back(owned_points(variable, division, id, absent));
      for (const std::size_t id : mine) {
        if (is_absent(id)) continue;
        BlockView view;
        view.block.id = static_cast<std::int64_t>(id);
        view.block.cells = division[id];
        view.points = variable.points(division[id]);
        view.owned = owned[id];
        view.array = array(domain, v, grown(view.points, ghosts), owned[id]);
        const Box around = grown(view.points, halo);
        for (std::size_t other = 0; other < division.size(); ++other) {
          if (other == id || is_absent(other)) continue;
          for (const Box& box : owned[other]) {
            const Box piece = intersection(box, around);
            if (!piece.empty()) view.halo.push_back({piece, array(domain, v, piece, {piece})});
          }
        }
        views_[v].push_back(std::move(view));
      }
    }
  }
  [[nodiscard]] const std::vector<std::vector<BlockView>>& views() const { return views_; }

 private:
  static std::vector<Box> owned_points(const Variable& variable, const Division& division, std::size_t id,
                                       const std::vector<std::size_t>& absent) {
    std::vector<Box> boxes{variable.points(division[id])};
    for (std::size_t lower = 0; lower < id; ++lower) {
      if (std::find(absent.begin(), absent.end(), lower) != absent.end()) continue;
      boxes = difference(boxes, variable.points(division[lower]));
    }
    return boxes;
  }

  ArrayView array(const FakeDomain& domain, std::size_t v, const Box& box, const std::vector<Box>& right) {
    const Variable& variable = domain.metadata.variables[v];
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
      std::fill_n(data, bytes.size() / sizeof(T), static_cast<T>(117));
      for (const Box& part : right) {
        for (Index k = part.lo[2]; k < part.hi[2]; ++k) {
          for (Index j = part.lo[1]; j < part.hi[1]; ++j) {
            for (Index i = part.lo[0]; i < part.hi[0]; ++i) {
              for (int c = 0; c < variable.components; ++c) {
                *const_cast<T*>(view.at<T>(i, j, k, c)) = static_cast<T>(domain.value(v, {i, j, k}, c));
              }
            }
          }
        }
      }
    });
    return view;
  }

  std::deque<Bytes> memory_;
  std::vector<std::vector<BlockView>> views_;
};

/// Results kept in memory.
class CapturedResults final : public Results, public ResultServices {
 public:
  void add(const std::string& file, const Table& table) override { tables[file] = table; }
  void add(const std::string& file, const Image& image) override { images[file] = image; }
  void add(const std::string& file, const Surface& surface) override { surfaces[file] = surface; }
  void add(const std::string& file, const CellSet& cells) override { cell_sets[file] = cells; }
  void add(const std::string& file, const DataSet& data) override { data_sets[file] = data; }
  void draw(const ChartOrder& order) override { charts[order.image] = order; }
  std::string add_picture(const std::string& database, const std::string& name, const Image& image) override {
    images[database + "/" + name] = image;
    return name;
  }
  void list_pictures(const std::string& database, const Table& rows) override { tables[database] = rows; }
  std::vector<std::vector<std::string>> earlier_rows(const std::string& file) const override {
    const auto found = earlier.find(file);
    return found == earlier.end() ? std::vector<std::vector<std::string>>() : found->second;
  }
  void remark(const std::string& sentence) override { remarks += sentence; }
  std::string take_remarks() override { return std::exchange(remarks, {}); }
  std::map<std::string, std::vector<std::vector<std::string>>> earlier;  ///< rows of earlier runs, by file
  std::string remarks;
  std::map<std::string, ChartOrder> charts;
  std::map<std::string, CellSet> cell_sets;
  std::map<std::string, DataSet> data_sets;
  std::map<std::string, Table> tables;
  std::map<std::string, Image> images;
  std::map<std::string, Surface> surfaces;
};

/// The settings of a kind from `yaml`, an analysis' options such as `{variable: a}`. Surfaces are in double precision
/// by default, because tests compare more than seven digits.
inline Settings fake_settings(const AnalysisKind& kind, std::string yaml, const Metadata& metadata) {
  const Parameters none;
  const bool choice = std::any_of(kind.options.begin(), kind.options.end(),
                                  [](const Option& option) { return option.name == "precision"; });
  if (choice && yaml.find("precision:") == std::string::npos) yaml.insert(1, "precision: double, ");
  const Node node = parse_node(yaml, "test.yaml");
  return read_settings(node, kind.options, "the analysis '" + kind.name + "'", node.where,
                       {ExpressionContext{none}, &metadata});
}

struct FakeRun {
  int ghosts = 0;
  /// Calls of `local` on each server. Blocks are dealt out in turn, and some calls may have none.
  std::size_t partials = 1;
  std::vector<std::size_t> absent{};
  Iteration iteration{};
};

/// Runs an analysis through all its passes on the members of `communicator`, blocks dealt out in turn.
inline CapturedResults run_analysis(const AnalysisKind& kind, const std::string& yaml, const FakeDomain& domain,
                                    const Division& division, Communicator& communicator, const FakeRun& how = {}) {
  const auto analysis = kind.create(fake_settings(kind, yaml, domain.metadata), domain.metadata);
  const auto servers = static_cast<std::size_t>(communicator.size()),
             me = static_cast<std::size_t>(communicator.rank());
  std::vector<std::vector<std::size_t>> mine(how.partials);
  for (std::size_t id = 0; id < division.size(); ++id) {
    if (id % servers == me) mine[id / servers % how.partials].push_back(id);
  }
  const Selection selection(with_mesh_arrays(analysis->selection(), domain.metadata));
  std::deque<FakeServer> groups;
  for (const auto& ids : mine) {
    groups.emplace_back(domain, division, ids, selection, how.ghosts, how.absent);
  }
  CapturedResults results;
  Bytes feedback;
  for (int pass = 0; pass < analysis->passes(); ++pass) {
    std::vector<Bytes> partials;
    std::optional<LocalInput> input;
    for (const FakeServer& group : groups) {
      input.emplace(LocalInput{how.iteration, domain.metadata, group.views(), pass, feedback});
      input->stays = groups.size() == 1;  // as on a server that combines what it has reduced
      partials.push_back(analysis->local(*input));
    }
    feedback = analysis->combine({how.iteration, domain.metadata, partials, pass, communicator, results,
                                  groups.size() == 1 ? &*input : nullptr});
  }
  return results;
}

/// The same, only in this process.
inline CapturedResults run_alone(const AnalysisKind& kind, const std::string& yaml, const FakeDomain& domain,
                                 const Division& division, const FakeRun& how = {}) {
  MpiCommunicator self(MPI_COMM_SELF);
  return run_analysis(kind, yaml, domain, division, self, how);
}

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

inline bool same_bits(const std::vector<Surface::Array>& a, const std::vector<Surface::Array>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t n = 0; n < a.size(); ++n) {
    if (a[n].name != b[n].name || a[n].components != b[n].components || !same_bits(a[n].values, b[n].values)) {
      return false;
    }
  }
  return true;
}

inline bool same_bits(const CellSet& a, const CellSet& b) {
  return same_bits(a.points, b.points) && a.types == b.types && a.ends == b.ends && a.links == b.links &&
         a.faces == b.faces && a.face_ends == b.face_ends && same_bits(a.point_data, b.point_data) &&
         same_bits(a.cell_data, b.cell_data);
}

inline bool same_bits(const Surface& a, const Surface& b) {
  if (!same_bits(a.point_data, b.point_data)) return false;
  return same_bits(a.points, b.points) && same_bits(a.triangles, b.triangles) && same_bits(a.lines, b.lines);
}

inline bool same_bits(const Table& a, const Table& b) {
  if (a.names() != b.names() || a.rows() != b.rows()) return false;
  for (std::size_t c = 0; c < a.columns().size(); ++c) {
    const ColumnValues &x = a.columns()[c].values, &y = b.columns()[c].values;
    if (x.index() != y.index()) return false;
    if (const auto* reals = std::get_if<std::vector<double>>(&x)) {
      if (!same_bits(*reals, std::get<std::vector<double>>(y))) return false;
    } else if (x != y) {
      return false;
    }
  }
  return true;
}

}  // namespace sidestream::testing
