#include "import/amrex_fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>

#include "base/paths.hpp"
#include "declaring.hpp"
#include "sidestream/data/mesh.hpp"
#include "sidestream/error.hpp"

namespace sidestream::importing {

namespace {

/// Sorted paths NAME of the files NAME_H in a folder, except `without`. Empty if the folder is missing.
std::vector<std::string> bases_in(const std::string& folder, const std::string& without) {
  std::error_code problem;
  if (!std::filesystem::is_directory(folder, problem)) return {};
  std::vector<std::string> names = names_in_folder(folder), found;
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) {
    const std::string base = folder + "/" + name.substr(0, name.size() - std::min<std::size_t>(name.size(), 2));
    if (name.size() > 2 && name.substr(name.size() - 2) == "_H" && base != without) found.push_back(base);
  }
  return found;
}

bool same_boxes(const amrex::LevelData& a, const amrex::LevelData& b) {
  return std::equal(a.fabs.begin(), a.fabs.end(), b.fabs.begin(), b.fabs.end(),
                    [](const amrex::FabPlace& x, const amrex::FabPlace& y) { return x.cells == y.cells; });
}

/// Interleaves the components of each point.
Bytes interleaved(const std::vector<Bytes>& components, std::size_t width) {
  if (components.size() == 1) return components.front();
  const std::size_t points = components.front().size() / width, row = components.size() * width;
  Bytes made(points * row);
  for (std::size_t c = 0; c < components.size(); ++c) {
    for (std::size_t n = 0; n < points; ++n) {
      std::memcpy(made.data() + n * row + c * width, components[c].data() + n * width, width);
    }
  }
  return made;
}

}  // namespace

AmrexFields::AmrexFields(const amrex::Plotfile& plotfile, const std::vector<amrex::LevelData>& levels,
                         std::int32_t mesh, Imported& imported, std::uint64_t part_bytes)
    : dimensions_(plotfile.dimensions) {
  for (std::size_t level = 0; level < levels.size(); ++level) {
    const std::string listed = plotfile.path(plotfile.levels[level].data);
    for (const char* folder : {"Level_", "raw_fields/Level_"}) {
      for (const std::string& base : bases_in(plotfile.path(fmt::format("{}{}", folder, level)), listed)) {
        take(base, identifier(base.substr(base.rfind('/') + 1)), level, levels[level]);
      }
    }
  }
  declare(mesh, imported);
  make_parts(part_bytes);
}

void AmrexFields::take(const std::string& path, const std::string& name, std::size_t level,
                       const amrex::LevelData& boxes) {
  const std::string file = std::filesystem::path(path).filename().string() + "_H";
  amrex::LevelData data;
  try {
    data = amrex::read_boxes(path, dimensions_);
  } catch (const Error& problem) {
    remarks_.push_back(fmt::format("'{}' of level {} is not read: {}", file, level, problem.what()));
    return;
  }
  if (!same_boxes(data, boxes)) {
    remarks_.push_back(fmt::format("'{}' of level {} is not read: its boxes are not those of the mesh", file, level));
    return;
  }
  if (data.fabs.empty()) return;
  const Type type = type_of(data, 0);
  const auto [at, is_new] = found_.try_emplace(name);
  Field& field = at->second;
  if (is_new) {
    field.type = type;
    field.components = data.components;
    field.centering = data.centering;
  }
  const bool fits = type == field.type && data.components == field.components && data.centering == field.centering;
  if (!fits || field.levels.count(level) != 0) {
    remarks_.push_back(
        fmt::format("'{}' of level {} is not read: another file of its name has values of another kind", file, level));
    return;
  }
  field.levels.emplace(level, std::move(data));
}

void AmrexFields::declare(std::int32_t mesh, Imported& imported) {
  mesh_ = mesh;
  for (auto& [name, field] : found_) {
    Variable variable;
    variable.name = name;
    while (imported.metadata().find_variable(variable.name) != nullptr) variable.name += '_';
    variable.mesh = mesh;
    variable.type = field.type;
    variable.components = field.components;
    variable.centering = field.centering;
    field.variable = imported.add(std::move(variable));
    fields_.push_back(std::move(field));
  }
  found_.clear();
}

void AmrexFields::make_parts(std::uint64_t part_bytes) {
  for (std::size_t n = 0; n < fields_.size(); ++n) {
    for (const auto& [level, data] : fields_[n].levels) {
      std::uint64_t held = part_bytes;
      for (std::size_t fab = 0; fab < data.fabs.size(); ++fab) {
        const Box points = points_of(data.centering, data.fabs[fab].cells);
        const std::uint64_t more = packed_bytes(points, fields_[n].components, fields_[n].type);
        bytes_ += more;
        if (held + more > part_bytes) {
          parts_.push_back({n, level, fab, fab});
          held = 0;
        }
        held += more;
        parts_.back().last = fab + 1;
      }
    }
  }
}

std::uint64_t AmrexFields::add(std::size_t part, const std::vector<std::int64_t>& first_id, Imported::Part& to) const {
  const Boxes& boxes = parts_[part];
  const Field& field = fields_[boxes.field];
  const amrex::LevelData& data = field.levels.at(boxes.level);
  std::uint64_t stored = 0;
  for (std::size_t fab = boxes.first; fab < boxes.last; ++fab) {
    Block block;
    block.id = first_id[boxes.level] + static_cast<std::int64_t>(fab);
    block.mesh = mesh_;
    block.level = static_cast<std::int32_t>(boxes.level);
    block.cells = data.fabs[fab].cells;
    stored += to.add(field.variable, block, interleaved(read_fab(data, fab, field.type), size_of(field.type)));
  }
  return stored;
}

namespace {

template <class T>
void extend(Bounds& bounds, const Bytes& places, int dimensions) {
  const std::size_t row = static_cast<std::size_t>(dimensions) * sizeof(T);
  for (std::size_t at = 0; at < places.size(); at += row) {
    for (std::size_t a = 0; a < static_cast<std::size_t>(dimensions); ++a) {
      T x;
      std::memcpy(&x, places.data() + at + a * sizeof(T), sizeof(T));
      if (!std::isfinite(x)) continue;
      bounds.low[a] = std::min(bounds.low[a], static_cast<double>(x));
      bounds.high[a] = std::max(bounds.high[a], static_cast<double>(x));
    }
  }
}

/// Bounds of the positions; unknown if no particle has one.
Bounds bounds_of(const amrex::ParticleFolder& folder, const Bytes& places) {
  Bounds bounds;
  for (std::size_t a = static_cast<std::size_t>(folder.dimensions); a < 3; ++a) bounds.low[a] = bounds.high[a] = 0;
  if (folder.real == Type::float32) {
    extend<float>(bounds, places, folder.dimensions);
  } else {
    extend<double>(bounds, places, folder.dimensions);
  }
  return bounds.known() ? bounds : Bounds{};
}

}  // namespace

AmrexParticles::AmrexParticles(const amrex::Plotfile& plotfile, const std::string& folder, Imported& imported,
                               std::uint64_t part_bytes)
    : folder_(read_particle_folder(plotfile, folder)) {
  Mesh mesh;
  mesh.name = identifier(folder);
  for (const Mesh& other : imported.metadata().meshes) {
    if (other.name == mesh.name) mesh.name += "_particles";
  }
  mesh.dimensions = folder_.dimensions;
  mesh.geometry = std::make_shared<ArrayGeometry>(MeshKind::points);
  const std::string prefix = mesh.name;
  mesh_ = imported.add(std::move(mesh));
  for (const amrex::ParticleVariable& about : folder_.variables) {
    Variable variable;
    variable.name = fmt::format("{}_{}", prefix, about.name);
    while (imported.metadata().find_variable(variable.name) != nullptr) variable.name += '_';
    variable.mesh = mesh_;
    variable.type = about.type;
    variable.components = static_cast<std::int32_t>(about.components);
    variable.centering = Centering::node;
    if (about.from == amrex::ParticleVariable::From::position) variable.role = Role::coordinates;
    bytes_each_ += about.components * size_of(about.type);
    variables_.push_back(imported.add(std::move(variable)));
  }
  const std::uint64_t most = std::max<std::uint64_t>(part_bytes / bytes_each_, 1);
  std::uint64_t held = most;
  std::int64_t id = 0;
  for (std::size_t n = 0; n < folder_.grids.size(); ++n) {
    for (std::uint64_t first = 0; first < folder_.grids[n].count; first += most) {
      const std::uint64_t count = std::min(most, folder_.grids[n].count - first);
      if (held + count > most) {
        parts_.emplace_back();
        first_id_.push_back(id);
        held = 0;
      }
      held += count;
      ++id;
      parts_.back().push_back({n, first, count});
    }
  }
}

std::uint64_t AmrexParticles::add(std::size_t part, Imported::Part& to) const {
  std::uint64_t stored = 0;
  std::int64_t id = first_id_[part];
  for (const Piece& piece : parts_[part]) {
    std::vector<Bytes> arrays = read_particles(folder_, folder_.grids[piece.grid], piece.first, piece.count);
    Block block;
    block.id = id++;
    block.mesh = mesh_;
    block.space = IndexSpace::list;
    block.cells = list_box(static_cast<Index>(piece.count));
    block.lengths.points = static_cast<Index>(piece.count);
    block.bounds = bounds_of(folder_, arrays.front());
    for (std::size_t n = 0; n < arrays.size(); ++n) stored += to.add(variables_[n], block, std::move(arrays[n]));
  }
  return stored;
}

}  // namespace sidestream::importing
