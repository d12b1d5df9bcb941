#include "agreement.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <sidestream/error.hpp>

namespace sidestream::catalyst {

namespace {

using Json = nlohmann::json;

/// Places may differ by rounding: by this part of a cell.
constexpr double rounding = 1e-3;
/// Levels that may come later: as many steps of refinement are declared, the last one seen again and again.
constexpr std::size_t most_steps = 12;
/// Ends of the names of variables that describe a mesh (declare.cpp).
constexpr std::array<const char*, 8> mesh_arrays{"_coordinates", "_connectivity", "_offsets",      "_types",
                                                 "_faces",       "_face_offsets", "_point_ghosts", "_cell_ghosts"};

/// One rank's description of a piece: all that others must know. Numbers survive JSON bit by bit.
Json describe(const MeshPiece& piece) {
  Json fields = Json::array();
  for (const FieldPiece& field : piece.fields) {
    fields.push_back({{"name", field.name},
                      {"unit", field.unit},
                      {"centering", static_cast<int>(field.centering)},
                      {"type", static_cast<int>(field.components.front().type)},
                      {"components", field.components.size()}});
  }
  Json all{{"mesh", piece.mesh},
           {"path", piece.path},
           {"kind", static_cast<int>(piece.kind)},
           {"number", piece.number},
           {"level", piece.level},
           {"refined", piece.refined},
           {"dimensions", piece.dimensions},
           {"cells", piece.cells},
           {"lo", piece.owned.lo},
           {"hi", piece.owned.hi},
           {"origin", piece.origin},
           {"spacing", piece.spacing},
           {"fields", fields},
           {"polyhedra", !piece.lists.face_offsets.empty()},
           {"point_ghosts", !piece.point_ghosts.empty()},
           {"cell_ghosts", !piece.cell_ghosts.empty()}};
  if (piece.kind == MeshKind::rectilinear) all["nodes"] = piece.nodes;
  if (piece.first) all["first"] = *piece.first;
  if (!piece.coordinates.empty()) {
    all["place_type"] = static_cast<int>(piece.coordinates.front().type);
    all["place_components"] = piece.coordinates.size();
  }
  return all;
}

/// The description of a piece as another rank reads it: without arrays of values.
struct Described {
  int rank = 0;
  MeshPiece piece;
  Type place_type = Type::float64;
  int place_components = 3;
  bool polyhedra = false, point_ghosts = false, cell_ghosts = false;
  std::vector<AgreedField> fields;
};

Described read(const Json& json, int rank) {
  Described d;
  d.rank = rank;
  json.at("mesh").get_to(d.piece.mesh);
  json.at("path").get_to(d.piece.path);
  d.piece.kind = static_cast<MeshKind>(json.at("kind").get<int>());
  json.at("number").get_to(d.piece.number);
  json.at("level").get_to(d.piece.level);
  json.at("refined").get_to(d.piece.refined);
  json.at("dimensions").get_to(d.piece.dimensions);
  json.at("cells").get_to(d.piece.cells);
  json.at("lo").get_to(d.piece.owned.lo);
  json.at("hi").get_to(d.piece.owned.hi);
  json.at("origin").get_to(d.piece.origin);
  json.at("spacing").get_to(d.piece.spacing);
  if (json.contains("nodes")) json.at("nodes").get_to(d.piece.nodes);
  if (json.contains("first")) d.piece.first = json.at("first").get<Index3>();
  if (json.contains("place_type")) {
    d.place_type = static_cast<Type>(json.at("place_type").get<int>());
    json.at("place_components").get_to(d.place_components);
  }
  json.at("polyhedra").get_to(d.polyhedra);
  json.at("point_ghosts").get_to(d.point_ghosts);
  json.at("cell_ghosts").get_to(d.cell_ghosts);
  for (const Json& field : json.at("fields")) {
    AgreedField f;
    field.at("name").get_to(f.name);
    field.at("unit").get_to(f.unit);
    f.centering = static_cast<Centering>(field.at("centering").get<int>());
    f.type = static_cast<Type>(field.at("type").get<int>());
    field.at("components").get_to(f.components);
    d.fields.push_back(f);
  }
  return d;
}

using Pieces = std::vector<Described>;

/// First cell of a uniform piece on its level, seen from `origin`; NaN if the place is not near a cell's corner.
double first_cell(const MeshPiece& piece, std::size_t axis, double origin, double spacing) {
  const double at = (piece.origin[axis] - origin) / spacing;
  const double first = std::round(at);
  return std::abs(at - first) <= rounding ? first : std::nan("");
}

/// Ratios of neighbouring levels, from the spacings. Levels that are missing in between have the ratio 2.
void set_ratios(const Pieces& pieces, AgreedMesh& mesh) {
  int deepest = 0;
  for (const Described& d : pieces) deepest = std::max(deepest, d.piece.level);
  if (!pieces.front().piece.refined) return;
  Index3 before{1, 1, 1}, last{2, 2, 2};
  for (int level = 1; level <= deepest; ++level) {
    const auto found =
        std::find_if(pieces.begin(), pieces.end(), [&](const Described& d) { return d.piece.level == level; });
    Index3 ratio{1, 1, 1};
    for (std::size_t a = 0; a < static_cast<std::size_t>(mesh.dimensions); ++a) {
      ratio[a] = last[a];
      if (found == pieces.end()) continue;
      const double cells = mesh.spacing[a] / found->piece.spacing[a] / static_cast<double>(before[a]);
      ratio[a] = std::max<Index>(1, std::llround(cells));
    }
    mesh.ratios.push_back(ratio);
    last = ratio;
    for (std::size_t a = 0; a < 3; ++a) before[a] *= ratio[a];
  }
  mesh.ratios.resize(std::max(most_steps, mesh.ratios.size()), last);
}

/// The box around all owned cells of level 0. Cells of finer levels lie in it.
void make_uniform(const Pieces& pieces, AgreedMesh& mesh) {
  const auto base = std::find_if(pieces.begin(), pieces.end(), [](const Described& d) { return d.piece.level == 0; });
  if (base == pieces.end()) {
    throw Error(Code::usage, pieces.front().piece.path + ": found no patch of level 0 on any rank, expected some");
  }
  mesh.spacing = base->piece.spacing;
  for (std::size_t a = 0; a < static_cast<std::size_t>(mesh.dimensions); ++a) {
    double low = 0, high = 0;
    bool any = false;
    for (const Described& d : pieces) {
      if (d.piece.level != 0 || d.piece.owned.empty()) continue;
      const double from = d.piece.origin[a] + static_cast<double>(d.piece.owned.lo[a]) * mesh.spacing[a];
      const double to = d.piece.origin[a] + static_cast<double>(d.piece.owned.hi[a]) * mesh.spacing[a];
      low = any ? std::min(low, from) : from;
      high = any ? std::max(high, to) : to;
      any = true;
    }
    mesh.origin[a] = low;
    mesh.size[a] = std::max<Index>(1, std::llround((high - low) / mesh.spacing[a]));
  }
  set_ratios(pieces, mesh);
}

/// All nodes of all pieces. Two pieces' nodes that differ by rounding are one; the lower number counts.
void make_rectilinear(const Pieces& pieces, AgreedMesh& mesh) {
  for (std::size_t a = 0; a < static_cast<std::size_t>(mesh.dimensions); ++a) {
    std::vector<std::pair<double, double>> all;  // node, and distance to its nearest neighbour in the same piece
    for (const Described& d : pieces) {
      const std::vector<double>& nodes = d.piece.nodes[a];
      const auto lo = static_cast<std::size_t>(d.piece.owned.lo[a]), hi = static_cast<std::size_t>(d.piece.owned.hi[a]);
      for (std::size_t i = lo; i <= hi && i < nodes.size(); ++i) {
        const double below = i > 0 ? nodes[i] - nodes[i - 1] : nodes[i + 1] - nodes[i];
        const double above = i + 1 < nodes.size() ? nodes[i + 1] - nodes[i] : below;
        all.emplace_back(nodes[i], std::min(below, above));
      }
    }
    std::sort(all.begin(), all.end());
    std::vector<double>& nodes = mesh.nodes[a];
    for (const auto& [node, gap] : all) {
      if (nodes.empty() || node - nodes.back() > rounding * gap) nodes.push_back(node);
    }
    mesh.size[a] = static_cast<Index>(nodes.size()) - 1;
  }
}

/// Pieces that know their place keep it. Otherwise they stand side by side along i, with a cell between two that no
/// piece has, since the indices do not tell which points they share.
void make_curvilinear(const Pieces& pieces, AgreedMesh& mesh) {
  const bool placed =
      std::all_of(pieces.begin(), pieces.end(), [](const Described& d) { return d.piece.first.has_value(); });
  mesh.size = {0, 0, 0};
  Index next = 0;
  for (const Described& d : pieces) {
    Index3 first = placed ? *d.piece.first : Index3{next, 0, 0};
    if (!placed) {
      mesh.beginnings[{d.rank, d.piece.number}] = next;
      next += d.piece.cells[0] + 1;
    }
    for (std::size_t a = 0; a < 3; ++a) mesh.size[a] = std::max(mesh.size[a], first[a] + d.piece.cells[a]);
  }
}

void add_fields(const Pieces& pieces, AgreedMesh& mesh, Problems& problems) {
  for (const Described& d : pieces) {
    for (const AgreedField& field : d.fields) {
      const AgreedField* const known = mesh.find(field.name);
      if (known == nullptr) {
        mesh.fields.push_back(field);
      } else if (known->type != field.type || known->components != field.components ||
                 known->centering != field.centering) {
        problems.push_back(
            d.piece.path + ": the field '" + field.name + "' of rank " + std::to_string(d.rank) +
            " has another type, association or number of components than on a lower rank; it is left out "
            "there");
      }
    }
  }
  std::sort(mesh.fields.begin(), mesh.fields.end(),
            [](const AgreedField& a, const AgreedField& b) { return a.name < b.name; });
}

/// Makes one mesh of its pieces, which have one kind.
AgreedMesh make_mesh(const Pieces& pieces, Problems& problems) {
  AgreedMesh mesh;
  const Described& first = pieces.front();
  mesh.name = first.piece.mesh;
  mesh.kind = first.piece.kind;
  mesh.dimensions = first.piece.dimensions;
  mesh.place_type = first.place_type;
  mesh.place_components = first.place_components;
  for (const Described& d : pieces) {
    mesh.polyhedra = mesh.polyhedra || d.polyhedra;
    mesh.point_ghosts = mesh.point_ghosts || d.point_ghosts;
    mesh.cell_ghosts = mesh.cell_ghosts || d.cell_ghosts;
  }
  if (mesh.kind == MeshKind::uniform) make_uniform(pieces, mesh);
  if (mesh.kind == MeshKind::rectilinear) make_rectilinear(pieces, mesh);
  if (mesh.kind == MeshKind::curvilinear) make_curvilinear(pieces, mesh);
  add_fields(pieces, mesh, problems);
  return mesh;
}

/// The pieces of each mesh, by rank; without those that contradict the first one.
std::map<std::string, Pieces> sorted_pieces(const std::vector<std::string>& texts, Problems& problems) {
  std::map<std::string, Pieces> meshes;
  for (std::size_t r = 0; r < texts.size(); ++r) {
    for (const Json& json : Json::parse(texts[r])) {
      Described d = read(json, static_cast<int>(r));
      Pieces& same = meshes[d.piece.mesh];
      const bool fits =
          same.empty() ||
          (same.front().piece.kind == d.piece.kind && same.front().piece.dimensions == d.piece.dimensions &&
           same.front().place_type == d.place_type && same.front().place_components == d.place_components);
      if (fits) {
        same.push_back(std::move(d));
      } else {
        problems.push_back(
            d.piece.path + ": the piece of rank " + std::to_string(r) +
            " has another kind, number of dimensions or type of places than the first one of the mesh '" +
            d.piece.mesh + "'; it is left out");
      }
    }
  }
  return meshes;
}

void name_variables(std::vector<AgreedMesh>& meshes) {
  std::map<std::string, int> users;
  std::set<std::string> taken;
  for (const AgreedMesh& mesh : meshes) {
    ++users[mesh.name];  // a variable cannot be confused with a mesh
    for (const char* const array : mesh_arrays) taken.insert(mesh.name + array);
    for (const AgreedField& field : mesh.fields) ++users[as_name(field.name)];
  }
  for (AgreedMesh& mesh : meshes) {
    for (AgreedField& field : mesh.fields) {
      const std::string name = as_name(field.name);
      field.variable = users[name] == 1 ? name : mesh.name + "_" + name;
      while (!taken.insert(field.variable).second) field.variable += "_";
    }
  }
}

Box place_uniform(const AgreedMesh& mesh, const MeshPiece& piece) {
  Box box = piece.owned;
  Index3 ratio{1, 1, 1};
  if (static_cast<std::size_t>(piece.level) > mesh.ratios.size()) {
    throw Error(Code::usage, piece.path + ": found level " + std::to_string(piece.level) + ", expected at most " +
                                 std::to_string(mesh.ratios.size()));
  }
  for (std::size_t l = 0; l < static_cast<std::size_t>(piece.level); ++l) {
    for (std::size_t a = 0; a < 3; ++a) ratio[a] *= mesh.ratios[l][a];
  }
  for (std::size_t a = 0; a < static_cast<std::size_t>(mesh.dimensions); ++a) {
    const double spacing = mesh.spacing[a] / static_cast<double>(ratio[a]);
    const double first = first_cell(piece, a, mesh.origin[a], spacing);
    if (std::abs(piece.spacing[a] - spacing) > rounding * spacing || std::isnan(first)) {
      throw Error(Code::usage, piece.path + ": the origin " + std::to_string(piece.origin[a]) + " and spacing " +
                                   std::to_string(piece.spacing[a]) + " along " + "xyz"[a] +
                                   " fit no cells of the mesh, which begins at " + std::to_string(mesh.origin[a]) +
                                   " with a spacing of " + std::to_string(spacing) + " on this level");
    }
    box.lo[a] += static_cast<Index>(first);
    box.hi[a] += static_cast<Index>(first);
  }
  return box;
}

Box place_rectilinear(const AgreedMesh& mesh, const MeshPiece& piece) {
  Box box = piece.owned;
  for (std::size_t a = 0; a < static_cast<std::size_t>(mesh.dimensions); ++a) {
    const std::vector<double>& nodes = mesh.nodes[a];
    const double low = piece.nodes[a][static_cast<std::size_t>(piece.owned.lo[a])];
    const double gap = piece.nodes[a][static_cast<std::size_t>(piece.owned.lo[a]) + 1] - low;
    const auto at = std::lower_bound(nodes.begin(), nodes.end(), low - rounding * gap);
    const Index count = piece.owned.extent(static_cast<int>(a));
    if (at == nodes.end() || *at - low > rounding * gap || nodes.end() - at <= count) {
      throw Error(Code::usage, piece.path + ": the nodes along " + "xyz"[a] + " from " + std::to_string(low) +
                                   " on are no nodes of the mesh as the first iteration had it");
    }
    box.lo[a] = at - nodes.begin();
    box.hi[a] = box.lo[a] + count;
  }
  return box;
}

}  // namespace

const AgreedField* AgreedMesh::find(const std::string& field) const {
  const auto found = std::find_if(fields.begin(), fields.end(), [&](const AgreedField& f) { return f.name == field; });
  return found == fields.end() ? nullptr : &*found;
}

Box AgreedMesh::place(const MeshPiece& piece, int rank) const {
  Box box = piece.owned;
  if (kind == MeshKind::uniform) {
    box = place_uniform(*this, piece);
  } else if (kind == MeshKind::rectilinear) {
    box = place_rectilinear(*this, piece);
  } else {
    Index3 first{0, 0, 0};
    if (beginnings.empty()) {
      if (piece.first) first = *piece.first;
    } else {
      const auto at = beginnings.find({rank, piece.number});
      if (at == beginnings.end()) throw Error(Code::usage, piece.path + ": the first iteration had no such piece");
      first[0] = at->second;
      const auto next = std::next(at);
      const Index end = next == beginnings.end() ? size[0] : next->second - 1;
      if (at->second + piece.cells[0] > end)
        throw Error(Code::usage, piece.path + ": the piece has grown since the first iteration");
    }
    for (std::size_t a = 0; a < 3; ++a) {
      box.lo[a] += first[a];
      box.hi[a] += first[a];
    }
  }
  Box whole{{0, 0, 0}, size};
  for (std::size_t l = 0; l < static_cast<std::size_t>(piece.level); ++l) {
    for (std::size_t a = 0; a < 3; ++a) whole.hi[a] *= ratios[l][a];
  }
  for (std::size_t a = 0; a < 3; ++a) {
    if (box.lo[a] < 0 || box.hi[a] > whole.hi[a]) {
      throw Error(Code::usage,
                  piece.path + ": the piece reaches beyond the mesh as the first iteration had it, along " + "xyz"[a]);
    }
  }
  return box;
}

std::vector<AgreedMesh> agree(const std::vector<MeshPiece>& pieces, const Ranks& ranks, Problems& problems) {
  Json mine = Json::array();
  for (const MeshPiece& piece : pieces) mine.push_back(describe(piece));
  std::vector<AgreedMesh> meshes;
  const std::string text = mine.dump(-1, ' ', false, Json::error_handler_t::replace);
  for (const auto& [name, of_mesh] : sorted_pieces(ranks.gather(text), problems)) {
    try {
      meshes.push_back(make_mesh(of_mesh, problems));
    } catch (const Error& error) {
      problems.emplace_back(error.what());
    }
  }
  name_variables(meshes);
  return meshes;
}

}  // namespace sidestream::catalyst
