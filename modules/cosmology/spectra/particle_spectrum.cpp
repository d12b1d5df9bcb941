// Analysis `particle_spectrum`: deposits particles on a grid and computes the grid's spectrum.
//
// Each server adds up the shares of its particles exactly, and sends the sums to the server that owns that plane of the
// grid. Planes are then transformed like slabs, and redistributed for the third axis.
#include <fmt/format.h>

#include "cosmology/common/deposit_sums.hpp"
#include "cosmology/kinds.hpp"
#include "cosmology/spectra/power_spectrum.hpp"
#include "sidestream/kit/analysis/common_options.hpp"
#include "sidestream/kit/base/records.hpp"

namespace sidestream {
namespace spectra {
namespace {

struct ParticleQuery {
  DepositQuery deposit{};
  SpectrumQuery spectrum{};
  bool deconvolve = true, shot_noise = true;
};

/// The grid as a mesh.
Mesh mesh_of(const DepositQuery& query) {
  Mesh mesh;
  mesh.name = "grid";
  mesh.dimensions = query.dimensions;
  mesh.cells = {{0, 0, 0}, {query.size[0], query.size[1], query.size[2]}};
  std::array<double, 3> spacing{1, 1, 1};
  for (std::size_t a = 0; a < static_cast<std::size_t>(query.dimensions); ++a) spacing[a] = query.width(a);
  mesh.geometry = std::make_shared<UniformGeometry>(std::array{query.low[0], query.low[1], query.low[2]}, spacing);
  return mesh;
}

class ParticleSpectrum final : public Task {
 public:
  explicit ParticleSpectrum(const ParticleQuery& query)
      : query_(query), mesh_(mesh_of(query.deposit)), first_(query.spectrum.setup) {
    first_.set_origin({0, 0, 0});
  }

  Selection selection() const override {
    Selection selection{{{query_.deposit.coordinates, 0}}};
    if (query_.deposit.weight) selection.variables.push_back({query_.deposit.weight->id, 0});
    return selection;
  }
  double tolerance() const override { return tolerance_of(query_.spectrum.setup.rigour); }

  Bytes local(const LocalInput& input) override {
    const GridShape grid = shape();
    Depositor depositor(query_.deposit, grid);
    depositor.add(input);
    Bytes bytes = depositor.take();
    // Appended to the rows, so that the rows need not be moved.
    Words totals{depositor.inside, depositor.outside};
    for (const ExactSum* sum : {&depositor.weights, &depositor.squares}) {
      const auto form = sum->serialise();
      totals.insert(totals.end(), form.begin(), form.end());
    }
    const Bytes behind = to_bytes(totals);
    bytes.insert(bytes.end(), behind.begin(), behind.end());
    return bytes;
  }

  Bytes combine(const CombineInput& input) override {
    const GridShape grid = shape();
    Words totals(2 + 2 * ExactSum::words, 0);
    const std::size_t behind = totals.size() * sizeof(std::int64_t);
    std::vector<BytesView> partials;
    for (const Bytes& partial : input.partials) {
      if (partial.size() < behind) fail(Code::internal, "sums of particles have {} bytes", partial.size());
      const std::size_t rows = partial.size() - behind;
      const auto words = records_of<std::int64_t>(BytesView(partial).subspan(rows));
      for (std::size_t n = 0; n < totals.size(); ++n) totals[n] += words[n];
      partials.push_back(BytesView(partial).first(rows));
    }
    input.communicator.sum(totals);
    const std::vector<double> values = values_of(rows_of(partials, grid, input.communicator), grid);
    if (totals[0] == 0) return {};
    const double mean = require_mean(totals);
    std::vector<TransformedPart> parts;
    const Index begin = grid.first_row(input.communicator.rank(), input.communicator.size());
    if (!values.empty()) parts.push_back(transform(values, begin, mean));
    const SpectrumQuery& how = query_.spectrum;
    SpectrumSums sums = sums_of_field(std::move(parts), nullptr, how.setup, mesh_, how.bins.bins(how.setup.box),
                                      input.communicator, &modes_);
    SpectrumSums::Scale scale = scale_of(how, how.setup.box, {mean});
    if (query_.shot_noise) scale.noise = noise(totals);
    input.results.add(how.file, Table(sums.columns(scale)));
    if (how.chart) {
      const auto at = static_cast<std::size_t>(query_.deposit.coordinates);
      const std::string& name = input.metadata.mesh_of(input.metadata.variables.at(at)).name;
      draw_chart(*how.chart, how.file, name, {}, input);
    }
    return {};
  }

 private:
  /// The axis along which servers own rows of the grid: its slowest one, but never the first, along which lines must be
  /// whole.
  [[nodiscard]] std::size_t slowest() const {
    return static_cast<std::size_t>(std::max(1, query_.deposit.dimensions - 1));
  }
  [[nodiscard]] GridShape shape() const {
    if (query_.deposit.dimensions > 1) return query_.deposit.shape();
    return GridShape({1, query_.deposit.size[0]});
  }

  [[nodiscard]] static std::vector<double> values_of(const RowsOfServer& rows, const GridShape& grid) {
    std::vector<double> values(rows.size() * static_cast<std::size_t>(grid.row_cells()), 0);
    for (std::size_t row = 0; row < rows.size(); ++row) {
      double* const to = values.data() + row * static_cast<std::size_t>(grid.row_cells());
      for_each_sum(rows[row], 1, [&](Index cell, std::span<const ExactSum> sums) { to[cell] = sums[0].value(); });
    }
    return values;
  }

  [[nodiscard]] static double total(const Words& totals, std::size_t which) {
    const auto forms = std::span(totals).subspan(2 + which * ExactSum::words);
    return ExactSum::deserialise(forms.first<ExactSum::words>()).value();
  }

  /// Mean weight in a cell.
  [[nodiscard]] double require_mean(const Words& totals) const {
    const double weight = total(totals, 0);
    if (weight != 0) return weight / query_.spectrum.setup.box.count();
    fail(Code::analysis, "the weights of {} particles add up to 0, and so they have no contrast; weigh them otherwise",
         totals[0]);
  }

  /// Shot noise: V / n for n equal particles.
  [[nodiscard]] double noise(const Words& totals) const {
    const double weight = total(totals, 0);
    return query_.spectrum.setup.box.volume() * (total(totals, 1) / weight / weight);
  }

  [[nodiscard]] TransformedPart transform(const std::vector<double>& values, Index begin, double mean) {
    BlockView piece;
    Box& box = piece.block.cells;
    box = mesh_.cells;
    const std::size_t axis = slowest();
    box.lo[axis] = begin;
    Index others = 1;
    for (std::size_t a = 0; a < axis; ++a) others *= query_.deposit.size[a];
    box.hi[axis] = begin + static_cast<Index>(values.size()) / others;
    piece.array.data = values.data();
    piece.array.box = box;
    piece.array.strides = packed_strides(box, 1, Order::column);
    const Index length = query_.spectrum.setup.points(0);
    return first_.run(piece, [&](const LineBatch& batch, double* out, Index row) {
      read_lines(piece.array, 0, 0, length, batch, out, row, mean);
    });
  }

  ParticleQuery query_;
  Mesh mesh_;
  FirstTransform first_;
  std::optional<SpectrumSums> modes_;  ///< from the first iteration; the same in later ones
};

OptionTable<ParticleQuery> particle_options() {
  using Query = ParticleQuery;
  return {
      options_of(&Query::deposit, deposit_grid_options("")),
      option("deconvolve", &Query::deconvolve, "Divides the window of `method` out of the modes.", {.standard = true}),
      option("shot_noise", &Query::shot_noise,
             "Subtracts the shot noise: V / n for n particles, or V times the sum of the squares of their weights "
             "divided by the square of the sum.",
             {.standard = true}),
      options_of(&Query::spectrum, spectrum_options("particle_spectrum.csv"))};
}

ParticleQuery read_particle_query(const Settings& settings, const Metadata& metadata) {
  const OptionTable<ParticleQuery> options = particle_options();
  ParticleQuery query = options.read(settings, metadata);
  require_fourier(settings, options.name(&ParticleQuery::deposit));
  query.deposit.periodic = true;
  FieldSetup& setup = query.spectrum.setup;
  setup.box = wave_box(mesh_of(query.deposit));
  setup.order = order_from(0);
  setup.rigour = query.spectrum.bins.rigour;
  if (query.deconvolve) setup.window.power = static_cast<int>(query.deposit.assignment);
  return query;
}

}  // namespace
}  // namespace spectra

AnalysisKind particle_spectrum_kind() {
  using namespace spectra;
  return {
      .name = "particle_spectrum",
      .text =
          "The power spectrum of particles: their weights are deposited on a uniform grid, which is assumed to be "
          "periodic, and the contrast of its cells is transformed. The table is that of `power_spectrum`. Each "
          "particle counts once: flagged ghosts do not count, and of particles with the same `point_ids` only one "
          "does. Particles at NaN do not count. Shares are rounded once and sums are exact, so that results are the "
          "same bits however particles are divided.",
      .options = particle_options().declarations(),
      .create = [](const Settings& settings, const Metadata& metadata) -> std::unique_ptr<Task> {
        return std::make_unique<ParticleSpectrum>(read_particle_query(settings, metadata));
      }};
}

}  // namespace sidestream
