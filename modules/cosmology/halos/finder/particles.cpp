// Particles of halos, by the cells that contain them.
//
// 1. Each server assigns its particles to cells. If a cell's value is known on the server and below the boundary, the
//    particle is dropped (place_particles).
// 2. The others go to the keepers of their rows, which look up the run of a halo by binary search (members_of).
// 3. Members are dealt to servers by a hash of the particle's number, the same in every iteration. So the members of
//    two iterations are compared on one server by merging two sorted lists (shared_members).
#include "cosmology/halos/finder/particles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "sidestream/kit/analysis/common_options.hpp"
#include "sidestream/kit/data/block_index.hpp"
#include "sidestream/kit/mesh/point_values.hpp"
#include "sidestream/kit/reduce/exact_sum_forms.hpp"
#include "sidestream/kit/reduce/gathered_records.hpp"

namespace sidestream::halos {
namespace {

/// Sums for a pair of halos.
struct SharedSum {
  Index particles = 0;
  ExactSum weight;
};
using SharedSums = std::map<std::array<Index, 2>, SharedSum>;

/// Index along an axis of the cell that contains a position, from the mesh's lower end; -1: none.
Index place_along(const Field& field, std::size_t axis, double x) {
  const Index n = field.lattice.size[axis];
  double u = (x - field.origin[axis]) / field.spacing[axis] - static_cast<double>(field.lattice.origin[axis]);
  if (!std::isfinite(u)) return -1;
  const auto cells = static_cast<double>(n);
  if (field.lattice.periodic[axis]) {
    u -= cells * std::floor(u / cells);
    if (!(u < cells)) u = 0;
  } else if (u == cells) {
    return n - 1;  // the upper face belongs to the last cell
  }
  return u >= 0 && u < cells ? static_cast<Index>(u) : -1;
}

/// Looks up values of the field that are on this server.
class Values {
 public:
  Values(const Field& field, double boundary, const LocalInput& input)
      : field_(field), boundary_(boundary), views_(input.of(field.variable)) {
    std::vector<Block> blocks;
    for (const BlockView& view : views_) blocks.push_back(view.block);
    index_ = BlockIndex(blocks);
  }

  /// True if a cell, counted from the mesh's lower end, is on this server and below the boundary or NaN.
  [[nodiscard]] bool surely_below(Index3 cell) {
    for (std::size_t a = 0; a < 3; ++a) cell[a] += field_.lattice.origin[a];
    const BlockView* view = view_of(cell);
    if (view == nullptr) return false;
    return with_type(view->array.type, [&](auto zero) {
      const auto* value = view->array.at<decltype(zero)>(cell[0], cell[1], cell[2], field_.component);
      return !(static_cast<double>(*value) >= boundary_);
    });
  }

 private:
  /// The view that owns the cell, or null. Neighbours in memory are mostly in one block.
  [[nodiscard]] const BlockView* view_of(const Index3& cell) {
    const auto owns = [&](const BlockView& view) {
      return std::any_of(view.owned.begin(), view.owned.end(), [&](const Box& box) { return box.contains(cell); });
    };
    if (last_ != nullptr && owns(*last_)) return last_;
    if (views_.empty()) return nullptr;
    const Block& any = views_.front().block;
    index_.overlapping(any.mesh, any.level, {cell, {cell[0] + 1, cell[1] + 1, cell[2] + 1}}, found_);
    for (const std::int64_t n : found_) {
      const BlockView& view = views_[static_cast<std::size_t>(n)];
      if (owns(view)) return last_ = &view;
    }
    return nullptr;
  }

  const Field& field_;
  double boundary_;
  const std::vector<BlockView>& views_;
  BlockIndex index_;
  std::vector<std::int64_t> found_;
  const BlockView* last_ = nullptr;
};

/// The server that has all particles with a number.
int keeper_of(std::int64_t id, int servers) {
  const std::uint64_t mixed = static_cast<std::uint64_t>(id) * 0x9E3779B97F4A7C15u;
  return static_cast<int>((mixed >> 32) % static_cast<std::uint64_t>(servers));
}

/// The halo that a cell belongs to, or -1.
Index owner_of(const std::vector<OwnedRun>& runs, Index row, Index place) {
  const auto after = std::upper_bound(runs.begin(), runs.end(), std::pair{row, place},
                                      [](const std::pair<Index, Index>& cell, const OwnedRun& one) {
                                        return cell < std::pair<Index, Index>{one.run.row, one.run.first};
                                      });
  if (after == runs.begin()) return -1;
  const OwnedRun& one = *(after - 1);
  return one.run.row == row && place <= one.run.last ? one.owner : -1;
}

/// Sums for all pairs of halos; both lists must ascend by number.
SharedSums sums_of(const std::vector<HaloMember>& before, const std::vector<HaloMember>& now) {
  SharedSums sums;
  auto first = before.begin();
  for (const HaloMember& member : now) {
    while (first != before.end() && first->id < member.id) ++first;
    for (auto other = first; other != before.end() && other->id == member.id; ++other) {
      SharedSum& sum = sums[{other->peak, member.peak}];
      ++sum.particles;
      sum.weight.add(member.weight);
    }
  }
  return sums;
}

}  // namespace

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

std::vector<PlacedParticle> place_particles(const ParticleQuery& query, const Field& field, double boundary,
                                            const LocalInput& input) {
  std::vector<PlacedParticle> placed;
  Values values(field, boundary, input);
  const Lattice& lattice = field.lattice;
  for (const BlockView& view : input.of(query.coordinates)) {
    const BlockView* ids = input.find(query.ids, view.block.id);
    const BlockView* weights = query.weight >= 0 ? input.find(query.weight, view.block.id) : nullptr;
    if (ids == nullptr || (query.weight >= 0 && weights == nullptr)) continue;  // not delivered
    for_each_counted(view, [&](Index i) {
      Index3 cell{};
      for (int a = 0; a < lattice.dimensions; ++a) {
        const auto axis = static_cast<std::size_t>(a);
        cell[axis] = place_along(field, axis, real_at(view, i, a));
        if (cell[axis] < 0) return;
      }
      if (values.surely_below(cell)) return;
      PlacedParticle particle{0, lattice.row_of(cell), cell[lattice.along]};
      particle.id = with_type(ids->array.type, [&](auto zero) {
        return static_cast<std::int64_t>(*ids->array.at<decltype(zero)>(i, 0, 0, 0));
      });
      if (weights) particle.weight = real_at(*weights, i, query.component);
      if (!std::isfinite(particle.weight)) particle.weight = 0;
      placed.push_back(particle);
    });
  }
  return placed;
}

std::vector<HaloMember> members_of(const std::vector<PlacedParticle>& particles, const std::vector<OwnedRun>& runs,
                                   const Lattice& lattice, Communicator& servers) {
  std::map<int, std::vector<PlacedParticle>> to_rows;
  for (const PlacedParticle& one : particles) to_rows[lattice.keeper(one.row, servers.size())].push_back(one);
  std::vector<HaloMember> members;
  for (const PlacedParticle& one : exchanged(to_rows, servers)) {
    const Index peak = owner_of(runs, one.row, one.place);
    if (peak >= 0) members.push_back({one.id, peak, one.weight});
  }
  return dealt_by_number(members, servers);
}

std::vector<HaloMember> dealt_by_number(const std::vector<HaloMember>& mine, Communicator& servers) {
  std::map<int, std::vector<HaloMember>> to;
  for (const HaloMember& member : mine) to[keeper_of(member.id, servers.size())].push_back(member);
  std::vector<HaloMember> members = exchanged(to, servers);
  std::sort(members.begin(), members.end(),
            [](const HaloMember& a, const HaloMember& b) { return std::tie(a.id, a.peak) < std::tie(b.id, b.peak); });
  return members;
}

std::vector<SharedCells> shared_members(const std::vector<HaloMember>& before, const std::vector<HaloMember>& now,
                                        bool weighted, Communicator& servers) {
  ByteWriter out;
  std::vector<std::uint32_t> words;
  for (const auto& [pair, sum] : sums_of(before, now)) {
    words.clear();
    pack(sum.weight, words);
    out.put(pair);
    out.put(sum.particles);
    out.put(words);
  }
  SharedSums all;
  for (const Bytes& bytes : servers.gather(out.bytes(), 0)) {
    ByteReader in(bytes);
    while (!in.at_end()) {
      const auto pair = in.get<std::array<Index, 2>>();
      SharedSum& sum = all[pair];
      sum.particles += in.get<Index>();
      in.get(words);
      static_cast<void>(add_packed(words.data(), words.size(), sum.weight));
    }
  }
  std::vector<SharedCells> shared;
  for (const auto& [pair, sum] : all) {
    shared.push_back({pair[0], pair[1], sum.particles, weighted ? sum.weight.value() : 0});
  }
  return shared;
}

}  // namespace sidestream::halos
