#include "import/amrex_particles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "declaring.hpp"
#include "sidestream/data/mesh.hpp"

namespace sidestream::importing {

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
