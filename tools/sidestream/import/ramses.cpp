#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/mpi/agree.hpp"
#include "config/options/option_text.hpp"
#include "import/imported.hpp"
#include "importers/ramses/domain_tree.hpp"
#include "importers/ramses/particles.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/records.hpp"

namespace sidestream::importing {

namespace {

// Relations between RAMSES' variables, for codecs that predict values.

using ramses::JoinedColumns;

bool has(const std::vector<JoinedColumns>& variables, const std::string& name) {
  return std::any_of(variables.begin(), variables.end(), [&](const JoinedColumns& v) { return v.name == name; });
}

std::string face_variable(char axis, bool high) { return fmt::format("B_{}_{}", axis, high ? "right" : "left"); }

/// Kinetic and magnetic energy as additional products; empty without a velocity.
std::string other_energy(const std::vector<JoinedColumns>& variables) {
  std::string text;
  for (const JoinedColumns& v : variables) {
    if (v.name == "velocity_x") text += " + 0.5 * density * velocity_x^2";
    if (v.name != "velocity") continue;
    for (std::size_t c = 0; c < v.columns.size(); ++c)
      text += fmt::format(" + 0.5 * density * velocity.{}^2", "xyz"[c]);
  }
  for (const char axis : {'x', 'y', 'z'}) {
    const std::string low = face_variable(axis, false), high = face_variable(axis, true);
    if (text.empty() || !has(variables, low) || !has(variables, high)) continue;
    text += fmt::format(" + 0.125 * {0}^2 + 0.25 * {0} * {1} + 0.125 * {1}^2", low, high);
  }
  return text;
}

/// Relations of the field on a face. High faces refer to the low ones, and both of the last axis to zero divergence
/// with those of the others, so that no relation leads back. Along an axis that the mesh does not have, both sides have
/// the one value of the cell.
VariableRelations face_relations(const std::vector<JoinedColumns>& variables, int axis, bool high, int dimensions) {
  constexpr std::string_view names = "xyz";
  const auto face = [&](int a, bool side) { return face_variable(names[static_cast<std::size_t>(a)], side); };
  const bool pair = high && has(variables, face(axis, false));
  VariableRelations relations;
  if (axis >= dimensions) {
    relations.parent = "mean";
    if (pair) relations.equals = face(axis, false);
    return relations;
  }
  relations.face = fmt::format("{}-{}", high ? "high" : "low", names[static_cast<std::size_t>(axis)]);
  if (pair) relations.opposite = face(axis, false);
  if (axis != dimensions - 1 || (high && !pair)) return relations;
  std::vector<std::string> others;
  for (int other = 0; other < axis; ++other) others.insert(others.end(), {face(other, false), face(other, true)});
  const bool all = std::all_of(others.begin(), others.end(), [&](const std::string& n) { return has(variables, n); });
  if (all) relations.divergence_free = others;
  return relations;
}

VariableRelations relation_of(const ramses::CellColumns& columns, const std::string& name, int dimensions) {
  const std::vector<JoinedColumns>& all = columns.variables;
  VariableRelations relations;
  for (int axis = 0; axis < 3; ++axis) {
    for (const bool high : {false, true}) {
      if (name == face_variable("xyz"[axis], high)) return face_relations(all, axis, high, dimensions);
    }
  }
  if (!has(all, "density")) return relations;
  if (name == "density") {
    relations.parent = "mean";
  } else if (name == "pressure" || name == "thermal_pressure") {
    if (columns.gamma > 1) {
      relations.parent = fmt::format("mean of {} / {}{}", name, columns.gamma - 1, other_energy(all));
    }
  } else {
    relations.parent = fmt::format("mean of density * {}", name);
  }
  return relations;
}

/// Relations of each of `columns.variables`. Parents have the means of conserved quantities: density, momentum, energy,
/// and advected scalars. Faces of a magnetic field have means of faces, and zero divergence. A relation that does not
/// hold in an output is harmless, since values are restored bit by bit. `dimensions`: of the mesh.
std::vector<VariableRelations> relations_of(const ramses::CellColumns& columns, int dimensions) {
  std::vector<VariableRelations> relations(columns.variables.size());
  if (columns.kind != ramses::FileKind::hydro) return relations;
  for (std::size_t n = 0; n < relations.size(); ++n) {
    relations[n] = relation_of(columns, columns.variables[n].name, dimensions);
  }
  return relations;
}

using ramses::FileKind;

/// Statistics of a domain, sent between processes. Trivially copyable.
struct DomainReport {
  std::int64_t domain = 0, cells = 0, kept = 0, leaves = 0, owned_leaves = 0, particles = 0;
  std::uint64_t structure = 0, values = 0,
                stored = 0;          ///< bytes: of flags as stored; of kept values, raw and stored
  std::uint64_t from_particles = 0;  ///< bytes of particles, as stored; equal raw and stored
};

class RamsesImport {
 public:
  explicit RamsesImport(const ImportOptions& options)
      : output_(options.directory), imported_(options, provenance_of(output_)) {
    remarks_ = output_.unread();
    coarse_ = inner_coarse_cells(output_);
    declare_tree();
    for (const FileKind kind : {FileKind::hydro, FileKind::gravity, FileKind::radiation}) {
      if (output_.has(kind)) declare_values(kind);
    }
    if (output_.has(FileKind::particles)) declare_particles();
  }

  std::string run(Communicator& all, const std::function<bool()>& stop) {
    const ramses::Info& info = output_.info();
    const Iteration iteration{output_.number(), info.step, info.time};
    imported_.store(
        all, info.domains, "domain", [&](int part, Imported::Part& to) { add_domain(part + 1, to); }, iteration, stop);
    std::vector<DomainReport> reports;
    for (const Bytes& bytes : all.gather(bytes_of(reports_), 0)) {
      const auto more = records_of<DomainReport>(bytes);
      reports.insert(reports.end(), more.begin(), more.end());
    }
    std::sort(reports.begin(), reports.end(), [](const auto& a, const auto& b) { return a.domain < b.domain; });
    return text_of(reports);
  }

 private:
  struct Cells {
    ramses::CellColumns columns;
    std::vector<std::int32_t> variables;  ///< ids, in the order of columns.variables
  };

  static std::string provenance_of(const ramses::Output& output) {
    const ramses::Info& info = output.info();
    return fmt::format(
        "imported from RAMSES: '{}', boxlen {}, unit_l {} cm, unit_d {} g/cm3, unit_t {} s, levels {} to {}",
        output.directory(), info.boxlen, info.units[0], info.units[1], info.units[2], info.level_min, info.level_max);
  }

  std::int32_t add_variable(const std::string& name, std::int32_t mesh, Type type, std::size_t components, Role role,
                            Centering centering = Centering::cell, VariableRelations relations = {}) {
    Variable variable;
    variable.name = name;
    variable.mesh = mesh;
    variable.type = type;
    variable.components = static_cast<std::int32_t>(components);
    variable.role = role;
    variable.centering = centering;
    return imported_.add(std::move(variable), std::move(relations));
  }

  void declare_tree() {
    Mesh mesh;
    mesh.name = "tree";
    mesh.dimensions = output_.info().dimensions;
    Index3 roots{1, 1, 1};
    for (int a = 0; a < mesh.dimensions; ++a) roots[static_cast<std::size_t>(a)] = coarse_.extent(a);
    const double spacing = output_.info().boxlen / static_cast<double>(roots[0]);
    mesh.geometry = std::make_shared<OctreeGeometry>(roots, std::array<double, 3>{0, 0, 0},
                                                     std::array<double, 3>{spacing, spacing, spacing});
    tree_ = imported_.add(std::move(mesh));
    refined_ = add_variable("refined", tree_, Type::uint8, 1, Role::refined);
    owned_ = add_variable("owned", tree_, Type::uint8, 1, Role::owned);
  }

  void declare_values(FileKind kind) {
    Cells cells{ramses::cell_columns(output_, kind), {}};
    if (!cells.columns.remark.empty()) remarks_.push_back(cells.columns.remark);
    const auto relations = relations_of(cells.columns, output_.info().dimensions);
    for (std::size_t n = 0; n < cells.columns.variables.size(); ++n) {
      const ramses::JoinedColumns& joined = cells.columns.variables[n];
      const bool taken = imported_.metadata().find_variable(joined.name) != nullptr;
      const std::string name = taken ? fmt::format("{}_{}", ramses::name_of(kind), joined.name) : joined.name;
      cells.variables.push_back(add_variable(name, tree_, cells.columns.type, joined.columns.size(), Role::none,
                                             Centering::cell, relations[n]));
    }
    cells_.push_back(std::move(cells));
  }

  void declare_particles() {
    particles_ = ramses::particle_columns(output_);
    if (particles_.columns.empty()) return;  // no domain has particles
    if (!particles_.remark.empty()) remarks_.push_back(particles_.remark);
    const std::size_t position = position_of(particles_, output_.info().dimensions, output_.directory());
    Mesh mesh;
    mesh.name = "particles";
    mesh.dimensions = output_.info().dimensions;
    mesh.geometry = std::make_shared<ArrayGeometry>(MeshKind::points);
    particle_mesh_ = imported_.add(std::move(mesh));
    for (std::size_t n = 0; n < particles_.variables.size(); ++n) {
      const ramses::JoinedColumns& joined = particles_.variables[n];
      const Type type = particles_.types[joined.columns.front()];
      particle_variables_.push_back(add_variable("particle_" + joined.name, particle_mesh_, type, joined.columns.size(),
                                                 n == position ? Role::coordinates : Role::none, Centering::node));
    }
  }

  void add_domain(int domain, Imported::Part& to) {
    DomainReport report;
    report.domain = domain;
    const ramses::DomainTree tree = read_tree(output_, domain, coarse_);
    add_tree(domain, tree, to, report);
    if (!particle_variables_.empty()) add_particles(domain, to, report);
    reports_.push_back(report);
  }

  void add_tree(int domain, const ramses::DomainTree& tree, Imported::Part& to, DomainReport& report) {
    Block block;
    block.id = domain - 1;
    block.client = domain - 1;
    block.mesh = tree_;
    block.space = IndexSpace::list;
    block.cells = list_box(tree.cells());
    for (std::size_t n = 0; n < tree.refined.size(); ++n) {
      if (tree.refined[n] != 0) continue;
      ++report.leaves;
      report.owned_leaves += tree.owned[n];
    }
    report.cells = tree.cells();
    std::vector<std::pair<std::int32_t, Bytes>> values;
    for (const auto& [variable, flags] : {std::pair(refined_, &tree.refined), std::pair(owned_, &tree.owned)}) {
      const BytesView bytes = std::as_bytes(std::span(*flags));
      values.emplace_back(variable, Bytes(bytes.begin(), bytes.end()));
    }
    std::uint64_t whole = 0;
    for (const Cells& cells : cells_) {
      std::vector<Bytes> arrays = read_cell_values(output_, cells.columns, domain, tree);
      for (std::size_t n = 0; n < arrays.size(); ++n) {
        whole += arrays[n].size();
        values.emplace_back(cells.variables[n], std::move(arrays[n]));
      }
    }
    const Imported::Part::StoredBlock stored = to.add_tree(block, std::move(values));
    report.kept = stored.cells;
    report.values = whole / static_cast<std::uint64_t>(tree.cells()) * static_cast<std::uint64_t>(stored.cells);
    for (const auto& [variable, bytes] : stored.bytes) {
      const bool is_flag = variable == refined_ || variable == owned_;
      (is_flag ? report.structure : report.stored) += bytes;
    }
  }

  void add_particles(int domain, Imported::Part& to, DomainReport& report) {
    ramses::Particles particles = read_particles(output_, particles_, domain);
    if (particles.count == 0) return;
    Block block;
    block.id = domain - 1;
    block.client = domain - 1;
    block.mesh = particle_mesh_;
    block.space = IndexSpace::list;
    block.cells = list_box(static_cast<Index>(particles.count));
    block.lengths.points = static_cast<Index>(particles.count);
    report.particles = static_cast<std::int64_t>(particles.count);
    for (std::size_t n = 0; n < particles.arrays.size(); ++n) {
      report.from_particles += to.add(particle_variables_[n], block, std::move(particles.arrays[n]));
    }
  }

  [[nodiscard]] std::string text_of(const std::vector<DomainReport>& reports) const;

  ramses::Output output_;
  Imported imported_;
  Box coarse_;
  std::vector<std::string> remarks_;
  std::int32_t tree_ = -1, refined_ = -1, owned_ = -1, particle_mesh_ = -1;
  std::vector<Cells> cells_;
  ramses::ParticleColumns particles_;
  std::vector<std::int32_t> particle_variables_;
  std::vector<DomainReport> reports_;
};

double percent_saved(double left, double of) { return of > 0 ? 100 * (1 - left / of) : 0; }

std::string line_of(const std::string& name, const DomainReport& r) {
  const double pruned = percent_saved(static_cast<double>(r.kept), static_cast<double>(r.cells));
  const double saved = percent_saved(static_cast<double>(r.stored), static_cast<double>(r.values));
  return fmt::format("{:>7} {:>11} {:>11} {:>11} {:>6.1f} % {:>10} {:>10} {:>10} {:>6.1f} %\n", name, r.cells, r.leaves,
                     r.owned_leaves, pruned, rounded_byte_size(r.structure), rounded_byte_size(r.values),
                     rounded_byte_size(r.stored), saved);
}

std::string RamsesImport::text_of(const std::vector<DomainReport>& reports) const {
  std::string text = fmt::format("{:>7} {:>11} {:>11} {:>11} {:>8} {:>10} {:>10} {:>10} {:>8}\n", "domain", "cells",
                                 "leaves", "own leaves", "pruned", "structure", "values", "stored", "saved");
  DomainReport all;
  for (const DomainReport& r : reports) {
    text += line_of(std::to_string(r.domain), r);
    all.cells += r.cells;
    all.kept += r.kept;
    all.leaves += r.leaves;
    all.owned_leaves += r.owned_leaves;
    all.structure += r.structure;
    all.values += r.values;
    all.stored += r.stored;
    all.particles += r.particles;
    all.from_particles += r.from_particles;
  }
  text += line_of("all", all);
  if (!particle_variables_.empty()) {
    text += fmt::format("{} particles, {} stored\n", all.particles, rounded_byte_size(all.from_particles));
  }
  for (const std::string& remark : remarks_) text += "remark: " + remark + "\n";
  return text;
}

}  // namespace

std::string import_ramses(Communicator& all, const ImportOptions& options, const std::function<bool()>& stop) {
  std::optional<RamsesImport> work;
  run_collectively(all, [&] { work.emplace(options); });
  return work->run(all, stop);
}

}  // namespace sidestream::importing
