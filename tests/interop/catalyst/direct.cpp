// The same meshes and fields as host.cpp, declared and published with Sidestream's own calls.
#include <mpi.h>

#include <cstdio>
#include <sidestream/sidestream.hpp>

#include "options.hpp"
#include "scene.hpp"

namespace {

using namespace sidestream;

Variable variable(const std::string& name, Centering centering, int components, Type type = Type::float64) {
  Variable declared;
  declared.name = name;
  declared.centering = centering;
  declared.components = components;
  declared.type = type;
  return declared;
}

template <class T>
std::vector<T> first_of(const std::array<T, 3>& all, int count) {
  return {all.begin(), all.begin() + count};
}

/// In the order of their names, as the implementation declares what it finds.
void declare_fields(Session& s, int dimensions, bool in_cells) {
  s.add_variable("grid", variable("at_points", nodes_of(dimensions), 1));
  if (!in_cells) return;
  Variable cells = variable("in_cells", Centering::cell, 1);
  cells.unit = "K";
  s.add_variable("grid", cells);
  s.add_variable("grid", variable("pair", Centering::cell, 2));
}

void declare_boxes(Session& s, const std::string& kind, const scene::Slab& whole) {
  const int n = whole.dimensions;
  if (kind == "rectilinear") {
    std::vector<std::vector<double>> nodes;
    for (int a = 0; a < n; ++a) {
      nodes.emplace_back();
      for (Index i = 0; i <= whole.size[static_cast<std::size_t>(a)]; ++i)
        nodes.back().push_back(whole.stretched(a, i));
    }
    s.add_rectilinear_mesh("grid", nodes);
  } else if (kind == "structured") {
    s.add_curvilinear_mesh("grid", first_of(whole.size, n), "grid_coordinates");
    s.add_variable("grid", variable("grid_coordinates", Centering::node, 3));
  } else {
    s.add_uniform_mesh("grid", first_of(whole.size, n), first_of(whole.origin, n), first_of(whole.spacing, n));
    if (kind == "amr") s.set_refinement("grid", std::vector<Index3>(12, Index3{2, 2, 2}));
  }
  declare_fields(s, n, true);
}

void declare_lists(Session& s, const std::string& kind) {
  if (kind == "points") {
    s.add_points_mesh("grid", 3, "grid_coordinates");
  } else {
    s.add_unstructured_mesh("grid", 3, "grid_coordinates", "grid_connectivity", "grid_offsets", "grid_types");
  }
  s.add_variable("grid", variable("grid_coordinates", Centering::node, 3));
  if (kind != "points") {
    s.add_variable("grid", variable("grid_connectivity", Centering::cell, 1, Type::int64));
    s.add_variable("grid", variable("grid_offsets", Centering::cell, 1, Type::int64));
    s.add_variable("grid", variable("grid_types", Centering::cell, 1, Type::uint8));
  }
  if (kind == "mixed") {
    s.set_mesh_array("grid", Role::faces, "grid_faces");
    s.set_mesh_array("grid", Role::face_offsets, "grid_face_offsets");
    s.add_variable("grid", variable("grid_faces", Centering::cell, 1, Type::int64));
    s.add_variable("grid", variable("grid_face_offsets", Centering::cell, 1, Type::int64));
  }
  declare_fields(s, 3, kind != "points");
}

std::vector<double> pairs_of(const std::vector<double>& cells) {
  std::vector<double> pairs;
  for (const double value : cells) pairs.insert(pairs.end(), {value, 2 * value});
  return pairs;
}

void publish_box(Session& s, const std::string& kind, const scene::Slab& slab, std::int64_t id, int level,
                 double time) {
  s.set_block("grid", id, {slab.lo, slab.hi}, level);
  const auto allocate = [&](const char* name, Centering centering) {
    s.set_allocated(name, id, points_of(centering, {slab.from, slab.to}));
  };
  const Centering nodes = nodes_of(slab.dimensions);
  allocate("in_cells", Centering::cell);
  allocate("pair", Centering::cell);
  allocate("at_points", nodes);
  if (kind == "structured") {
    allocate("grid_coordinates", nodes);
    (void)s.publish("grid_coordinates", id, scene::lists_of(slab, false, time).places);
  }
  const std::vector<double> cells = scene::values_on(slab, false, time);
  (void)s.publish("in_cells", id, cells);
  (void)s.publish("pair", id, pairs_of(cells));
  (void)s.publish("at_points", id, scene::values_on(slab, true, time));
}

/// Polyhedra as VTK's files have them: their points once, and their faces with the points again.
struct Rows {
  std::vector<std::int64_t> connectivity, ends, faces, face_ends;
  std::vector<std::uint8_t> types;
};

Rows rows_of(const scene::Lists& lists, bool mixed) {
  Rows rows;
  const std::size_t cells = mixed ? lists.sizes.size() : lists.connectivity.size() / 8;
  for (std::size_t c = 0; c < cells; ++c) {
    const std::int64_t type = mixed ? lists.shapes[c] : 12, size = mixed ? lists.sizes[c] : 8;
    const std::size_t begin = mixed ? static_cast<std::size_t>(lists.offsets[c]) : 8 * c;
    rows.types.push_back(static_cast<std::uint8_t>(type));
    if (type != 42) {
      for (std::int64_t i = 0; i < size; ++i)
        rows.connectivity.push_back(lists.connectivity[begin + static_cast<std::size_t>(i)]);
      rows.face_ends.push_back(-1);
    } else {
      const auto first = static_cast<std::ptrdiff_t>(rows.connectivity.size());
      rows.faces.push_back(size);
      for (std::int64_t f = 0; f < size; ++f) {
        const auto face = static_cast<std::size_t>(lists.connectivity[begin + static_cast<std::size_t>(f)]);
        rows.faces.push_back(4);
        for (std::size_t i = 0; i < 4; ++i) {
          const std::int64_t p = lists.face_connectivity[4 * face + i];
          rows.faces.push_back(p);
          bool known = false;
          for (auto at = rows.connectivity.begin() + first; at != rows.connectivity.end(); ++at)
            known = known || *at == p;
          if (!known) rows.connectivity.push_back(p);
        }
      }
      rows.face_ends.push_back(static_cast<std::int64_t>(rows.faces.size()));
    }
    rows.ends.push_back(static_cast<std::int64_t>(rows.connectivity.size()));
  }
  return rows;
}

void publish_lists(Session& s, const std::string& kind, const scene::Slab& slab, std::int64_t id, double time) {
  const bool mixed = kind == "mixed";
  const scene::Lists lists = scene::lists_of(slab, mixed, time);
  const auto points = static_cast<Index>(lists.places.size()) / 3;
  if (kind == "points") {
    s.set_block_list("grid", id, points, {points, 0, 0});
  } else {
    const Rows rows = rows_of(lists, mixed);
    s.set_block_list("grid", id, static_cast<Index>(rows.types.size()),
                     {points, static_cast<Index>(rows.connectivity.size()), static_cast<Index>(rows.faces.size())});
    (void)s.publish("grid_connectivity", id, rows.connectivity);
    (void)s.publish("grid_offsets", id, rows.ends);
    (void)s.publish("grid_types", id, rows.types);
    if (mixed) {
      (void)s.publish("grid_faces", id, rows.faces);
      (void)s.publish("grid_face_offsets", id, rows.face_ends);
    }
    (void)s.publish("in_cells", id, lists.cell_values);
    (void)s.publish("pair", id, pairs_of(lists.cell_values));
  }
  (void)s.publish("grid_coordinates", id, lists.places);
  (void)s.publish("at_points", id, lists.point_values);
}

void run(const Options& options) {
  Session s = Session::open(MPI_COMM_WORLD, options.configuration);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int dimensions = options.mesh == "uniform-1" ? 1 : options.mesh == "uniform-2" ? 2 : 3;
  const scene::Slab slab = scene::slab_of(rank, ranks, dimensions, options.ghosts);
  const std::string& kind = options.mesh;
  const bool lists = kind == "hex" || kind == "mixed" || kind == "points";
  lists ? declare_lists(s, kind) : declare_boxes(s, kind, slab);
  s.start();
  for (int step = 0; step < options.steps; ++step) {
    const double time = 0.5 * step;
    if (kind == "amr") {
      int level = 0;
      for (const scene::Slab& patch : scene::patches_of(rank, ranks)) {
        publish_box(s, kind, patch, level * ranks + rank, level, time);
        ++level;
      }
    } else if (slab.cells()[0] > 0 && !(options.other_rank && ranks > 1 && rank + 1 == ranks)) {
      lists ? publish_lists(s, kind, slab, rank, time) : publish_box(s, kind, slab, rank, 0, time);
    }
    s.end_iteration(std::int64_t{options.cycles} * step, time);
  }
  s.close();
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int code = 0;
  try {
    run(options_of(argc, argv));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "direct: %s\n", error.what());
    code = 1;
  }
  MPI_Finalize();
  return code;
}
