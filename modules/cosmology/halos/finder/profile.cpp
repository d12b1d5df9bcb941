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
#include "sidestream/kit/analysis/common_options.hpp"
#include "sidestream/kit/reduce/exact_sum_forms.hpp"

namespace sidestream::halos {

namespace {

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

/// A server's sums of a halo's shells.
struct HaloBytes {
  std::int64_t halo = 0;
  Bytes sums;
};

/// Sends the sums of each halo to the server that has it; sorted by halo. Collective.
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

/// Radius where a density equals `sought`, if it is `high` at radius a and `low` at b: along a power law, or along a
/// straight line if there is none.
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
    ExactSum within = sums.mass(0), enclosed = sums.volume(0);
    std::int64_t cells = sums.cells(0);
    std::vector<double> densities{density(within, cells, enclosed)};  // within each edge
    for (std::size_t s = 1; s <= query_.shells(); ++s) {
      within.add(sums.mass(s));
      enclosed.add(sums.volume(s));
      cells += sums.cells(s);
      densities.push_back(density(within, cells, enclosed));
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

namespace {

/// Shells as configured.
struct Shells {
  std::vector<double> ends{};
  double unit = 1;
  int bins = 0;
  bool logarithmic = false;
};

OptionTable<Shells> shell_options(double shortest) {
  return {
      option("radius", &Shells::ends,
             "Radius of the outermost shell, or the inner radius of the innermost shell and that. With one radius, the "
             "innermost shell begins at 0, or, on a logarithmic scale, at a hundredth of it.",
             {.required = true, .least_entries = 1, .most_entries = 2}),
      option<OptionType::choice>(
          "units", &Shells::unit,
          "Units of `radius`: `length`, those of the mesh's coordinates, or `cells`, the shortest side of a cell (of "
          "the coarsest level).",
          {.standard = "length", .choices = {{"length", 1}, {"cells", shortest}}}),
      option("bins", &Shells::bins, "Number of shells.", {.standard = 20, .minimum = 1, .maximum = 10000}),
      option<OptionType::choice>("scale", &Shells::logarithmic,
                                 "`linear`: shells of equal width. `logarithmic`: radii with equal ratios.",
                                 {.standard = "linear", .choices = {{"linear", false}, {"logarithmic", true}}})};
}

std::vector<double> read_edges(const Settings& settings, double shortest) {
  auto [ends, unit, bins, logarithmic] = shell_options(shortest).read(settings);
  if (ends.size() == 1) ends.insert(ends.begin(), logarithmic ? ends[0] / 100 : 0);
  if (!(ends[0] >= 0) || !(ends[0] < ends[1]) || !std::isfinite(ends[1] * ends[1]) || (logarithmic && ends[0] == 0)) {
    settings.fail("radius", fmt::format("found {} to {}, expected finite radii, the lower one first and not below 0{}",
                                        ends[0], ends[1], logarithmic ? "; above 0 on a logarithmic scale" : ""));
  }
  std::vector<double> edges;
  for (int n = 0; n <= bins; ++n) {
    const double part = static_cast<double>(n) / bins;
    const double edge = n == 0        ? ends[0]
                        : n == bins   ? ends[1]
                        : logarithmic ? ends[0] * std::pow(ends[1] / ends[0], part)
                                      : ends[0] + part * (ends[1] - ends[0]);
    edges.push_back(edge * unit);
    if (n > 0 && !(edges[edges.size() - 2] < edges.back())) {
      settings.fail("bins",
                    fmt::format("{} shells from {} to {} are too narrow to be told apart", bins, ends[0], ends[1]));
    }
  }
  return edges;
}

std::vector<ProfileField> read_profile_fields(const Settings& settings, const Metadata& metadata,
                                              const Variable& density) {
  std::vector<ProfileField> fields;
  for (const std::int32_t id : read_fields(settings, density, metadata)) {
    const Variable& variable = metadata.variables.at(static_cast<std::size_t>(id));
    require_values_in_cells(settings, "fields", variable, metadata.mesh_of(variable), "`profile`");
    for (int c = 0; c < variable.components; ++c) {
      fields.push_back({id, c,
                        variable.components == 1 ? fmt::format("mean_{}", variable.name)
                                                 : fmt::format("mean_{}_{}", variable.name, c)});
    }
  }
  return fields;
}

void check_overdensities(const Settings& settings, const std::string& name, const Metadata&,
                         const ProfileQuery& query) {
  for (const double one : query.overdensities) {
    if (one > 0 && std::isfinite(one)) continue;
    settings.fail(name, fmt::format("found {}, expected numbers above 0", one));
  }
  if (!query.overdensities.empty() && !query.sphere) {
    settings.fail(name, "they count all that lies within a radius: expected `of: sphere`, found `of: halo`");
  }
}

void check_reference(const Settings& settings, const std::string& name, const Metadata&, const ProfileQuery& query) {
  if (!query.reference) return;
  if (query.overdensities.empty()) {
    settings.fail(name,
                  "found 'reference' without `overdensities`, which are multiples of it, expected both; "
                  "add them or remove this");
  }
  if (!(*query.reference > 0) || !std::isfinite(*query.reference)) {
    settings.fail(name, fmt::format("found the density {}, expected one above 0", *query.reference));
  }
}

OptionTable<ProfileQuery> centre_options() {
  using Query = ProfileQuery;
  return {
      option<OptionType::choice>("of", &Query::sphere,
                                 "The cells that count: all in the `sphere`, or only those of the `halo`.",
                                 {.standard = "sphere", .choices = {{"sphere", true}, {"halo", false}}}),
      option(
          "about", &Query::about,
          "The centre of the shells: the middle of the `peak`'s cell, the centroid weighted by the values (`mass`; "
          "the peak for halos without one), or the plain centroid (`centre`).",
          {.standard = "peak",
           .choices = {
               {"peak", Query::About::peak}, {"mass", Query::About::mass_centre}, {"centre", Query::About::centre}}})};
}

OptionTable<ProfileQuery> overdensity_options() {
  using Query = ProfileQuery;
  return {
      option("overdensities", &Query::overdensities,
             "For each of these numbers, such as 200, the table of halos gets two columns. `r_200` is the radius at "
             "which, going outwards, the mean density within first falls below 200 times `reference`; `mass_200` is "
             "the mass of a sphere of that density. Both are `nan` if the density does not fall below it between two "
             "of the shells' radii.")
          .then(check_overdensities),
      option("reference", &Query::reference,
             "The density of which overdensities are multiples, for example the critical density. Default: the mean of "
             "all finite values.")
          .then(check_reference)};
}

}  // namespace

OptionTable<ProfileQuery> profile_options(const Variable& density, double shortest) {
  using Query = ProfileQuery;
  const Option fields{.name = "fields",
                      .type = OptionType::variable,
                      .list = true,
                      .text = "Variables in the same cells, whose means, weighted by mass, are added to the table."};
  const auto edges = [=](const Settings& settings) { return read_edges(settings, shortest); };
  const auto means = [=](const Settings& settings, const Metadata& metadata, const Query&) {
    return read_profile_fields(settings, metadata, density);
  };
  OptionTable<Query> options{
      file_option(
          &Query::file, "halo-profiles-{index:05}.csv",
          "The table: a row for each shell of each halo with its `lower` and `upper` radius, the number of `cells` "
          "whose middle is in it, their `mass`, `density` (the mean of their values), `mass_within` the upper "
          "radius, `density_within` it, and the means of `fields`, weighted by mass."),
      pieces_option(&Query::pieces)};
  options.add(centre_options());
  options.add(options_read_by(edges, shell_options(shortest).declarations(), &Query::edges));
  options.add(options_read_by(means, {fields}, &Query::fields));
  return options.add(overdensity_options());
}

}  // namespace sidestream::halos
