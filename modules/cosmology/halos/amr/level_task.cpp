// Halos on octrees and refinement levels, in up to three passes.
//
// 1. If thresholds or profiles refer to the mean: exact sums over all counted cells (mean).
// 2. Each server finds the components of its cells; parts of components are merged over servers (find,
//    level_parts.cpp).
// 3. If profiles, labels or histories are requested: every server gets all halos and visits its cells again
//    (look_again).
//
// All results are written in the last pass.
#include "cosmology/halos/amr/level_task.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "cosmology/halos/amr/level_halo.hpp"
#include "cosmology/halos/amr/level_history.hpp"
#include "cosmology/halos/amr/level_shells.hpp"
#include "cosmology/halos/finder/halo_options.hpp"
#include "cosmology/halos/finder/mass_function.hpp"
#include "sidestream/kit/analysis/common_options.hpp"
#include "sidestream/kit/base/numbers.hpp"
#include "sidestream/kit/reduce/exact_sum_forms.hpp"

namespace sidestream::halos {
namespace {

struct LevelQuery {
  std::int32_t variable = -1;
  int component = 0, connectivity = 14;
  std::string name, file;
  Thresholds thresholds;
  Pieces pieces = Pieces::automatic;
  std::optional<MassFunction> mass_function;
  std::optional<HistoryQuery> history;
  std::optional<ProfileQuery> profile;
  std::optional<LabelQuery> labels;
};

/// Exact sums over all finite values: of value times volume, and of volume.
struct MeanSums {
  ExactSum mass, volume;
  [[nodiscard]] Bytes to_bytes() const {
    ByteWriter out;
    for (const ExactSum* sum : {&mass, &volume}) {
      for (const std::int64_t word : sum->serialise()) out.put(word);
    }
    return out.take();
  }
  void add(BytesView bytes) {
    const auto words = records_of<std::int64_t>(bytes);
    const std::span all(words);
    mass.add(ExactSum::deserialise(all.first<ExactSum::words>()));
    volume.add(ExactSum::deserialise(all.subspan(ExactSum::words).first<ExactSum::words>()));
  }
  [[nodiscard]] double mean() const { return quotient_of(mass, volume.value()); }  ///< NaN without values
};

class LevelHalos final : public Task {
 public:
  LevelHalos(LevelQuery query, const Mesh& mesh)
      : query_(std::move(query)), mesh_(mesh), levels_(mesh_, query_.connectivity) {
    if (query_.history) history_.emplace(*query_.history, levels_, query_.name);
  }

  Selection selection() const override {
    Selection selection;
    const auto add = [&](std::int32_t variable) { selection.variables.emplace_back(variable).covered = false; };
    add(query_.variable);
    if (query_.profile) {
      for (const ProfileField& field : query_.profile->fields) add(field.variable);
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
    switch (stage_of(input.pass)) {
      case Stage::mean:
        return sum_up(input);
      case Stage::find: {
        ByteWriter out;
        find(input, query_.thresholds.of_mean ? record_of<double>(input.feedback) : 1, nullptr).write(out);
        return out.take();
      }
      default:
        return look_again(input);
    }
  }

  Bytes combine(const CombineInput& input) override {
    switch (stage_of(input.pass)) {
      case Stage::mean:
        return combine_mean(input);
      case Stage::find:
        gather(input);
        if (looks_again()) {
          const auto offset_of = [&](const LevelHalo& halo) {
            return query_.profile ? query_.profile->offset_of(halo.weighted, halo.plain) : std::array<double, 3>{};
          };
          return known_levels(gathered_, offset_of, mean_, input.communicator).to_bytes();
        }
        write(input);
        return {};
      default:
        write(input);
        return {};
    }
  }

  void discard(const Iteration&) noexcept override { gathered_ = {}; }

 private:
  enum class Stage { mean, find, look_again };

  [[nodiscard]] const ParticleQuery* particles() const {
    return query_.history && query_.history->particles ? &*query_.history->particles : nullptr;
  }
  [[nodiscard]] bool needs_mean() const {
    return query_.thresholds.of_mean || (query_.profile && query_.profile->needs_mean());
  }
  [[nodiscard]] bool looks_again() const { return query_.profile || query_.labels || query_.history; }
  /// True if the cells of halos are needed one by one.
  [[nodiscard]] bool wants_cells() const {
    return query_.labels || query_.history || (query_.profile && !query_.profile->sphere);
  }
  [[nodiscard]] Stage stage_of(int pass) const { return static_cast<Stage>(pass + (needs_mean() ? 0 : 1)); }
  [[nodiscard]] HaloRule rule(double unit) const {
    return {query_.thresholds.peak * unit, query_.thresholds.least_cells};
  }
  [[nodiscard]] LevelParts find(const LocalInput& input, double unit, std::vector<OwnedLevelCell>* owned) const {
    return find_level_parts(input, query_.variable, query_.component, levels_, query_.thresholds.boundary * unit,
                            rule(unit), owned);
  }

  /// Collects everything that needs the list of all halos from this server's cells.
  [[nodiscard]] Bytes look_again(const LocalInput& input) const {
    const KnownLevelHalos known = KnownLevelHalos::from_bytes(input.feedback);
    std::vector<NumberedLevelCell> cells;
    if (wants_cells()) {
      std::vector<OwnedLevelCell> owned;
      const LevelParts found = find(input, query_.thresholds.of_mean ? known.mean : 1, &owned);
      cells = numbered_cells(owned, found, known, levels_);
    }
    ByteWriter out;
    if (query_.profile) {
      out.put(sum_level_shells(*query_.profile, query_.variable, query_.component, levels_, cells, known, input));
    }
    if (particles()) {
      const LevelParticles placed =
          find_level_particles(*particles(), query_.variable, query_.component, levels_, cells, input);
      out.put(placed.members);
      out.put(placed.others);
    }
    std::vector<KeptLevelCell> kept;
    if (query_.labels || query_.history) {
      for (const NumberedLevelCell& one : cells) kept.push_back({one.cell, one.halo});
    }
    out.put(kept);
    return out.take();
  }

  Bytes combine_mean(const CombineInput& input) {
    MeanSums sums;
    for (const Bytes& partial : input.partials) sums.add(partial);
    MeanSums all;
    for (const Bytes& bytes : input.communicator.all_gather(sums.to_bytes())) all.add(bytes);
    mean_ = all.mean();
    const BytesView bytes = bytes_of(mean_);
    return {bytes.begin(), bytes.end()};
  }

  void gather(const CombineInput& input) {
    LevelParts found;
    for (const Bytes& partial : input.partials) {
      ByteReader in(partial);
      found.append(LevelParts::read(in));
    }
    const double unit = query_.thresholds.of_mean ? mean_ : 1;
    gathered_ = gather_level_halos(std::move(found), levels_, rule(unit), input.communicator);
  }

  [[nodiscard]] Bytes sum_up(const LocalInput& input) const {
    MeanSums sums;
    for (const BlockView& view : input.of(query_.variable)) {
      const std::unique_ptr<LevelBlock> block = level_block(levels_, input, view, query_.component);
      if (!block) continue;
      block->for_each([&](const LevelCell& cell, double value, const Index3&) {
        if (!std::isfinite(value)) return;
        sums.mass.add_product(value, levels_.volume(cell.level));
        sums.volume.add(levels_.volume(cell.level));
      });
    }
    return sums.to_bytes();
  }

  /// Merged results of `look_again`.
  struct SeenAgain {
    std::vector<Bytes> shells;
    LevelParticles particles;
    std::vector<KeptLevelCell> cells;
  };
  [[nodiscard]] SeenAgain seen_again(const CombineInput& input) const {
    SeenAgain seen;
    if (!looks_again()) return seen;
    const auto append = [](ByteReader& in, auto& to) {
      std::decay_t<decltype(to)> some;
      in.get(some);
      to.insert(to.end(), some.begin(), some.end());
    };
    for (const Bytes& partial : input.partials) {
      ByteReader in(partial);
      if (query_.profile) in.get(seen.shells.emplace_back());
      if (particles()) {
        append(in, seen.particles.members);
        append(in, seen.particles.others);
      }
      append(in, seen.cells);
    }
    return seen;
  }

  /// Writes all results in the last pass, so that an iteration that fails earlier leaves none, and histories unchanged.
  void write(const CombineInput& input) {
    const std::vector<LevelHalo>& halos = gathered_.halos;
    const std::int64_t first = input.communicator.exclusive_sum(static_cast<std::int64_t>(halos.size()));
    std::vector<Column> columns = level_columns(halos, levels_, first);
    SeenAgain seen = seen_again(input);
    if (query_.profile) {
      const ShellUnits units{levels_.dimensions(), levels_.unit_volume(), true};
      VirialColumns virial = write_profiles(*query_.profile, units, std::move(seen.shells),
                                            std::vector<Index>(halos.size()), first, mean_, input);
      for (std::size_t n = 0; n < virial.names.size(); ++n) {
        columns.push_back({virial.names[n], std::move(virial.values[n])});
      }
    }
    input.results.add_parts(query_.file, Table(std::move(columns)), input.communicator, query_.pieces);
    if (query_.labels) write_level_labels(*query_.labels, levels_, seen.cells, input);
    if (query_.mass_function) {
      std::vector<double> masses;
      for (const LevelHalo& halo : halos) masses.push_back(halo.mass);
      write_mass_function(*query_.mass_function, masses, levels_.whole_volume(), query_.name, input);
    }
    if (history_) history_->follow(seen.cells, seen.particles, halos, input);
    gathered_ = {};
  }

  LevelQuery query_;
  Mesh mesh_;
  AmrGrid levels_;
  std::optional<LevelHistory> history_;
  GatheredLevels gathered_;  ///< kept between the passes of one iteration, like the mean
  double mean_ = std::numeric_limits<double>::quiet_NaN();
};

/// Shortest side of the cells of the coarsest level.
double shortest_side(const Mesh& mesh) {
  const auto* tree = dynamic_cast<const OctreeGeometry*>(mesh.geometry.get());
  const auto* uniform = dynamic_cast<const UniformGeometry*>(mesh.geometry.get());
  const std::array<double, 3> spacing = tree != nullptr ? tree->spacing() : uniform->spacing();
  double least = std::fabs(spacing[0]);
  for (std::size_t a = 1; a < static_cast<std::size_t>(mesh.dimensions); ++a) {
    least = std::min(least, std::fabs(spacing[a]));
  }
  return least;
}

}  // namespace

std::unique_ptr<Task> level_halos(const Settings& settings, const Metadata& metadata) {
  const Variable& variable = read_variable(settings, metadata);
  const Mesh& mesh = metadata.mesh_of(variable);
  if (mesh.kind() != MeshKind::octree && mesh.kind() != MeshKind::uniform) {
    settings.fail("variable", fmt::format("'{}' lies on mesh '{}' of type '{}' with refinement levels; `halos` takes "
                                          "octrees, and uniform meshes with and without levels",
                                          variable.name, mesh.name, mesh.geometry ? mesh.geometry->kind() : "none"));
  }
  require_values_in_cells(settings, "variable", variable, mesh, "`halos`");
  LevelQuery query;
  query.variable = variable.id;
  query.component = read_one_component(settings, variable);
  query.connectivity = whole_of<int>(settings.text("connectivity")).value();
  query.name = variable.name;
  query.file = settings.text("file");
  query.thresholds = read_thresholds(settings);
  query.pieces = read_pieces(settings);
  query.mass_function = read_mass_function(settings);
  query.history = read_history(settings, metadata, variable);
  query.profile = read_profile(settings, metadata, variable, shortest_side(mesh));
  query.labels = read_labels(settings);
  return std::make_unique<LevelHalos>(std::move(query), mesh);
}

}  // namespace sidestream::halos
