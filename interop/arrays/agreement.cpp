#include "agreement.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sidestream/error.hpp>
#include <utility>

#include "names.hpp"

namespace sidestream::arrays {

namespace {

using Json = nlohmann::json;
using interop::as_name;

/// All parts of one array, by rank.
struct Described {
  std::string name;
  Type type = Type::float64;
  std::vector<Index> shape;
  std::size_t axes = 0;
  std::vector<std::pair<int, Part>> parts;
};

std::string describe(const std::vector<Part>& parts) {
  Json all = Json::array();
  for (const Part& part : parts) {
    all.push_back({part.name, static_cast<int>(part.type), part.shape, part.start, part.count});
  }
  return all.dump(-1, ' ', false, Json::error_handler_t::replace);
}

using ByName = std::map<std::string, Described>;

/// Adds a part of a rank; says why not if it contradicts the first one.
void add_part(int rank, Part part, ByName& arrays, Problems& problems) {
  Described& array = arrays[part.name];
  if (array.name.empty()) {
    array.name = part.name;
    array.type = part.type;
    array.shape = part.shape;
    array.axes = part.count.size();
  }
  if (array.type != part.type || array.shape != part.shape || array.axes != part.count.size()) {
    problems.push_back("array '" + part.name + "': rank " + std::to_string(rank) +
                       " has another type or shape than an earlier part or a lower rank; its part is left out");
    return;
  }
  if (part.values() > 0) array.parts.emplace_back(rank, std::move(part));
}

/// Two ranks whose parts have points in common; nothing if there are none. Those of one rank have none (pieces.hpp).
/// Goes through the parts in the order of their first indices along the slowest axis, and compares each with those that
/// begin before it ends.
std::optional<std::pair<int, int>> overlap(const Described& array) {
  std::vector<std::pair<int, const Part*>> sorted;
  for (const auto& [rank, part] : array.parts) sorted.emplace_back(rank, &part);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second->start[0] < b.second->start[0]; });
  for (std::size_t n = 0; n < sorted.size(); ++n) {
    const Part& a = *sorted[n].second;
    for (std::size_t m = n + 1; m < sorted.size() && sorted[m].second->start[0] < a.start[0] + a.count[0]; ++m) {
      const Part& b = *sorted[m].second;
      bool apart = false;
      for (std::size_t x = 0; x < array.axes; ++x) {
        apart = apart || a.start[x] + a.count[x] <= b.start[x] || b.start[x] + b.count[x] <= a.start[x];
      }
      if (!apart) return std::pair{sorted[n].first, sorted[m].first};
    }
  }
  return std::nullopt;
}

/// The axes i, j, k of an array's axes: in the order of their names, so that x comes before y. Without names the
/// fastest one is i.
std::array<int, 3> axes_of(const std::vector<std::string>& names, int dimensions) {
  std::array<int, 3> order{0, 1, 2};
  for (int a = 0; a < dimensions; ++a) order[static_cast<std::size_t>(a)] = dimensions - 1 - a;
  std::vector<std::string> sorted = names;
  std::sort(sorted.begin(), sorted.end());
  if (static_cast<int>(names.size()) != dimensions || std::unique(sorted.begin(), sorted.end()) != sorted.end()) {
    return order;
  }
  for (std::size_t a = 0; a < names.size(); ++a) {
    order[a] = static_cast<int>(std::find(sorted.begin(), sorted.end(), names[a]) - sorted.begin());
  }
  return order;
}

/// Names that are taken: nothing else has them.
class Names {
 public:
  std::string take(std::string wanted) {
    wanted = as_name(std::move(wanted));
    wanted.erase(0, wanted.find_first_not_of('_'));
    if (wanted.empty() || (wanted.front() >= '0' && wanted.front() <= '9')) wanted = "array_" + wanted;
    std::string name = wanted;
    for (int n = 2; !taken_.insert(name).second; ++n) name = wanted + "_" + std::to_string(n);
    return name;
  }

 private:
  std::set<std::string> taken_;
};

using Boxes = std::set<std::pair<int, std::vector<Index>>>;  // rank; lo and hi

/// A mesh that is being made of arrays.
struct Draft {
  std::string wanted;  ///< the name of its rule; empty: none
  AgreedMesh mesh;
  Boxes boxes;
};

/// Makes meshes of arrays, one after the other. Arrays share a mesh if they have one rule and shape, and no blocks that
/// another lacks.
class Maker {
 public:
  Maker(const Mapping& mapping, Problems& problems) : mapping_(mapping), problems_(problems) {}

  void add(const Described& array) {
    const ArrayRule* const rule = mapping_.find(array.name);
    result_.left_out.insert(array.name);
    if (rule != nullptr && rule->leave_out) return;
    AgreedArray agreed;
    agreed.type = array.type;
    agreed.shape = array.shape;
    agreed.axes = static_cast<int>(array.axes);
    if (rule != nullptr) agreed.unit = rule->unit;
    const std::string wanted = rule == nullptr ? "" : rule->mesh;
    const auto geometry = mapping_.meshes.find(wanted);
    MeshRule of_mesh = geometry == mapping_.meshes.end() ? MeshRule{} : geometry->second;
    of_mesh.points = of_mesh.points || array.shape.empty();
    const auto place = std::find(of_mesh.coordinates.begin(), of_mesh.coordinates.end(), array.name);
    const bool is_place = place != of_mesh.coordinates.end();
    agreed.places = is_place && of_mesh.coordinates.size() == 1 && array.shape.size() == 2;
    agreed.vector = agreed.places || (rule != nullptr && rule->components && array.shape.size() > 1);
    if (agreed.vector) agreed.components = static_cast<int>(std::min<Index>(array.shape.back(), 1000));
    const int axes = agreed.axes - (agreed.vector ? 1 : 0);
    if (!check(array, agreed, of_mesh, axes)) return;
    if (is_place && !agreed.places) {
      agreed.coordinate = static_cast<int>(place - of_mesh.coordinates.begin());
    }
    agreed.mesh = mesh_for(array, agreed, of_mesh, axes, wanted);
    agreed.variable = rule != nullptr && !rule->variable.empty() ? rule->variable : array.name;
    if (agreed.variable != array.name && !rule->exact) named_.insert(array.name);
    result_.arrays[array.name] = agreed;
    result_.left_out.erase(array.name);
  }

  Agreed finish() {
    Names names;
    for (Draft& draft : drafts_) {  // names of rules first
      if (!draft.wanted.empty()) draft.mesh.name = names.take(draft.wanted);
    }
    for (Draft& draft : drafts_) {
      if (draft.wanted.empty()) draft.mesh.name = names.take(draft.mesh.points ? "points" : "grid");
      result_.meshes.push_back(draft.mesh);
    }
    for (std::size_t m = 0; m < drafts_.size(); ++m) complete(m);
    for (auto& [name, array] : result_.arrays) {
      const bool place = array.coordinate >= 0 || array.places;
      const std::string wanted =
          std::exchange(array.variable, place ? result_.meshes[array.mesh].places() : names.take(array.variable));
      if (place || array.variable == wanted || named_.count(name) == 0) continue;
      problems_.push_back("array '" + name + "': its rule says `variable: " + wanted + "`, " +
                          (as_name(wanted) == wanted ? "which a mesh or another array has"
                                                     : "expected letters, digits and _ after a letter") +
                          "; it is '" + array.variable + "' in the configuration");
    }
    return std::move(result_);
  }

 private:
  /// Tells if an array can be used; says why not.
  bool check(const Described& array, const AgreedArray& agreed, const MeshRule& of_mesh, int axes) {
    const std::string where = "array '" + array.name + "': ";
    if (agreed.vector && (agreed.components < 1 || agreed.components > 100)) {
      problems_.push_back(where + "the last axis is to count components, expected 1 to 100 of them; it is left out");
    } else if (of_mesh.points && !array.shape.empty() && axes != 1) {
      problems_.push_back(where + "found " + std::to_string(axes) +
                          " axes, expected one on a mesh of points; it is "
                          "left out");
    } else if (!of_mesh.points && axes > 3) {
      problems_.push_back(where + "found " + std::to_string(axes) +
                          " axes, expected at most 3; it is left out (an axis "
                          "of components can be the last one, see `components`)");
    } else if (const auto both = array.shape.empty() ? std::nullopt : overlap(array)) {
      problems_.push_back(where + "the parts of rank " + std::to_string(both->first) + " and rank " +
                          std::to_string(both->second) +
                          " overlap, expected each value on one rank, since nobody knows whose is the "
                          "last one; it is left out");
    } else {
      return true;
    }
    return false;
  }

  /// Metadata of programs may have spacings that no mesh can have.
  void repair(const std::string& wanted, AgreedMesh& mesh) {
    const auto finite = [](double x) { return std::isfinite(x); };
    if (std::all_of(mesh.spacing.begin(), mesh.spacing.end(), [](double x) { return std::isfinite(x) && x > 0; }) &&
        std::all_of(mesh.origin.begin(), mesh.origin.end(), finite)) {
      return;
    }
    problems_.push_back("mesh '" + wanted +
                        "': found an origin or spacing that no mesh can have; its cells have size 1");
    mesh.origin.assign(mesh.size.size(), 0);
    mesh.spacing.assign(mesh.size.size(), 1);
  }

  /// The mesh of an array, which is made if there is none.
  std::size_t mesh_for(const Described& array, const AgreedArray& agreed, const MeshRule& of_mesh, int axes,
                       const std::string& wanted) {
    AgreedMesh mesh;
    mesh.points = of_mesh.points;
    mesh.coordinates = of_mesh.coordinates;
    mesh.dimensions = mesh.points ? 1 : axes;
    mesh.axis_of = axes_of(of_mesh.axes, mesh.dimensions);
    if (!mesh.points) {
      mesh.size.assign(static_cast<std::size_t>(axes), 1);
      for (std::size_t a = 0; a < mesh.size.size(); ++a) {
        mesh.size[static_cast<std::size_t>(mesh.axis_of[a])] = std::max<Index>(1, array.shape[a]);
      }
      mesh.origin = of_mesh.origin;
      mesh.spacing = of_mesh.spacing;
      mesh.origin.resize(mesh.size.size(), 0);
      mesh.spacing.resize(mesh.size.size(), 1);
      repair(wanted, mesh);
    }
    Boxes boxes;
    for (const auto& [rank, part] : array.parts) {
      const Box box = mesh.place(part, agreed);
      boxes.insert({rank, {box.lo[0], box.lo[1], box.lo[2], box.hi[0], box.hi[1], box.hi[2]}});
    }
    for (std::size_t n = 0; n < drafts_.size(); ++n) {
      const Draft& draft = drafts_[n];
      if (draft.wanted == wanted && draft.mesh.points == mesh.points && draft.mesh.size == mesh.size &&
          std::includes(draft.boxes.begin(), draft.boxes.end(), boxes.begin(), boxes.end())) {
        return n;
      }
    }
    drafts_.push_back({wanted, mesh, boxes});
    return drafts_.size() - 1;
  }

  /// A mesh of points needs all of its coordinates, of one real type; otherwise its points are counted.
  void complete(std::size_t number) {
    AgreedMesh& mesh = result_.meshes[number];
    if (mesh.points) mesh.dimensions = std::max<int>(2, static_cast<int>(mesh.coordinates.size()));
    if (mesh.coordinates.empty()) return;
    mesh.dimensions = static_cast<int>(mesh.coordinates.size());
    std::set<Type> types;
    std::string missing;
    for (const std::string& name : mesh.coordinates) {
      const auto found = result_.arrays.find(name);
      const bool there = found != result_.arrays.end() && found->second.mesh == number;
      if (there && found->second.places) mesh.dimensions = found->second.components;
      if (!there || (found->second.vector && (!found->second.places || found->second.components > 3))) {
        missing = name;
      } else {
        types.insert(found->second.type);
      }
    }
    mesh.place_type = types.empty() ? Type::float64 : *types.begin();
    const bool real = mesh.place_type == Type::float32 || mesh.place_type == Type::float64;
    if (missing.empty() && types.size() == 1 && real) return;
    problems_.push_back("mesh '" + mesh.name + "': " +
                        (missing.empty() ? "the coordinates are no real numbers of one type"
                                         : "the array '" + missing +
                                               "' with coordinates is no list on it, nor one of "
                                               "up to three columns") +
                        "; its points are counted instead");
    mesh.coordinates.clear();
    mesh.dimensions = 2;
    mesh.place_type = Type::float64;
    for (auto& [name, array] : result_.arrays) {
      if (array.mesh != number) continue;
      array.coordinate = -1;
      array.places = false;
    }
  }

  const Mapping& mapping_;
  Problems& problems_;
  std::set<std::string> named_;  ///< arrays that have their variable from a rule of a file
  std::vector<Draft> drafts_;
  Agreed result_;
};

}  // namespace

Box AgreedMesh::place(const Part& part, const AgreedArray& array) const {
  Box box{{0, 0, 0}, {1, 1, 1}};
  if (points) {
    Index count = 1;
    for (std::size_t a = 0; a < part.count.size(); ++a) count *= array.vector && a > 0 ? 1 : part.count[a];
    box.lo[0] = part.start[0];
    box.hi[0] = box.lo[0] + count;
    return box;
  }
  for (std::size_t a = 0; a < static_cast<std::size_t>(dimensions); ++a) {
    const auto axis = static_cast<std::size_t>(axis_of[a]);
    box.lo[axis] = part.start[a];
    box.hi[axis] = part.start[a] + part.count[a];
  }
  return box;
}

Agreed agree(const std::vector<Part>& parts, const Mapping& mapping, const Ranks& ranks, Problems& problems) {
  Mapping all;
  std::set<std::string> rules;
  for (const std::string& text : ranks.gather(to_text(mapping))) {
    if (rules.insert(text).second) all.add(from_text(text));
  }
  ByName arrays;
  const std::vector<std::string> texts = ranks.gather(describe(parts));
  for (std::size_t r = 0; r < texts.size(); ++r) {
    for (const Json& json : Json::parse(texts[r])) {
      Part part{json.at(0), static_cast<Type>(json.at(1).get<int>()), json.at(2), json.at(3), json.at(4)};
      add_part(static_cast<int>(r), std::move(part), arrays, problems);
    }
  }
  // Arrays with most parts first, so that those with fewer find their mesh.
  std::vector<const Described*> sorted;
  for (const auto& [name, array] : arrays) sorted.push_back(&array);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Described* a, const Described* b) { return a->parts.size() > b->parts.size(); });
  Maker maker(all, problems);
  for (const Described* array : sorted) maker.add(*array);
  return maker.finish();
}

}  // namespace sidestream::arrays
