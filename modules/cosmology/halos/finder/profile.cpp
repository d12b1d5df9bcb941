// Profiles of halos from sums over shells.
//
// Every server sends its exact sums of each halo's shells to the server that has the halo in the table
// (exchange_shells). That server adds them up and computes, for each shell, densities in it and within it. Going
// outwards, the first shell in which the density within falls below an overdensity gives its radius, by a power law
// between the shell's edges (crossing).
#include "cosmology/halos/finder/profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>

#include "cosmology/halos/finder/shells.hpp"
#include "sidestream/kit/reduce/exact_sum_forms.hpp"

namespace sidestream::halos {
namespace {

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

/// A server's sums of a halo's shells.
struct HaloBytes {
  std::int64_t halo = 0;
  Bytes sums;
};

/// Collective: sends the sums of each halo to the server that has it; sorted by halo.
std::vector<HaloBytes> exchange_shells(std::vector<Bytes> partials, std::int64_t mine, Communicator& servers) {
  std::vector<std::int64_t> ends;  // the first number beyond each server's halos
  for (const Bytes& bytes : servers.all_gather(bytes_of(mine))) {
    ends.push_back((ends.empty() ? 0 : ends.back()) + record_of<std::int64_t>(bytes));
  }
  std::map<int, ByteWriter> to;
  for (Bytes& partial : partials) {
    ByteReader in(partial);
    while (!in.at_end()) {
      HaloBytes one{in.get<std::int64_t>(), {}};
      in.get(one.sums);
      const auto server = static_cast<int>(std::upper_bound(ends.begin(), ends.end(), one.halo) - ends.begin());
      to[server].put(one.halo);
      to[server].put(one.sums);
    }
    Bytes().swap(partial);
  }
  std::vector<MemberMessage> messages;
  for (auto& [server, out] : to) messages.push_back({server, out.take()});
  std::vector<HaloBytes> came;
  for (const MemberMessage& message : servers.exchange(std::move(messages))) {
    ByteReader in(message.bytes);
    while (!in.at_end()) {
      HaloBytes& one = came.emplace_back();
      in.get(one.halo);
      in.get(one.sums);
    }
  }
  std::stable_sort(came.begin(), came.end(), [](const HaloBytes& a, const HaloBytes& b) { return a.halo < b.halo; });
  return came;
}

/// Length, area or volume within a radius.
double volume_within(double radius, int dimensions) {
  if (dimensions == 1) return 2 * radius;
  return dimensions == 2 ? std::numbers::pi * radius * radius : 4 * std::numbers::pi / 3 * radius * radius * radius;
}

/// Radius at which a density that is `high` at radius a and `low` at b equals `sought`: along a power law, or along a
/// straight line where there is none.
double crossing(double a, double b, double high, double low, double sought) {
  if (a > 0 && low > 0 && std::isfinite(high)) {
    const double part = std::log(high / sought) / std::log(high / low);
    return a * std::pow(b / a, part);
  }
  if (!std::isfinite(high) || !std::isfinite(low)) return nothing;
  return a + (b - a) * (high - sought) / (high - low);
}

class Profiles {
 public:
  Profiles(const ProfileQuery& query, const ShellUnits& units, double mean)
      : query_(query), units_(units), unit_(query.reference.value_or(mean)), fields_(query.fields.size()) {
    for (const double one : query.overdensities) {
      for (const char* of : {"r_{}", "mass_{}"}) {
        virial_.names.push_back(fmt::format(fmt::runtime(of), one));
        virial_.values.emplace_back();
      }
    }
  }

  void add(std::int64_t number, Index peak, const ShellSums& sums) {
    ExactSum within = sums.mass(0), room = sums.volume(0);
    std::int64_t cells = sums.cells(0);
    std::vector<double> densities{density(within, cells, room)};  // within each edge
    for (std::size_t s = 1; s <= query_.shells(); ++s) {
      within.add(sums.mass(s));
      room.add(sums.volume(s));
      cells += sums.cells(s);
      densities.push_back(density(within, cells, room));
      numbers_.push_back(number);
      peaks_.push_back(peak);
      shells_.push_back(static_cast<std::int64_t>(s) - 1);
      cells_.push_back(sums.cells(s));
      low_.push_back(query_.edges[s - 1]);
      high_.push_back(query_.edges[s]);
      volumes_.push_back(sums.volume(s).value() * units_.volume);
      masses_.push_back(sums.mass(s).value() * units_.volume);
      densities_.push_back(density(sums.mass(s), sums.cells(s), sums.volume(s)));
      masses_within_.push_back(within.value() * units_.volume);
      densities_within_.push_back(densities.back());
      for (std::size_t f = 0; f < fields_.size(); ++f) fields_[f].push_back(sums.mean(s, f));
    }
    for (std::size_t n = 0; n < query_.overdensities.size(); ++n) {
      const double sought = query_.overdensities[n] * unit_;
      const double radius = radius_of(sought, densities);
      virial_.values[2 * n].push_back(radius);
      virial_.values[2 * n + 1].push_back(sought * volume_within(radius, units_.dimensions));
    }
  }

  [[nodiscard]] Table table() {
    std::vector<Column> columns{{"halo", std::move(numbers_)}};
    if (!units_.levels) columns.push_back({"peak_index", std::move(peaks_)});
    columns.push_back({"shell", std::move(shells_)});
    columns.push_back({"lower", std::move(low_)});
    columns.push_back({"upper", std::move(high_)});
    columns.push_back({"cells", std::move(cells_)});
    if (units_.levels) columns.push_back({"volume", std::move(volumes_)});
    columns.push_back({"mass", std::move(masses_)});
    columns.push_back({"density", std::move(densities_)});
    columns.push_back({"mass_within", std::move(masses_within_)});
    columns.push_back({"density_within", std::move(densities_within_)});
    for (std::size_t f = 0; f < fields_.size(); ++f) columns.push_back({query_.fields[f].name, std::move(fields_[f])});
    return Table(std::move(columns));
  }
  [[nodiscard]] VirialColumns take_virial() { return std::move(virial_); }

 private:
  /// Mean of the values, by volume.
  [[nodiscard]] double density(const ExactSum& mass, std::int64_t cells, const ExactSum& volume) const {
    if (cells == 0) return nothing;
    return quotient_of(mass, units_.levels ? volume.value() : static_cast<double>(cells));
  }
  /// `densities`: within each edge.
  [[nodiscard]] double radius_of(double sought, const std::vector<double>& densities) const {
    for (std::size_t s = 1; s < densities.size(); ++s) {
      if (densities[s - 1] >= sought && densities[s] < sought) {
        return crossing(query_.edges[s - 1], query_.edges[s], densities[s - 1], densities[s], sought);
      }
    }
    return nothing;
  }

  const ProfileQuery& query_;
  const ShellUnits& units_;
  double unit_;
  std::vector<std::int64_t> numbers_, peaks_, shells_, cells_;
  std::vector<double> low_, high_, volumes_, masses_, densities_, masses_within_, densities_within_;
  std::vector<std::vector<double>> fields_;
  VirialColumns virial_;
};

}  // namespace

std::array<double, 3> ProfileQuery::offset_of(const std::array<double, 3>& weighted,
                                              const std::array<double, 3>& plain) const noexcept {
  if (about == About::peak) return {};
  const std::array<double, 3>& offset = about == About::centre ? plain : weighted;
  const bool known = std::all_of(offset.begin(), offset.end(), [](double x) { return std::isfinite(x); });
  return known ? offset : std::array<double, 3>{};
}

VirialColumns write_profiles(const ProfileQuery& query, const ShellUnits& units, std::vector<Bytes> partials,
                             const std::vector<Index>& mine, std::int64_t first, double mean,
                             const CombineInput& input) {
  const std::vector<HaloBytes> came =
      exchange_shells(std::move(partials), static_cast<std::int64_t>(mine.size()), input.communicator);
  Profiles profiles(query, units, mean);
  ShellSums sums(query.shells(), query.fields.size());
  auto one = came.begin();
  for (std::size_t h = 0; h < mine.size(); ++h) {
    const std::int64_t number = first + static_cast<std::int64_t>(h);
    for (; one != came.end() && one->halo == number; ++one) {
      ByteReader in(one->sums);
      sums.read(in);
    }
    profiles.add(number, mine[h], sums);
    sums.clear();
  }
  input.results.add_parts(query.file, profiles.table(), input.communicator, query.pieces);
  return profiles.take_virial();
}

}  // namespace sidestream::halos
