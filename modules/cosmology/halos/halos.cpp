// Halos: connected components of cells above a threshold whose maximum reaches a higher one, as in section 4.1 of "In
// situ and in-transit analysis of cosmological simulations" (Friesen et al., 2016).
//
// Each server finds the components of its blocks. Those that touch no other block are finished at once. For the others,
// sums for each plane of cells along each axis are kept until it is known which parts belong together and where the
// peaks are. Up to three passes: mean (if thresholds refer to it), find, and look_again (profiles and labels, which
// need all halos).
#include <fmt/format.h>

#include "cosmology/halos/amr/level_task.hpp"
#include "cosmology/halos/finder/gathering.hpp"
#include "cosmology/halos/finder/halo_table.hpp"
#include "cosmology/halos/finder/history.hpp"
#include "cosmology/halos/finder/known_halos.hpp"
#include "cosmology/halos/finder/labels.hpp"
#include "cosmology/halos/finder/mass_function.hpp"
#include "cosmology/halos/finder/profile.hpp"
#include "cosmology/kinds.hpp"
#include "sidestream/kit/analysis/common_options.hpp"

namespace sidestream {
namespace halos {
namespace {

struct HalosQuery {
  Field field;
  Thresholds thresholds;
  std::string file;
  Pieces pieces = Pieces::automatic;
  std::optional<MassFunction> mass_function;
  std::optional<HistoryQuery> history;
  std::optional<ProfileQuery> profile;
  std::optional<LabelQuery> labels;
};

class Halos final : public Task {
 public:
  explicit Halos(HalosQuery query) : query_(std::move(query)), steps_(row_steps(query_.field.connectivity)) {
    if (query_.history) history_.emplace(*query_.history, query_.field);
  }

  Selection selection() const override {
    Selection selection{{{query_.field.variable, 0}}};
    if (query_.profile) {
      for (const ProfileField& field : query_.profile->fields) selection.variables.emplace_back(field.variable, 0);
    }
    if (particles()) {
      for (const std::int32_t id : {particles()->coordinates, particles()->ids, particles()->weight}) {
        if (id >= 0) selection.variables.emplace_back(id, 0);
      }
    }
    selection.geometry = false;
    return selection;
  }
  int passes() const override { return (needs_mean() ? 1 : 0) + 1 + (looks_again() ? 1 : 0); }

  Bytes local(const LocalInput& input) override {
    const auto& views = input.of(query_.field.variable);
    switch (stage_of(input.pass)) {
      case Stage::mean:
        return sum_values(views, query_.field.component);
      case Stage::find: {
        const double unit = query_.thresholds.of_mean ? mean_of(input.feedback) : 1;
        return find(input, unit);
      }
      default:
        return look_again(input);
    }
  }

  Bytes combine(const CombineInput& input) override {
    switch (stage_of(input.pass)) {
      case Stage::mean:
        return mean_ = combine_mean(input.partials, input.communicator);
      case Stage::find:
        gather(input);
        if (looks_again()) {
          const auto offset_of = [&](const Halo& halo) {
            return query_.profile ? query_.profile->offset_of(halo.weighted, halo.plain) : std::array<double, 3>{};
          };
          return known_halos(halos_, gathered_.parts, offset_of, mean(), input.communicator).to_bytes();
        }
        write(input);
        return {};
      default:
        write(input);
        return {};
    }
  }

  void discard(const Iteration&) noexcept override {
    gathered_ = {};
    halos_.clear();
    particles_.clear();
  }

 private:
  [[nodiscard]] const ParticleQuery* particles() const {
    return query_.history && query_.history->particles ? &*query_.history->particles : nullptr;
  }
  enum class Stage { mean, find, look_again };

  [[nodiscard]] bool needs_mean() const {
    return query_.thresholds.of_mean || (query_.profile && query_.profile->needs_mean());
  }
  [[nodiscard]] bool looks_again() const { return query_.profile || query_.labels; }
  [[nodiscard]] Stage stage_of(int pass) const { return static_cast<Stage>(pass + (needs_mean() ? 0 : 1)); }
  [[nodiscard]] double mean() const { return needs_mean() ? mean_of(mean_) : 0; }
  [[nodiscard]] Rule rule(double unit) const {
    return {query_.thresholds.boundary * unit, query_.field.component, steps_};
  }
  [[nodiscard]] HaloRule halo_rule(double unit) const {
    return {query_.thresholds.peak * unit, query_.thresholds.least_cells};
  }

  /// Searches this server's blocks, and places its particles.
  [[nodiscard]] Bytes find(const LocalInput& input, double unit) const {
    ByteWriter out;
    find_parts(input.of(query_.field.variable), query_.field.lattice, rule(unit), halo_rule(unit), history_.has_value())
        .write(out);
    if (particles()) out.put(place_particles(*particles(), query_.field, rule(unit).boundary, input));
    return out.take();
  }

  /// Collects everything that needs the list of all halos from this server's cells.
  [[nodiscard]] Bytes look_again(const LocalInput& input) const {
    const KnownHalos known = KnownHalos::from_bytes(input.feedback);
    const double unit = query_.thresholds.of_mean ? known.mean : 1;
    std::vector<NumberedRun> runs;
    if (query_.labels || !query_.profile->sphere) {
      runs = numbered_runs(input.of(query_.field.variable), query_.field.lattice, rule(unit), halo_rule(unit), known);
    }
    ByteWriter out;
    if (query_.profile) out.put(sum_shells(*query_.profile, query_.field, runs, known, input));
    if (query_.labels) out.put(runs);
    return out.take();
  }

  void gather(const CombineInput& input) {
    const double unit = query_.thresholds.of_mean ? mean_of(mean_) : 1;
    LocalComponents found;
    particles_.clear();
    for (const Bytes& partial : input.partials) {
      ByteReader in(partial);
      found.append(LocalComponents::read(in));
      if (!particles()) continue;
      std::vector<PlacedParticle> some;
      in.get(some);
      particles_.insert(particles_.end(), some.begin(), some.end());
    }
    gathered_ = gather_halos(std::move(found), query_.field.lattice, rule(unit), halo_rule(unit), input.communicator);
    halos_ = sorted_halos(gathered_.halos, input.communicator);
  }

  /// Writes all results in the last pass, so that an iteration that fails earlier leaves none, and histories unchanged.
  void write(const CombineInput& input) {
    const std::int64_t first = input.communicator.exclusive_sum(static_cast<std::int64_t>(halos_.size()));
    std::vector<Column> columns = halo_columns(halos_, query_.field, first);
    auto [shells, runs] = seen_again(input);
    if (query_.profile) {
      std::vector<Index> peaks;
      for (const Halo& halo : halos_) peaks.push_back(halo.peak.id);
      const ShellUnits units{query_.field.lattice.dimensions, query_.field.cell_volume(), false};
      VirialColumns virial = write_profiles(*query_.profile, units, std::move(shells), peaks, first, mean(), input);
      for (std::size_t n = 0; n < virial.names.size(); ++n) {
        columns.push_back({virial.names[n], std::move(virial.values[n])});
      }
    }
    input.results.add_parts(query_.file, Table(std::move(columns)), input.communicator, query_.pieces);
    if (query_.labels) write_labels(*query_.labels, query_.field, runs, input);
    if (query_.mass_function) write_masses(input);
    if (history_) history_->follow(gathered_.runs, halos_, particles_, input);
    discard(input.iteration);
  }

  /// Merged results of `look_again`: sums of shells, and runs.
  [[nodiscard]] std::pair<std::vector<Bytes>, std::vector<NumberedRun>> seen_again(const CombineInput& input) const {
    std::pair<std::vector<Bytes>, std::vector<NumberedRun>> seen;
    if (!looks_again()) return seen;
    for (const Bytes& partial : input.partials) {
      ByteReader in(partial);
      if (query_.profile) in.get(seen.first.emplace_back());
      if (!query_.labels) continue;
      std::vector<NumberedRun> some;
      in.get(some);
      seen.second.insert(seen.second.end(), some.begin(), some.end());
    }
    return seen;
  }

  void write_masses(const CombineInput& input) const {
    const double volume = query_.field.cell_volume();
    std::vector<double> masses;
    for (const Halo& halo : halos_) masses.push_back(halo.mass * volume);
    const double whole = volume * static_cast<double>(query_.field.lattice.cells());
    write_mass_function(*query_.mass_function, masses, whole, query_.field.name, input);
  }

  HalosQuery query_;
  std::vector<RowStep> steps_;
  std::optional<HaloHistory> history_;
  // Kept between the passes of one iteration.
  Bytes mean_;
  Gathered gathered_;
  std::vector<Halo> halos_;                ///< this server's share, sorted over all
  std::vector<PlacedParticle> particles_;  ///< particles of this server
};

std::vector<Option> options() {
  std::vector<Option> all = field_options();
  for (Option& option : threshold_options()) all.push_back(std::move(option));
  all.push_back(file_option("halos-{index:05}.csv", "The table, a row for each halo."));
  all.push_back(pieces_option());
  all.push_back(mass_function_option());
  all.push_back(history_option());
  all.push_back(profile_option());
  all.push_back(label_option());
  return all;
}

}  // namespace
}  // namespace halos

AnalysisKind halos_kind() {
  return {
      .name = "halos",
      .text =
          "Halos of a density: connected sets of cells >= `boundary` whose greatest value is >= `halo`, on uniform "
          "meshes of one to three dimensions with and without refinement levels, and on octrees. One table per "
          "iteration, in the order of the peaks' linear index (i * nj + j) * nk + k, counted from the mesh's lower "
          "end; of equal values the one with the larger index is the peak. Each cell counts once; ghosts and NaN do "
          "not count. `mass` is the sum of the values times the volume of a cell (area or length on meshes of two "
          "dimensions or one), in the variable's unit times that of the coordinates cubed. `mass_x` and so on are "
          "the centroid weighted by the values, `centre_x` the plain centroid; on periodic meshes both are computed "
          "around the peak and then wrapped into the mesh. `low_i` to `high_i` are the first and last cells; they "
          "lie outside the mesh for a halo that continues across a periodic face. Sums are exact and rounded once, "
          "so the table does not depend on how the mesh is divided. docs/cosmology.md.",
      .options = halos::options(),
      .create = [](const Settings& settings, const Metadata& metadata) -> std::unique_ptr<Task> {
        if (has_levels(metadata.mesh_of(read_variable(settings, metadata)))) {
          return halos::level_halos(settings, metadata);
        }
        halos::HalosQuery query{halos::read_field(settings, metadata, "`halos`"),
                                halos::read_thresholds(settings),
                                settings.text("file"),
                                read_pieces(settings),
                                halos::read_mass_function(settings),
                                {},
                                {},
                                halos::read_labels(settings)};
        const Variable& density = metadata.variables.at(static_cast<std::size_t>(query.field.variable));
        query.history = halos::read_history(settings, metadata, density);
        query.profile = halos::read_profile(settings, metadata, density, query.field.shortest());
        return std::make_unique<halos::Halos>(std::move(query));
      },
  };
}

}  // namespace sidestream
