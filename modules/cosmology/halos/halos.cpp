// The analysis `halos`: its options, the choice of the graph that fits the mesh, and the task.
//
// The halo finder: connected components of cells above a threshold whose maximum reaches a higher one, as in
// section 4.1 of "In situ and in-transit analysis of cosmological simulations" (Friesen et al., 2016), on any graph of
// cells.
//
// There are up to three passes. Each visits this server's cells (local), then merges over all servers (combine):
//
// 1. mean, if thresholds or profiles refer to it: exact sums over all counted cells.
// 2. find: local connected components of the cells above the threshold (local_components.hpp). Components that touch no
//    boundary are finished at once. Parts of the others are matched at their boundaries, joined, and their exact sums
//    added up (gathering.hpp). Halos are then sorted over the servers by their peaks.
// 3. follow_up, for profiles and labels, which need all halos: every server gets the list of all (gathering.hpp),
//    visits its cells again, and sums up shells (shells.hpp).
//
// The last pass writes all results, so that an iteration that fails earlier leaves none, and histories unchanged.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cosmology/halos/amr/amr_graph.hpp"
#include "cosmology/halos/finder/halo_options.hpp"
#include "cosmology/halos/finder/halo_table.hpp"
#include "cosmology/halos/finder/history.hpp"
#include "cosmology/halos/finder/mass_function.hpp"
#include "cosmology/halos/finder/merge_components.hpp"
#include "cosmology/halos/finder/run_graph.hpp"
#include "cosmology/halos/finder/shells.hpp"
#include "cosmology/kinds.hpp"
#include "sidestream/kit/analysis/common_options.hpp"

namespace sidestream::halos {

namespace {

/// The request, on any mesh.
struct HalosQuery {
  std::string file;
  Thresholds thresholds;
  Pieces pieces = Pieces::automatic;
  std::optional<MassFunction> mass_function;
  std::optional<HistoryQuery> history;
  std::optional<ProfileQuery> profile;
  std::optional<LabelQuery> labels;

  [[nodiscard]] const ParticleQuery* particles() const {
    return history && history->particles ? &*history->particles : nullptr;
  }
  [[nodiscard]] bool needs_mean() const { return thresholds.of_mean || (profile && profile->needs_mean()); }
  [[nodiscard]] bool follows_up() const { return profile || labels; }
  /// True if the second look needs the pieces of halos.
  [[nodiscard]] bool needs_pieces() const { return labels || (profile && !profile->sphere); }
  /// The required variables. `density`: the variable in which halos are found.
  [[nodiscard]] Selection selection(std::int32_t density) const;
};

template <CellGraph Graph>
class HaloTask final : public Task {
 public:
  HaloTask(HalosQuery query, Graph graph) : query_(std::move(query)), graph_(std::move(graph)) {
    if (query_.history) history_.emplace(*query_.history, graph_);
  }

  Selection selection() const override { return query_.selection(graph_.variable()); }
  int passes() const override { return (query_.needs_mean() ? 1 : 0) + 1 + (query_.follows_up() ? 1 : 0); }

  Bytes local(const LocalInput& input) override {
    switch (stage_of(input.pass)) {
      case Stage::mean:
        return graph_.sum_values(input);
      case Stage::find:
        return find(input, query_.thresholds.of_mean ? mean_of(input.feedback) : 1);
      default:
        return follow_up(input);
    }
  }

  Bytes combine(const CombineInput& input) override {
    switch (stage_of(input.pass)) {
      case Stage::mean:
        return mean_ = combine_mean(input.partials, input.communicator);
      case Stage::find:
        gather(input);
        if (query_.follows_up()) return known(input.communicator).to_bytes();
        write(input);
        return {};
      default:
        write(input);
        return {};
    }
  }

  void discard(const Iteration&) noexcept override {
    gathered_ = {};
    particles_.clear();
  }

 private:
  enum class Stage { mean, find, follow_up };
  using Id = typename Graph::Id;
  using Label = NumberedPiece<typename Graph::Piece>;

  [[nodiscard]] Stage stage_of(int pass) const { return static_cast<Stage>(pass + (query_.needs_mean() ? 0 : 1)); }
  [[nodiscard]] double mean() const { return query_.needs_mean() ? mean_of(mean_) : 0; }
  [[nodiscard]] LocalComponents<Graph> components(const LocalInput& input, double unit, bool keep) const {
    return find_components(graph_, input, query_.thresholds.boundary * unit, rule(unit), keep);
  }
  [[nodiscard]] HaloRule rule(double unit) const {
    return {query_.thresholds.peak * unit, query_.thresholds.least_cells};
  }

  /// Searches this server's cells, and places its particles.
  [[nodiscard]] Bytes find(const LocalInput& input, double unit) const {
    const LocalComponents<Graph> found = components(input, unit, history_.has_value());
    ByteWriter out;
    found.write(out);
    if (query_.particles()) {
      typename Graph::ParticleFilter filter(graph_, input, query_.thresholds.boundary * unit, found.owned);
      out.put(place_particles(*query_.particles(), graph_.dimensions(), filter, input));
    }
    return out.take();
  }

  /// Collects everything that needs the list of all halos from this server's cells.
  [[nodiscard]] Bytes follow_up(const LocalInput& input) const {
    const auto known = KnownHalos<Id>::from_bytes(input.feedback);
    std::vector<LocatedPiece<Graph>> pieces;
    if (query_.needs_pieces()) {
      const double unit = query_.thresholds.of_mean ? known.mean : 1;
      pieces = located_pieces(components(input, unit, true), known);
    }
    ByteWriter out;
    if (query_.profile) out.put(sum_shells(*query_.profile, graph_, pieces, known, input));
    if (query_.labels) {
      std::vector<Label> labels;
      for (const auto& one : pieces) labels.push_back({one.piece, one.halo});
      out.put(labels);
    }
    return out.take();
  }

  void gather(const CombineInput& input) {
    LocalComponents<Graph> found;
    particles_.clear();
    for (const Bytes& partial : input.partials) {
      ByteReader in(partial);
      found.append(LocalComponents<Graph>::read(in));
      if (query_.particles()) append(in, particles_);
    }
    const double unit = query_.thresholds.of_mean ? mean() : 1;
    gathered_ = gather_halos(std::move(found), graph_, rule(unit), input.communicator);
  }

  /// Gathers the halos of all servers. Collective. Takes 32 or 56 bytes for each halo of the whole mesh, and 16 or 64
  /// for each of its parts.
  [[nodiscard]] KnownHalos<Id> known(Communicator& servers) const {
    KnownHalos<Id> mine{{}, gathered_.parts, mean()};
    for (const Halo<Id>& halo : gathered_.halos) {
      mine.places.push_back({halo.peak.id, query_.profile ? query_.profile->offset_of(halo.weighted, halo.plain)
                                                          : std::array<double, 3>{}});
    }
    return mine.of_all(servers);
  }

  void write(const CombineInput& input) {
    const std::vector<Halo<Id>>& halos = gathered_.halos;
    const std::int64_t first = input.communicator.exclusive_sum(static_cast<std::int64_t>(halos.size()));
    std::vector<Column> columns = halo_columns(halos, graph_, first);
    auto [shells, labels] = merged_follow_up(input);
    if (query_.profile) {
      const ShellUnits units{graph_.dimensions(), graph_.unit_volume(), !Graph::equal_cells};
      VirialColumns virial =
          write_profiles(*query_.profile, units, std::move(shells), graph_.indices_of(halos), first, mean(), input);
      for (std::size_t n = 0; n < virial.names.size(); ++n) {
        columns.push_back({virial.names[n], std::move(virial.values[n])});
      }
    }
    input.results.add_parts(query_.file, Table(std::move(columns)), input.communicator, query_.pieces);
    if (query_.labels) graph_.write_labels(*query_.labels, labels, input);
    if (query_.mass_function) {
      std::vector<double> masses;
      for (const Halo<Id>& halo : halos) masses.push_back(halo.mass * graph_.unit_volume());
      write_mass_function(*query_.mass_function, masses, graph_.whole_volume(), graph_.name(), input);
    }
    if (history_) history_->follow(gathered_.pieces, halos, particles_, input);
    discard(input.iteration);
  }

  /// Merged results of `follow_up`: sums of shells, and labels.
  [[nodiscard]] std::pair<std::vector<Bytes>, std::vector<Label>> merged_follow_up(const CombineInput& input) const {
    std::pair<std::vector<Bytes>, std::vector<Label>> seen;
    if (!query_.follows_up()) return seen;
    for (const Bytes& partial : input.partials) {
      ByteReader in(partial);
      if (query_.profile) in.get(seen.first.emplace_back());
      if (query_.labels) append(in, seen.second);
    }
    return seen;
  }
  template <class Record>
  static void append(ByteReader& in, std::vector<Record>& to) {
    std::vector<Record> some;
    in.get(some);
    to.insert(to.end(), some.begin(), some.end());
  }

  HalosQuery query_;
  Graph graph_;
  std::optional<HaloHistory<Graph>> history_;
  // Kept between the passes of one iteration.
  Bytes mean_;
  Gathered<Graph> gathered_;
  std::vector<PlacedParticle<typename Graph::Location>> particles_;  ///< particles of this server
};

}  // namespace

}  // namespace sidestream::halos

namespace sidestream {

namespace halos {

Selection HalosQuery::selection(std::int32_t density) const {
  Selection selection;
  const auto add = [&](std::int32_t variable) { selection.variables.emplace_back(variable).covered = false; };
  add(density);
  if (profile) {
    for (const ProfileField& field : profile->fields) add(field.variable);
  }
  if (particles()) {
    for (const std::int32_t id : {particles()->coordinates, particles()->ids, particles()->weight}) {
      if (id >= 0) selection.variables.emplace_back(id);
    }
  }
  selection.geometry = false;
  return selection;
}

namespace {

/// `shortest`: length of a cell's shortest side.
OptionTable<HalosQuery> options(const Variable& density = {}, double shortest = 0) {
  using Query = HalosQuery;
  return {options_read_elsewhere<Query>(field_options()),
          options_of(&Query::thresholds, threshold_options()),
          file_option(&Query::file, "halos-{index:05}.csv", "The table, a row for each halo."),
          pieces_option(&Query::pieces),
          option("mass_function", &Query::mass_function,
                 "The number of halos by mass, in intervals of equal width in the logarithm of the mass.",
                 {.options = mass_function_options()}),
          option("history", &Query::history,
                 "Halos over time: each is matched with halos of the last analysed iteration by the cells, or the "
                 "particles, that they share.",
                 {.options = history_options(density)}),
          option("profile", &Query::profile,
                 "Profiles of halos: sums over the cells in spherical shells around each halo. On periodic meshes each "
                 "cell counts at its nearest periodic image.",
                 {.options = profile_options(density, shortest)}),
          option("labels", &Query::labels,
                 "The number of each cell's halo as an array `halo` over the whole mesh, -1 for cells without one. For "
                 "octrees and refinement levels: lists of the cells in halos, by `level` and indices.",
                 {.options = label_options()})};
}

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

std::unique_ptr<Task> create(const Settings& settings, const Metadata& metadata) {
  const Variable& variable = read_variable(settings, metadata);
  const Mesh& mesh = metadata.mesh_of(variable);
  if (has_levels(mesh)) {
    AmrGraph graph = read_amr_graph(settings, metadata, "`halos`");
    HalosQuery query = options(variable, shortest_side(mesh)).read(settings, metadata);
    return std::make_unique<HaloTask<AmrGraph>>(std::move(query), std::move(graph));
  }
  Field field = read_field(settings, metadata, "`halos`");
  HalosQuery query = options(variable, field.shortest()).read(settings, metadata);
  return std::make_unique<HaloTask<RunGraph>>(std::move(query), RunGraph(std::move(field)));
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
      .options = halos::options().declarations(),
      .create = halos::create,
  };
}

}  // namespace sidestream
