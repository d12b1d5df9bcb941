// Deposit of particles on the cells of a uniform mesh, distributed over the servers.
//
// The planes of the mesh across its last axis are divided evenly and contiguously among the servers.
// 1. Each server sends its particles to the servers whose planes they contribute to, by the assignment scheme (see
//    deposit).
// 2. Each server sorts the particles that it received by plane (counting sort) and then, plane by plane, their shares
//    by cell. A cell's shares are added exactly and rounded once, so that the order of particles does not matter.
// 3. Servers request the planes of the regions that they need from the servers that keep them, and copy the answers.
//    Indices beyond the faces of periodic axes are wrapped.
#include "server/derived/derived_deposits.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/mpi/agree.hpp"
#include "sidestream/extend/exact_sum.hpp"
#include "sidestream/kit/base/records.hpp"

namespace sidestream {
namespace {

/// Trivially copyable; sent between servers.
struct Particle {
  std::array<double, 3> x{};
  double weight = 1;
};

/// A requested plane of a region: its cells along the other axes, which may extend beyond the faces of a periodic mesh.
struct WantedPlane {
  std::int64_t region = 0;
  Index plane = 0;  ///< index in the mesh, from its lower end
  Index3 low{}, high{};
};

/// Numbering of the mesh's cells from its lower end, and the server that keeps each plane. Planes are perpendicular to
/// the last axis.
class Planes {
 public:
  Planes(const Mesh& mesh, Assignment method, int servers)
      : mesh_(mesh), method_(method), servers_(servers), across_(static_cast<std::size_t>(mesh.dimensions) - 1) {
    const auto& uniform = dynamic_cast<const UniformGeometry&>(*mesh.geometry);
    for (std::size_t a = 0; a < 3; ++a) {
      const int axis = static_cast<int>(a);
      const double spacing = uniform.spacing()[a], origin = uniform.origin()[a];
      axes_[a] = {mesh.cells.extent(axis), origin + spacing * static_cast<double>(mesh.cells.lo[a]),
                  origin + spacing * static_cast<double>(mesh.cells.hi[a]), mesh.periodic[a]};
      if (axis < mesh.dimensions)
        volume_ *= std::fabs((axes_[a].high - axes_[a].low) / static_cast<double>(axes_[a].cells));
    }
  }
  [[nodiscard]] std::size_t across() const noexcept { return across_; }
  [[nodiscard]] double volume() const noexcept { return volume_; }  ///< volume of a cell
  [[nodiscard]] Index extent(std::size_t axis) const noexcept { return axes_[axis].cells; }
  [[nodiscard]] Index first_of(int server) const noexcept {
    return static_cast<Index>(static_cast<__int128>(extent(across_)) * server / servers_);
  }
  [[nodiscard]] int keeper(Index plane) const noexcept {
    auto server = static_cast<int>(static_cast<__int128>(plane) * servers_ / extent(across_));
    while (first_of(server + 1) <= plane) ++server;  // corrects rounding
    return server;
  }
  [[nodiscard]] Index plane_cells() const noexcept { return extent(0) * extent(1) * extent(2) / extent(across_); }
  /// Index of the cell in its plane.
  [[nodiscard]] Index in_plane(const Index3& cell) const noexcept {
    Index number = 0;
    for (std::size_t a = 3; a-- > 0;) {
      if (a != across_) number = number * extent(a) + cell[a];
    }
    return number;
  }
  /// Computes the shares of a particle along each axis. Returns false if the particle lies outside the mesh.
  [[nodiscard]] bool shares_of(const Particle& particle, std::array<AxisShares, 3>& shares) const noexcept {
    for (std::size_t a = 0; a <= across_; ++a) {
      if (!shares_along(axes_[a], method_, particle.x[a], shares[a])) return false;
    }
    return true;
  }
  /// Converts an index of the mesh, also one beyond its periodic faces, to a cell index from the lower end.
  [[nodiscard]] Index wrapped(std::size_t axis, Index index) const noexcept {
    const Index n = extent(axis), from_low = index - mesh_.cells.lo[axis];
    return axes_[axis].periodic ? (from_low % n + n) % n : from_low;
  }

 private:
  const Mesh& mesh_;
  Assignment method_;
  int servers_;
  std::size_t across_;
  std::array<ShareAxis, 3> axes_;
  double volume_ = 1;
};

const BlockView* find(const std::vector<BlockView>& views, std::int64_t id) {
  const auto at = std::lower_bound(views.begin(), views.end(), id,
                                   [](const BlockView& view, std::int64_t other) { return view.block.id < other; });
  return at == views.end() || at->block.id != id ? nullptr : &*at;
}

double value_at(const ArrayView& array, Index i, int component) {
  return with_type(array.type,
                   [&](auto zero) { return static_cast<double>(*array.at<decltype(zero)>(i, 0, 0, component)); });
}

/// Calls `f` for each delivered particle that this server counts.
template <class F>
void for_each_particle(const Deposit& deposit, const Metadata& metadata, const Views& views, F&& f) {
  const Mesh& mesh = metadata.meshes[static_cast<std::size_t>(deposit.particles)];
  for (const BlockView& view : views.blocks[static_cast<std::size_t>(mesh.array(Role::coordinates))]) {
    const BlockView* weight =
        deposit.weight < 0 ? nullptr : find(views.blocks[static_cast<std::size_t>(deposit.weight)], view.block.id);
    if (deposit.weight >= 0 && weight == nullptr) continue;
    for (const Box& box : view.counted()) {
      for (Index i = box.lo[0]; i < box.hi[0]; ++i) {
        if (view.ghosts.data != nullptr && *view.ghosts.at<std::uint8_t>(i, 0, 0) != 0) continue;
        Particle particle;
        for (int a = 0; a < mesh.dimensions; ++a) particle.x[static_cast<std::size_t>(a)] = value_at(view.array, i, a);
        if (weight) particle.weight = value_at(weight->array, i, deposit.component);
        f(particle);
      }
    }
  }
}

/// Calls `f` once for each plane that a particle contributes to.
template <class F>
void for_each_plane(const AxisShares& shares, F&& f) {
  for (int n = 0; n < shares.count; ++n) {
    const Index plane = shares.cells[static_cast<std::size_t>(n)];
    bool before = false;
    for (int m = 0; m < n; ++m) before = before || shares.cells[static_cast<std::size_t>(m)] == plane;
    if (!before) f(plane);
  }
}

std::vector<MemberMessage> particles_for(const Deposit& deposit, const Metadata& metadata, const Views& views,
                                         const Planes& planes, int servers) {
  std::vector<std::vector<Particle>> to(static_cast<std::size_t>(servers));
  for_each_particle(deposit, metadata, views, [&](const Particle& particle) {
    std::array<AxisShares, 3> shares;
    if (!planes.shares_of(particle, shares)) return;
    int last = -1, before = -1;  // one or two servers; three only for tiny meshes
    for_each_plane(shares[planes.across()], [&](Index plane) {
      const int server = planes.keeper(plane);
      if (server == last || server == before) return;
      before = last;
      last = server;
      to[static_cast<std::size_t>(server)].push_back(particle);
    });
  });
  std::vector<MemberMessage> messages;
  for (std::size_t r = 0; r < to.size(); ++r) {
    if (to[r].empty()) continue;
    messages.push_back({static_cast<int>(r), bytes_of(to[r])});
    std::vector<Particle>().swap(to[r]);
  }
  return messages;
}

/// Sums of particle shares in the cells of one plane, added exactly.
class PlaneSums {
 public:
  explicit PlaneSums(const Planes& planes)
      : planes_(planes), begins_(static_cast<std::size_t>(planes.plane_cells()) + 1) {}

  void add(const Particle& particle, Index plane) {
    std::array<AxisShares, 3> shares;
    static_cast<void>(planes_.shares_of(particle, shares));
    for_each_share(shares, particle.weight, [&](const Index3& cell, double value) {
      if (cell[planes_.across()] == plane) terms_.push_back({planes_.in_plane(cell), value});
    });
  }
  /// Writes the densities and clears the sums.
  void finish(double* densities) {
    std::fill(begins_.begin(), begins_.end(), 0);
    for (const Term& term : terms_) ++begins_[static_cast<std::size_t>(term.cell) + 1];
    for (std::size_t n = 1; n < begins_.size(); ++n) begins_[n] += begins_[n - 1];
    sorted_.resize(terms_.size());
    for (const Term& term : terms_) sorted_[begins_[static_cast<std::size_t>(term.cell)]++] = term.value;
    std::size_t first = 0;
    for (std::size_t n = 0; n + 1 < begins_.size(); ++n) {  // each begin has become an end
      densities[n] = sum(first, begins_[n]) / planes_.volume();
      first = begins_[n];
    }
    terms_.clear();
  }

 private:
  struct Term {
    Index cell;
    double value;
  };
  [[nodiscard]] double sum(std::size_t first, std::size_t end) const {
    if (end - first <= 1) return first == end ? 0 : sorted_[first];
    if (end - first == 2) return sorted_[first] + sorted_[first + 1];  // also rounded once
    ExactSum exact;
    for (std::size_t n = first; n < end; ++n) exact.add(sorted_[n]);
    return exact.value();
  }

  const Planes& planes_;
  std::vector<std::size_t> begins_;
  std::vector<Term> terms_;
  std::vector<double> sorted_;
};

/// Computes the densities in the planes [first, end), which are contiguous in the result.
std::vector<double> densities(std::vector<MemberMessage> messages, const Planes& planes, Index first, Index end) {
  std::vector<Particle> particles;
  for (MemberMessage& message : messages) {
    const auto some = records_of<Particle>(message.bytes);
    Bytes().swap(message.bytes);
    particles.insert(particles.end(), some.begin(), some.end());
  }
  if (particles.size() > std::numeric_limits<std::uint32_t>::max()) {
    fail(Code::analysis, "{} particles are to be put on the cells of one server, which can take {}; use more servers",
         particles.size(), std::numeric_limits<std::uint32_t>::max());
  }
  // Sorts by plane; a particle appears in each plane that it contributes to.
  std::vector<std::size_t> begins(static_cast<std::size_t>(end - first) + 2);
  const auto for_each = [&](auto&& f) {
    for (std::size_t n = 0; n < particles.size(); ++n) {
      std::array<AxisShares, 3> shares;
      static_cast<void>(planes.shares_of(particles[n], shares));
      for_each_plane(shares[planes.across()], [&](Index plane) {
        if (plane >= first && plane < end) f(n, static_cast<std::size_t>(plane - first));
      });
    }
  };
  for_each([&](std::size_t, std::size_t plane) { ++begins[plane + 2]; });
  for (std::size_t n = 2; n < begins.size(); ++n) begins[n] += begins[n - 1];
  std::vector<std::uint32_t> numbers(begins.back());
  for_each([&](std::size_t n, std::size_t plane) { numbers[begins[plane + 1]++] = static_cast<std::uint32_t>(n); });
  std::vector<double> values(static_cast<std::size_t>((end - first) * planes.plane_cells()));
  PlaneSums sums(planes);
  for (Index plane = first; plane < end; ++plane) {
    const auto p = static_cast<std::size_t>(plane - first);
    for (std::size_t n = begins[p]; n < begins[p + 1]; ++n) sums.add(particles[numbers[n]], plane);
    sums.finish(values.data() + static_cast<Index>(p) * planes.plane_cells());
  }
  return values;
}

/// Requested planes, by the server that keeps them.
std::vector<std::vector<WantedPlane>> wanted_planes(std::span<const Box> regions, const Planes& planes, int servers) {
  std::vector<std::vector<WantedPlane>> to(static_cast<std::size_t>(servers));
  for (std::size_t r = 0; r < regions.size(); ++r) {
    if (regions[r].empty()) continue;
    for (Index p = regions[r].lo[planes.across()]; p < regions[r].hi[planes.across()]; ++p) {
      WantedPlane one{static_cast<std::int64_t>(r), planes.wrapped(planes.across(), p), regions[r].lo, regions[r].hi};
      one.low[planes.across()] = p;
      one.high[planes.across()] = p + 1;
      to[static_cast<std::size_t>(planes.keeper(one.plane))].push_back(one);
    }
  }
  return to;
}

/// Calls `f` for each cell of a requested plane.
template <class F>
void for_each_cell(const WantedPlane& one, F&& f) {
  Index3 p;
  for (p[2] = one.low[2]; p[2] < one.high[2]; ++p[2]) {
    for (p[1] = one.low[1]; p[1] < one.high[1]; ++p[1]) {
      for (p[0] = one.low[0]; p[0] < one.high[0]; ++p[0]) f(p);
    }
  }
}

std::vector<MemberMessage> answers(const std::vector<MemberMessage>& requests, const std::vector<double>& values,
                                   const Planes& planes, Index first) {
  std::vector<MemberMessage> messages;
  for (const MemberMessage& request : requests) {
    std::vector<double> found;
    for (const WantedPlane& one : records_of<WantedPlane>(request.bytes)) {
      const double* plane = values.data() + (one.plane - first) * planes.plane_cells();
      for_each_cell(one, [&](const Index3& p) {
        Index3 cell{};
        for (std::size_t a = 0; a < 3; ++a) cell[a] = planes.wrapped(a, p[a]);
        found.push_back(plane[planes.in_plane(cell)]);
      });
    }
    messages.push_back({request.member, bytes_of(found)});
  }
  return messages;
}

}  // namespace

std::vector<DerivedField> deposited(const Deposit& deposit, const Metadata& metadata, const Mesh& mesh,
                                    const Views& views, std::span<const Box> regions, Communicator& servers) {
  const Planes planes(mesh, deposit.method, servers.size());
  std::vector<MemberMessage> out;
  run_collectively(servers, [&] { out = particles_for(deposit, metadata, views, planes, servers.size()); });
  std::vector<MemberMessage> in = servers.exchange(std::move(out));
  const Index first = planes.first_of(servers.rank()), end = planes.first_of(servers.rank() + 1);
  std::vector<double> values;
  std::vector<std::vector<WantedPlane>> wanted;
  out = {};
  run_collectively(servers, [&] {
    values = densities(std::move(in), planes, first, end);
    wanted = wanted_planes(regions, planes, servers.size());
    for (std::size_t r = 0; r < wanted.size(); ++r) {
      if (!wanted[r].empty()) out.push_back({static_cast<int>(r), bytes_of(wanted[r])});
    }
  });
  in = servers.exchange(std::move(out));
  run_collectively(servers, [&] { out = answers(in, values, planes, first); });
  std::vector<double>().swap(values);
  in = servers.exchange(std::move(out));
  std::vector<DerivedField> fields;
  run_collectively(servers, [&] {
    for (const Box& region : regions) {
      DerivedField& field = fields.emplace_back(DerivedField{region});
      field.components.emplace_back(static_cast<std::size_t>(std::max<Index>(region.count(), 0)));
    }
    for (MemberMessage& message : in) {
      const auto found = records_of<double>(message.bytes);
      Bytes().swap(message.bytes);
      auto next = found.begin();
      for (const WantedPlane& one : wanted[static_cast<std::size_t>(message.member)]) {
        DerivedField& field = fields[static_cast<std::size_t>(one.region)];
        for_each_cell(one, [&](const Index3& p) { field.components[0][field.offset(p)] = *next++; });
      }
    }
  });
  return fields;
}

}  // namespace sidestream
