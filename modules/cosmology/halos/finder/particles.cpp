#include "cosmology/halos/finder/particles.hpp"

#include <fmt/format.h>

#include "sidestream/kit/analysis/common_options.hpp"

namespace sidestream::halos {

int keeper_of(std::int64_t id, int servers) noexcept {
  const std::uint64_t mixed = static_cast<std::uint64_t>(id) * 0x9E3779B97F4A7C15u;
  return static_cast<int>((mixed >> 32) % static_cast<std::uint64_t>(servers));
}

std::vector<Option> particle_options() {
  return {
      {.name = "particles",
       .type = OptionType::mesh,
       .text = "A mesh of type `points` whose `point_ids` number its particles. Halos are then matched by the "
               "particles in their cells instead of the cells. A number must stay with its particle and be unique."},
      {.name = "weight",
       .type = OptionType::variable,
       .text = "A variable of these particles with one component. Instead of counting shared particles, their "
               "weights of this iteration are added up. Particles whose weight is not finite do not count."}};
}

std::optional<ParticleQuery> read_particle_query(const Settings& settings, const Metadata& metadata,
                                                 const Variable& density) {
  if (!settings.has("particles")) {
    if (settings.has("weight")) settings.fail("weight", "it is a variable of `particles`, which names no mesh");
    return std::nullopt;
  }
  const Mesh& mesh = *metadata.find_mesh(settings.text("particles"));
  if (mesh.kind() != MeshKind::points) {
    settings.fail("particles", fmt::format("mesh '{}' is {}; expected one of type 'points'", mesh.name,
                                           mesh.geometry ? mesh.geometry->kind() : "none"));
  }
  if (mesh.array(Role::point_ids) < 0) {
    settings.fail("particles", fmt::format("the particles of mesh '{}' have no numbers by which they could be found "
                                           "again; declare a variable as its `point_ids`",
                                           mesh.name));
  }
  const int dimensions = metadata.mesh_of(density).dimensions;
  if (mesh.dimensions != dimensions) {
    settings.fail("particles", fmt::format("mesh '{}' has {} dimensions, that of '{}' has {}; expected as many",
                                           mesh.name, mesh.dimensions, density.name, dimensions));
  }
  ParticleQuery query{mesh.array(Role::coordinates), mesh.array(Role::point_ids)};
  if (!settings.has("weight")) return query;
  const Variable& weight = *metadata.find_variable(settings.text("weight"));
  if (weight.mesh != mesh.id || weight.components != 1) {
    settings.fail("weight", fmt::format("'{}' lies on mesh '{}' and has {} components; expected a variable of one "
                                        "component on '{}'",
                                        weight.name, metadata.mesh_of(weight).name, weight.components, mesh.name));
  }
  query.weight = weight.id;
  return query;
}

}  // namespace sidestream::halos
