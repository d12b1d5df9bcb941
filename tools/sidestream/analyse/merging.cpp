#include "analyse/merging.hpp"

#include <algorithm>
#include <tuple>

#include "config/meshes.hpp"
#include "sidestream/kit/base/fail.hpp"

namespace sidestream::analysing {

namespace {

Mesh* find(std::vector<Mesh>& meshes, const std::string& name) {
  const auto found = std::find_if(meshes.begin(), meshes.end(), [&](const Mesh& mesh) { return mesh.name == name; });
  return found == meshes.end() ? nullptr : &*found;
}

/// The first difference, except for the number of levels; empty if there is none.
std::string difference(Mesh a, Mesh b) {
  const std::size_t levels = std::min(a.refinement.size(), b.refinement.size());
  a.refinement.resize(levels);
  b.refinement.resize(levels);
  return difference_of(a, b);
}

bool is_real(const Variable& variable) { return variable.type == Type::float32 || variable.type == Type::float64; }

/// Reals of both widths are compatible: see add_variable.
const char* difference(const Variable& a, const Variable& b) {
  if (a.type != b.type && !(is_real(a) && is_real(b))) return "type";
  if (a.centering != b.centering) return "centering";
  if (a.components != b.components) return "components";
  if (a.order != b.order) return "order";
  return a.role != b.role ? "role" : nullptr;
}

}  // namespace

void Merging::add(const Metadata& metadata, const std::string& where) {
  for (const Mesh& mesh : metadata.meshes) add_mesh(mesh, where);
  for (const Variable& variable : metadata.variables) add_variable(variable, metadata.mesh_of(variable).name, where);
}

void Merging::add_mesh(const Mesh& mesh, const std::string& where) {
  Mesh* known = find(all_.meshes, mesh.name);
  if (known == nullptr) {
    all_.meshes.push_back(mesh);
    all_.meshes.back().id = static_cast<std::int32_t>(all_.meshes.size()) - 1;
    all_.meshes.back().arrays.fill(-1);
    first_["mesh " + mesh.name] = where;
    return;
  }
  const std::string what = difference(*known, mesh);
  if (!what.empty()) {
    fail(Code::file, "{} has the mesh '{}' with other {} than {}; analyse files of one mesh at a time", where,
         mesh.name, what, first_["mesh " + mesh.name]);
  }
  if (mesh.refinement.size() > known->refinement.size()) known->refinement = mesh.refinement;
}

void Merging::add_variable(const Variable& variable, const std::string& mesh, const std::string& where) {
  const Variable* known = all_.find_variable(variable.name);
  if (known == nullptr) {
    Variable added = variable;
    added.id = static_cast<std::int32_t>(all_.variables.size());
    Mesh& on = *find(all_.meshes, mesh);
    added.mesh = on.id;
    if (added.role != Role::none) on.arrays[static_cast<std::size_t>(added.role)] = added.id;
    all_.variables.push_back(std::move(added));
    first_["variable " + variable.name] = where;
    return;
  }
  if (known->type != variable.type && is_real(*known) && is_real(variable)) {
    all_.variables[static_cast<std::size_t>(known->id)].type = Type::float64;
  }
  const char* what = all_.mesh_of(*known).name != mesh ? "mesh" : difference(*known, variable);
  if (what == nullptr) return;
  fail(Code::file, "{} has the variable '{}' with another {} than {}; analyse them one after the other", where,
       variable.name, what, first_["variable " + variable.name]);
}

namespace {

constexpr Index least_cells = Index{1} << 15, most_cells = Index{1} << 24, parts_of_mesh = 256;

/// The position where a box is halved: at the axis with most cells; none if no axis can be halved.
struct Cut {
  int axis = -1;
  Index at = 0;
};

Cut halving(const Box& cells, const Index3& step) {
  Cut best;
  for (int a = 2; a >= 0; --a) {  // of equal axes the slowest in most files
    const std::size_t axis = static_cast<std::size_t>(a);
    const Index half = cells.extent(a) / 2 / step[axis] * step[axis];
    if (half > 0 && (best.axis < 0 || cells.extent(a) > cells.extent(best.axis))) best = {a, cells.lo[axis] + half};
  }
  return best;
}

void cut_box(const Block& block, std::size_t stored, Index most, const Index3& step, std::vector<Piece>& parts) {
  const Cut where = block.cells.count() > most ? halving(block.cells, step) : Cut{};
  if (where.axis < 0) return parts.push_back({block, stored});
  Block low = block, high = block;
  low.cells.hi[static_cast<std::size_t>(where.axis)] = where.at;
  high.cells.lo[static_cast<std::size_t>(where.axis)] = where.at;
  cut_box(low, stored, most, step, parts);
  cut_box(high, stored, most, step, parts);
}

}  // namespace

std::vector<Piece> cut(const std::vector<Block>& stored, const Metadata& metadata) {
  std::vector<std::size_t> order(stored.size());
  for (std::size_t n = 0; n < order.size(); ++n) order[n] = n;
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const Block &x = stored[a], &y = stored[b];
    return std::tuple(x.mesh, x.level, x.id) < std::tuple(y.mesh, y.level, y.id);
  });
  std::map<std::int32_t, Index> cells;
  for (const Block& block : stored) cells[block.mesh] += block.cells.count();
  std::vector<Piece> parts;
  for (auto first = order.begin(); first != order.end();) {
    const std::int32_t number = stored[*first].mesh;
    const Mesh& mesh = metadata.meshes[static_cast<std::size_t>(number)];
    const Index most = std::clamp(cells[number] / parts_of_mesh, least_cells, most_cells);
    const std::size_t begin = parts.size();
    std::size_t blocks = 0;
    for (; first != order.end() && stored[*first].mesh == number; ++first, ++blocks) {
      const Block& block = stored[*first];
      const bool whole = block.is_list();
      const Index3 step =
          block.level > 0 ? mesh.refinement.at(static_cast<std::size_t>(block.level) - 1) : Index3{1, 1, 1};
      cut_box(block, *first, whole ? INT64_MAX : most, step, parts);
    }
    if (parts.size() - begin == blocks) continue;
    for (std::size_t n = begin; n < parts.size(); ++n) parts[n].block.id = static_cast<std::int64_t>(n - begin);
  }
  return parts;
}

std::vector<int> shares(const std::vector<Piece>& parts, const std::vector<std::uint64_t>& bytes, int ranks) {
  std::map<std::int32_t, double> all, before;
  // Blocks that are not read have an owner, too.
  const auto weight = [&](std::size_t n) { return static_cast<double>(bytes[n]) + 1; };
  for (std::size_t n = 0; n < parts.size(); ++n) all[parts[n].block.mesh] += weight(n);
  std::vector<int> found;
  for (std::size_t n = 0; n < parts.size(); ++n) {
    double& sum = before[parts[n].block.mesh];
    const double middle = (sum + weight(n) / 2) / all[parts[n].block.mesh];
    sum += weight(n);
    found.push_back(std::min(ranks - 1, static_cast<int>(middle * ranks)));
  }
  return found;
}

}  // namespace sidestream::analysing
