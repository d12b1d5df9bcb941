// Analysis `lyman_alpha`: optical depths and fluxes along lines of sight, and their statistics.
//
// If a mean flux F is given, the factor f of optical depths, one for each axis, solves <exp(-f tau)> = F. The mean is a
// convex, decreasing function of f. So Newton steps from below never overshoot the root. A step from above leads below
// the root, or to a negative f, in which case f / 8 is a good restart. Each step is a pass, which all servers evaluate.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "cosmology/kinds.hpp"
#include "cosmology/spectra/lyman_alpha/sight_lines.hpp"
#include "cosmology/spectra/on_level.hpp"
#include "sidestream/kit/base/records.hpp"
#include "sidestream/kit/reduce/bins/bin_counts.hpp"

namespace sidestream {
namespace lyman_alpha {
namespace {

constexpr int steps = 24;
constexpr double close_enough = 1e-13, good_enough = 1e-10;

double plain(double x) noexcept { return std::isnan(x) ? std::numeric_limits<double>::quiet_NaN() : x; }

/// State that servers know after a pass.
struct Progress {
  std::int64_t done = 0;     ///< nothing is left to solve
  std::int64_t nothing = 0;  ///< no cell was published
  std::vector<double> factors{};

  [[nodiscard]] Bytes bytes() const {
    ByteWriter out;
    out.put(done);
    out.put(nothing);
    out.put(factors);
    return out.take();
  }
  [[nodiscard]] static Progress from(BytesView bytes) {
    Progress progress;
    ByteReader in(bytes);
    in.get(progress.done);
    in.get(progress.nothing);
    in.get(progress.factors);
    return progress;
  }
};

class LymanAlpha final : public Task {
 public:
  LymanAlpha(const Query& query, const Metadata& metadata) : query_(query), mesh_(mesh_of(query, metadata)) {
    for (const int axis : query_.axes) lines_.emplace_back(query_, axis, metadata);
  }

  Selection selection() const override {
    Selection selection;
    for (const int axis : query_.axes) {
      for (const std::int32_t variable : variables()) {
        selection.variables.push_back(Selected(variable, 0, AllBlocks{}, Decomposition::pencils(axis)));
      }
    }
    selection.geometry = false;
    return selection;
  }
  double tolerance() const override { return spectra::tolerance_of(query_.setup.rigour); }
  int passes() const override { return query_.mean_flux ? 2 + steps : 1; }

  Bytes local(const LocalInput& input) override {
    kept_.clear();
    chosen_.clear();
    const bool first = input.pass == 0, last = input.pass + 1 == passes();
    Progress progress;
    progress.factors.assign(query_.axes.size(), 1);
    if (!first) progress = Progress::from(input.feedback);
    if (progress.nothing != 0 || (progress.done != 0 && !last)) return {};
    Words words{0};
    for (std::size_t entry = 0; entry < variables().size(); ++entry)
      words[0] += spectra::absent_points(input.at(entry));
    std::vector<Bytes> parts;
    for (std::size_t a = 0; a < lines_.size(); ++a) {
      const Words sums = of_axis(input, a, progress.factors[a], first, last).words();
      words.insert(words.end(), sums.begin(), sums.end());
      if (last) lines_[a].forget();
    }
    std::vector<Bytes> chosen;
    if (!input.stays) {
      parts.resize(lines_.size());
      for (const auto& [axis, part] : kept_) parts[axis] = part.bytes();
      for (const ChosenLines& lines : chosen_) chosen.push_back(lines.bytes());
      kept_.clear();
      chosen_.clear();
    }
    ByteWriter out;
    out.put(words);
    out.put(parts);
    out.put(chosen);
    return out.take();
  }

  Bytes combine(const CombineInput& input) override {
    const bool first = input.pass == 0, last = input.pass + 1 == passes();
    if (first) {
      progress_ = {};
      progress_.factors.assign(query_.axes.size(), 1);
    }
    if (progress_.nothing != 0 || (progress_.done != 0 && !last)) return progress_.bytes();
    Fields fields(query_.axes.size());
    const std::vector<LineSums> sums = collect(input, last, fields);
    if (progress_.nothing != 0) return progress_.bytes();
    if (!last) {
      step(sums);
      return progress_.bytes();
    }
    // Computed before results are written, and on all servers alike.
    std::vector<std::vector<Column>> whole;
    for (std::size_t a = 0; a < lines_.size() && !query_.field_spectrum_file.empty(); ++a) {
      whole.push_back(of_field(std::move(fields[a]), a, sums[a], input.communicator));
    }
    require_flux(sums);
    if (query_.lines) {
      write_lines(*query_.lines, std::exchange(chosen_, {}), query_, mesh_, query_.cosmology_at(input.iteration.time),
                  progress_.factors, input.communicator, input.results);
    }
    give(sums, whole, input);
    return progress_.bytes();
  }

  void discard(const Iteration&) noexcept override {
    kept_.clear();
    chosen_.clear();
    for (SightLines& lines : lines_) lines.forget();
  }

 private:
  using Fields = std::vector<std::vector<spectra::TransformedPart>>;  ///< by axis

  static const Mesh& mesh_of(const Query& query, const Metadata& metadata) { return metadata.mesh_of(query.hydrogen); }
  [[nodiscard]] std::vector<std::int32_t> variables() const {
    std::vector<std::int32_t> ids{query_.hydrogen.id, query_.temperature.id};
    if (query_.velocity) ids.push_back(query_.velocity->id);
    return ids;
  }

  LineSums of_axis(const LocalInput& input, std::size_t a, double factor, bool first, bool last) {
    const std::size_t count = variables().size();
    std::vector<const BlockView*> pieces;
    for (std::size_t f = 0; f < count; ++f) {
      for (const BlockView& view : input.at(a * count + f)) pieces.push_back(&view);
    }
    SightLines& lines = lines_[a];
    if (pieces.empty()) {
      lines.forget();
      return last ? lines.nothing() : LineSums();
    }
    // A worker that is restarted between two passes has no depths.
    if (first || !lines.measured()) lines.measure(pieces, query_.cosmology_at(input.iteration.time));
    if (!last) return lines.means(factor);
    if (query_.lines) {
      chosen_.push_back(lines.chosen(LineGrid(mesh_, query_.axes[a], query_.lines->every), *pieces[0]));
      chosen_.back().axis = static_cast<std::int64_t>(a);
    }
    if (query_.field_spectrum_file.empty()) return lines.products(factor, nullptr, nullptr);
    kept_.emplace_back(a, spectra::TransformedPart());
    return lines.products(factor, pieces[0], &kept_.back().second);
  }

  /// Adds up all servers' sums, by axis; collects this server's parts of transformed fields. Collective.
  std::vector<LineSums> collect(const CombineInput& input, bool last, Fields& fields) {
    std::vector<LineSums> sums;
    Words all{0};
    for (const SightLines& lines : lines_) {
      sums.push_back(last ? lines.nothing() : LineSums());
      all.resize(all.size() + sums.back().words().size(), 0);
    }
    auto kept = std::move(kept_);
    kept_.clear();
    for (auto& [axis, part] : kept) fields[axis].push_back(std::move(part));
    for (const Bytes& partial : input.partials) {
      Words words;
      std::vector<Bytes> parts, chosen;
      ByteReader in(partial);
      in.get(words);
      in.get(parts);
      in.get(chosen);
      for (const Bytes& lines : chosen) chosen_.push_back(ChosenLines::from(lines));
      if (words.size() != all.size())
        fail(Code::internal, "{} words of lines of sight, not {}", words.size(), all.size());
      for (std::size_t n = 0; n < all.size(); ++n) all[n] += words[n];
      for (std::size_t n = 0; n < parts.size(); ++n) {
        if (!parts[n].empty()) fields[n].push_back(spectra::TransformedPart::from(parts[n]));
      }
    }
    input.communicator.sum(all);
    std::size_t at = 1;
    for (LineSums& one : sums) {
      const std::size_t size = one.words().size();
      one.add(Words(all.begin() + static_cast<Index>(at), all.begin() + static_cast<Index>(at + size)));
      at += size;
    }
    require_all(all[0], sums[0].points, input.metadata);
    return sums;
  }

  void require_all(std::int64_t absent, std::int64_t points, const Metadata& metadata) {
    const auto each = static_cast<std::int64_t>(variables().size());
    progress_.nothing = absent == each * points ? 1 : 0;
    if (absent == 0 || progress_.nothing != 0) return;
    fail(
        Code::analysis,
        "{} of the {} values that lines of sight consist of were not published in this iteration, expected all: publish "
        "every cell of mesh '{}'",
        absent, each * points, mesh_of(query_, metadata).name);
  }

  /// One Newton step on each axis.
  void step(const std::vector<LineSums>& sums) {
    progress_.done = 1;
    for (std::size_t a = 0; a < sums.size(); ++a) {
      const auto count = static_cast<double>(sums[a].points);
      const double flux = sums[a].flux.value() / count, slope = sums[a].slope.value() / count;
      const double wrong = flux - *query_.mean_flux;
      if (!(std::fabs(wrong) > close_enough * *query_.mean_flux)) continue;
      progress_.done = 0;
      double& factor = progress_.factors[a];
      const double next = factor + wrong / slope;
      factor = next > 0 && std::isfinite(next) ? next : next > 0 ? factor * 8 : factor / 8;
    }
  }

  void require_flux(const std::vector<LineSums>& sums) const {
    if (!query_.mean_flux) return;
    for (std::size_t a = 0; a < sums.size(); ++a) {
      const double flux = mean_flux(sums[a]);
      if (!(std::fabs(flux - *query_.mean_flux) > good_enough * *query_.mean_flux)) continue;
      fail(
          Code::analysis,
          "no factor of optical depths along {} gives the mean flux {}: with {} it is {}; name one that the field can have",
          "xyz"[query_.axes[a]], *query_.mean_flux, progress_.factors[a], flux);
    }
  }

  static double mean_flux(const LineSums& sums) { return sums.flux.value() / static_cast<double>(sums.points); }

  [[nodiscard]] spectra::SpectrumSums::Scale scale(const spectra::WaveBox& box, const LineSums& sums) const {
    spectra::SpectrumSums::Scale scale;
    const double mean = mean_flux(sums);
    scale.power[0] = box.volume() / box.count() / box.count() / (mean * mean);
    scale.unit = box.fundamental();
    scale.dimensions = box.dimensions();
    return scale;
  }

  std::vector<Column> of_field(std::vector<spectra::TransformedPart> parts, std::size_t a, const LineSums& sums,
                               Communicator& servers) {
    const spectra::FieldSetup setup = lines_[a].setup();
    return spectra::sums_of_field(std::move(parts), nullptr, setup, mesh_, query_.bins.bins(setup.box), servers)
        .columns(scale(setup.box, sums));
  }

  void give(const std::vector<LineSums>& sums, const std::vector<std::vector<Column>>& whole,
            const CombineInput& input) const {
    Results& results = input.results;
    Table means{{"axis", "mean_depth", "mean_flux", "effective_depth", "factor"}, {}};
    Table flux{{"axis", "bin", "lower", "upper", "count", "density"}, {}};
    std::vector<std::vector<Column>> lines;
    for (std::size_t a = 0; a < sums.size(); ++a) {
      const std::string axis(1, "xyz"[query_.axes[a]]);
      const auto count = static_cast<double>(sums[a].points);
      const double factor = progress_.factors[a], mean = mean_flux(sums[a]);
      means.add_row(
          {axis, plain(factor * (sums[a].depth.value() / count)), plain(mean), plain(-std::log(mean)), factor});
      add_distribution(flux, axis, sums[a]);
      if (query_.spectrum_file.empty()) continue;
      spectra::SpectrumSums spectrum(lines_[a].line_bins());
      spectrum.add(sums[a].spectrum);
      lines.push_back(with_velocities(spectrum.columns(scale(lines_[a].box(), sums[a])), input.iteration.time));
    }
    results.add(query_.file, means);
    if (!query_.pdf_file.empty()) results.add(query_.pdf_file, flux);
    if (!query_.spectrum_file.empty()) results.add(query_.spectrum_file, spectra::table_by_axis(query_.axes, lines));
    if (!query_.field_spectrum_file.empty()) {
      results.add(query_.field_spectrum_file, spectra::table_by_axis(query_.axes, whole));
    }
    draw(input);
  }

  /// Adds wave numbers in s/km, of the Hubble flow along a line.
  [[nodiscard]] std::vector<Column> with_velocities(std::vector<Column> columns, double time) const {
    const double speed = query_.cosmology_at(time).velocity(query_.length_unit) * 1e-5;  // km/s by unit of length
    const auto k = std::find_if(columns.begin(), columns.end(), [](const Column& one) { return one.name == "k"; });
    std::vector<double> by_speed = std::get<std::vector<double>>(k->values);
    for (double& value : by_speed) value = plain(value / speed);
    columns.push_back({"k_velocity", std::move(by_speed)});
    return columns;
  }

  void draw(const CombineInput& input) const {
    const auto chart = [&](const std::optional<ChartFile>& of, const std::string& table) {
      if (of) draw_chart(*of, table, "flux", {}, input);
    };
    chart(query_.spectrum_chart, query_.spectrum_file);
    chart(query_.field_chart, query_.field_spectrum_file);
    chart(query_.pdf_chart, query_.pdf_file);
  }

  void add_distribution(Table& table, const std::string& axis, const LineSums& sums) const {
    if (query_.pdf_file.empty()) return;
    const Bins bins(0, 1, query_.flux_bins);
    const auto n = static_cast<std::size_t>(query_.flux_bins);
    double inside = 0;
    for (std::size_t b = 0; b < n; ++b) inside += static_cast<double>(sums.counts[b]);
    for (std::size_t b = 0; b < n; ++b) {
      const double lower = bins.edges()[b], upper = bins.edges()[b + 1];
      table.add_row({axis, static_cast<std::int64_t>(b), lower, upper, sums.counts[b],
                     plain(static_cast<double>(sums.counts[b]) / (inside * (upper - lower)))});
    }
  }

  Query query_;
  Mesh mesh_;
  std::vector<SightLines> lines_;  ///< by axis
  std::vector<std::pair<std::size_t, spectra::TransformedPart>> kept_;
  std::vector<ChosenLines> chosen_;  ///< to be written
  Progress progress_;                ///< used on the combining side
};

}  // namespace
}  // namespace lyman_alpha

AnalysisKind lyman_alpha_kind() {
  return {
      .name = "lyman_alpha",
      .text =
          "The Lyman-alpha forest of a periodic uniform mesh: for each cell the optical depth along an axis, from "
          "the density of neutral hydrogen, temperature and peculiar velocity, by the exact integral of the Doppler "
          "profile over each cell, and the flux F = exp(-tau). For each axis the table has the mean optical depth, "
          "the mean flux, the effective depth -ln <F>, and the factor by which optical depths were multiplied; other "
          "files have the distribution of the flux and its power spectra. Each line is whole on one server, and sums "
          "over lines are exact, so that results are the same bits for every placement, division and number of "
          "servers.",
      .options = lyman_alpha::query_options().declarations(),
      .create = [](const Settings& settings, const Metadata& metadata) -> std::unique_ptr<Task> {
        return spectra::task_on_level(settings, metadata, "hydrogen", [](const Settings& given, const Metadata& flat) {
          return std::make_unique<lyman_alpha::LymanAlpha>(lyman_alpha::read_query(given, flat), flat);
        });
      }};
}

}  // namespace sidestream
