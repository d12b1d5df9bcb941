#include "read_mesh.hpp"

#include <algorithm>
#include <cmath>
#include <sidestream/error.hpp>
#include <utility>

namespace sidestream::catalyst {

namespace {

constexpr std::array<const char*, 3> dim_names{"dims/i", "dims/j", "dims/k"};
constexpr std::array<const char*, 3> place_names{"x", "y", "z"};
constexpr std::array<const char*, 3> spacing_names{"spacing/dx", "spacing/dy", "spacing/dz"};
constexpr Index most_points = Index{1} << 40;

double finite(const Node& node) {
  const double value = node.real();
  if (!std::isfinite(value)) fail_node(node, "found a number that is not finite, expected a place in space");
  return value;
}

/// Takes the numbers of points along the axes. An axis with one point is not used, and only the last ones may be so.
void set_points(const Node& node, const Index3& points, MeshPiece& piece) {
  piece.dimensions = 0;
  Index total = 1;
  for (std::size_t a = 0; a < 3; ++a) {
    if (points[a] < 1 || points[a] > most_points / total) {
      fail_node(node, "found " + std::to_string(points[a]) + " points along axis " + "ijk"[a] +
                          ", expected 1 or more, and at most 2^40 in all");
    }
    total *= points[a];
    if (points[a] > 1) piece.dimensions = static_cast<int>(a) + 1;
    piece.cells[a] = std::max<Index>(points[a] - 1, 1);
  }
  for (std::size_t a = 0; a < static_cast<std::size_t>(piece.dimensions); ++a) {
    if (points[a] == 1)
      fail_node(node, std::string("found one point along axis ") + "ijk"[a] + " before an axis with more");
  }
  if (piece.dimensions == 0) fail_node(node, "found a single point, expected cells");
  piece.owned = {{0, 0, 0}, piece.cells};
}

void read_uniform(const Node& coords, MeshPiece& piece) {
  Index3 points{1, 1, 1};
  (void)coords.need("dims");
  for (std::size_t a = 0; a < 3; ++a) {
    if (const Node n = coords.find(dim_names[a]); n) points[a] = n.integer();
    if (const Node n = coords.find(std::string("origin/") + place_names[a]); n) piece.origin[a] = finite(n);
    if (const Node n = coords.find(spacing_names[a]); n) {
      piece.spacing[a] = finite(n);
      if (piece.spacing[a] <= 0) fail_node(n, "found " + std::to_string(piece.spacing[a]) + ", expected more than 0");
    }
  }
  set_points(coords, points, piece);
}

void read_rectilinear(const Node& coords, MeshPiece& piece) {
  Index3 points{1, 1, 1};
  for (std::size_t a = 0; a < 3; ++a) {
    const Node node = coords.find(std::string("values/") + place_names[a]);
    if (!node) continue;
    const Numbers numbers = node.numbers();
    points[a] = numbers.count;
    if (points[a] < 2) fail_node(node, "found " + std::to_string(points[a]) + " places, expected 2 or more");
    std::vector<double>& nodes = piece.nodes[a];
    for (Index i = 0; i < numbers.count; ++i) {
      nodes.push_back(numbers.real(i));
      if (!std::isfinite(nodes.back()) || (i > 0 && nodes[nodes.size() - 2] >= nodes.back())) {
        fail_node(node, "entry " + std::to_string(i) + " is not above the one before, expected increasing places");
      }
    }
  }
  set_points(coords, points, piece);
}

void read_explicit(const Node& coords, MeshPiece& piece) {
  const Node values = coords.need("values");
  piece.coordinates = values.components();
  if (piece.coordinates.size() > 3) fail_node(values, "found more than 3 components, expected 1 to 3");
  const Type type = piece.coordinates.front().type;
  if (type != Type::float32 && type != Type::float64) fail_node(values, "found integers, expected float32 or float64");
  piece.points = piece.coordinates.front().count;
  piece.dimensions = static_cast<int>(piece.coordinates.size());
}

/// A structured mesh has the number of its cells in the topology, and places of its points in the coordinates.
void read_structured(const Node& topology, const Node& coords, MeshPiece& piece) {
  Index3 points{1, 1, 1};
  const Node elements = topology.need("elements");
  for (std::size_t a = 0; a < 3; ++a) {
    if (const Node n = elements.find(dim_names[a]); n) points[a] = n.integer() + 1;
  }
  const Node values = coords.need("values");
  const std::vector<Numbers> places = values.components();
  piece.coordinates = places;
  set_points(elements, points, piece);
  FieldPiece layout;
  layout.components = places;
  layout.centering = nodes_of(piece.dimensions);
  lay_out(elements.need("dims"), values, piece, layout);
  piece.first_place = layout.first;
  piece.place_strides = layout.strides;
  if (static_cast<int>(places.size()) < piece.dimensions || places.size() > 3) {
    fail_node(coords, "found " + std::to_string(places.size()) + " components, expected " +
                          std::to_string(piece.dimensions) + " or 3");
  }
  const Type type = places.front().type;
  if (type != Type::float32 && type != Type::float64) fail_node(coords, "found integers, expected float32 or float64");
}

/// Reads `elements/origin`: the index of the first cell in the whole mesh.
void read_first(const Node& topology, MeshPiece& piece) {
  const Node origin = topology.find("elements/origin");
  if (!origin) return;
  Index3 first{0, 0, 0};
  for (std::size_t a = 0; a < 3; ++a) {
    const std::string name = std::string(1, "ijk"[a]) + "0";
    if (const Node n = origin.find(name); n) first[a] = n.integer();
  }
  piece.first = first;
}

void read_lists(const Node& topology, const Node& coords, const std::string& type, MeshPiece& piece) {
  read_explicit(coords, piece);
  const Node shape = topology.find("elements/shape");
  const bool only_points = type == "points" || (shape && shape.is_text() && shape.text() == "point");
  piece.kind = only_points ? MeshKind::points : MeshKind::unstructured;
  if (only_points) {
    // Each point is a cell. A connectivity could leave points out; hosts list all of them.
    const Node links = topology.find("elements/connectivity");
    if (links && links.numbers().count != piece.points) {
      fail_node(links, "found " + std::to_string(links.numbers().count) + " entries, expected one for each of the " +
                           std::to_string(piece.points) + " points");
    }
    piece.list_cells = piece.points;
    return;
  }
  read_cells(topology, piece);
}

MeshPiece read_topology(const Node& mesh, const Node& topology) {
  MeshPiece piece;
  piece.path = topology.path();
  const std::string type = topology.need("type").text();
  const Node coords = mesh.need("coordsets").need(topology.need("coordset").text());
  const std::string placed = coords.need("type").text();
  const auto expect = [&](const char* wanted) {
    if (placed != wanted) {
      fail_node(coords, "found coordinates of type '" + placed + "', expected '" + wanted +
                            "' for a topology of type '" + type + "'");
    }
  };
  if (type == "uniform") {
    expect("uniform");
    piece.kind = MeshKind::uniform;
    read_uniform(coords, piece);
  } else if (type == "rectilinear") {
    expect("rectilinear");
    piece.kind = MeshKind::rectilinear;
    read_rectilinear(coords, piece);
  } else if (type == "structured") {
    expect("explicit");
    piece.kind = MeshKind::curvilinear;
    read_structured(topology, coords, piece);
  } else if (type == "unstructured" || type == "points") {
    expect("explicit");
    read_lists(topology, coords, type, piece);
  } else {
    fail_node(topology.find("type"),
              "found '" + type + "', expected uniform, rectilinear, structured, unstructured or points");
  }
  read_first(topology, piece);
  return piece;
}

/// Names fields that would be left out without a word, since they lie on no topology.
void check_topologies(const Node& mesh, bool only, Problems& problems) {
  const Node fields = mesh.find("fields");
  if (fields && !fields.is_parent()) problems.push_back(fields.path() + ": found no object, expected fields");
  for (const auto& [name, field] : fields.children()) {
    const Node of = field.find("topology");
    if (of && (!of.is_text() || mesh.find("topologies").find(of.text()))) continue;
    if (of) {
      problems.push_back(of.path() + ": found '" + of.text() + "', expected the name of a topology; left out");
    } else if (!only) {
      problems.push_back(field.path() + ": found no 'topology', which a mesh of several needs; left out");
    }
  }
}

void read_domain(const Node& mesh, const std::string& name, const Wanted& wanted, std::vector<MeshPiece>& pieces,
                 Problems& problems) {
  const Node all = mesh.need("topologies");
  const std::vector<std::pair<std::string, Node>> topologies = all.children();
  if (topologies.empty()) fail_node(all, "found no topology, expected an object with some");
  const bool only = topologies.size() == 1;
  check_topologies(mesh, only, problems);
  for (const auto& [topology, node] : topologies) {
    try {
      const std::string named = only ? name : name + "_" + topology;
      if (!wanted(named)) continue;
      MeshPiece piece = read_topology(mesh, node);
      piece.mesh = named;
      read_fields(mesh, topology, only, piece, problems);
      piece.number =
          std::count_if(pieces.begin(), pieces.end(), [&](const MeshPiece& p) { return p.mesh == piece.mesh; });
      pieces.push_back(std::move(piece));
    } catch (const Error& error) {
      problems.emplace_back(error.what());
    }
  }
}

/// True if the node is a mesh itself, not an object of domains.
bool is_mesh(const Node& node) { return node.find("coordsets") || node.find("topologies"); }

}  // namespace

std::vector<MeshPiece> read_mesh(const Node& data, const std::string& name, const Wanted& wanted, Problems& problems) {
  std::vector<MeshPiece> pieces;
  if (!data.has_children()) return pieces;  // a rank without a part of the mesh
  const auto read = [&](const Node& mesh) {
    try {
      read_domain(mesh, name, wanted, pieces, problems);
    } catch (const Error& error) {
      problems.emplace_back(error.what());
    }
  };
  if (is_mesh(data)) {
    read(data);
    return pieces;
  }
  for (const auto& [domain, node] : data.children()) read(node);
  return pieces;
}

std::vector<MeshPiece> read_levels(const Node& data, const std::string& name, const Wanted& wanted,
                                   Problems& problems) {
  std::vector<MeshPiece> pieces;
  for (const auto& [domain, node] : data.children()) {
    try {
      if (!node.is_parent()) fail_node(node, "found no object, expected a patch");
      std::vector<MeshPiece> patches = read_mesh(node, name, wanted, problems);
      const Node level = node.find("state/level") ? node.find("state/level") : node.find("state/level_id");
      for (MeshPiece& patch : patches) {
        if (patch.kind != MeshKind::uniform)
          fail_node(node, "found a patch that is not uniform, expected a uniform one");
        if (!level) fail_node(node, "found no 'state/level', which each patch must have");
        const std::int64_t value = level.integer();
        if (value < 0 || value > 30) fail_node(level, "found level " + std::to_string(value) + ", expected 0 to 30");
        patch.refined = true;
        patch.level = static_cast<int>(value);
        if (const Node id = node.find("state/domain_id"); id) patch.id = id.integer();
        patch.number = static_cast<std::int64_t>(pieces.size());
        pieces.push_back(std::move(patch));
      }
    } catch (const Error& error) {
      problems.emplace_back(error.what());
    }
  }
  return pieces;
}

}  // namespace sidestream::catalyst
