// Analysis `power_spectrum`: its options, and the spectrum of a whole field.
//
// d_k is the transform of the contrast x / mean - 1 times the volume of a cell, and the power is |d_k|^2 / V. Means of
// a bin are over all modes of the full complex array. So power has the dimension of a volume, and its sum over all
// modes, divided by the volume, is the variance.
//
// Two passes: the means of the fields, line by line (FieldMeans), then their transforms (field_spectrum.cpp).
#include <fmt/format.h>

#include "cosmology/kinds.hpp"
#include "cosmology/spectra/on_level.hpp"
#include "cosmology/spectra/power_spectrum.hpp"
#include "sidestream/kit/analysis/common_options.hpp"

namespace sidestream {
namespace spectra {
namespace {

class FieldSpectrum final : public Task {
 public:
  FieldSpectrum(const SpectrumQuery& query, const Metadata& metadata)
      : query_(query), mesh_(metadata.mesh_of(variable(metadata))), means_(query.fields, query.setup.order[0]) {}

  Selection selection() const override {
    Selection selection;
    const Decomposition pieces = decomposition_of(mesh_, query_.setup.order, query_.setup.slabs);
    for (const FieldMeans::Field& field : query_.fields) {
      selection.variables.push_back(Selected(field.variable, 0, AllBlocks{}, pieces));
    }
    selection.geometry = false;
    return selection;
  }
  double tolerance() const override { return tolerance_of(query_.setup.rigour); }
  int passes() const override { return 2; }

  Bytes local(const LocalInput& input) override {
    kept_.clear();
    if (input.pass == 0) return means_.local(input);
    const FieldMeans::Found found = means_.found(input.feedback, input.metadata);
    if (found.points == 0) return {};
    require_means(query_, found, input.metadata);
    if (!first_) {
      first_.emplace(query_.setup);
      first_->set_origin(mesh_.cells.lo);
    }
    for (std::size_t f = 0; f < query_.fields.size(); ++f) {
      for (const BlockView& piece : input.at(query_.fields[f].entry))
        kept_.push_back(transform(piece, f, found.means[f]));
    }
    if (input.stays) return {};
    std::vector<Bytes> parts;
    for (const TransformedPart& part : kept_) parts.push_back(part.bytes());
    kept_.clear();
    ByteWriter out;
    out.put(parts);
    return out.take();
  }

  Bytes combine(const CombineInput& input) override {
    if (input.pass == 0) return feedback_ = means_.combine(input);
    std::vector<TransformedPart> kept = std::move(kept_);
    kept_.clear();
    const FieldMeans::Found found = means_.found(feedback_, input.metadata);
    if (found.points == 0) return {};
    // One part of each field from each server that has parts.
    std::array<std::vector<TransformedPart>, 2> parts;
    const std::size_t fields = query_.fields.size();
    for (std::size_t n = 0; n < kept.size(); ++n) parts[n % fields].push_back(std::move(kept[n]));
    for (const Bytes& partial : input.partials) {
      if (partial.empty()) continue;
      std::vector<Bytes> all;
      ByteReader(partial).get(all);
      for (std::size_t n = 0; n < all.size(); ++n) parts[n % fields].push_back(TransformedPart::from(all[n]));
    }
    const WaveBins bins = query_.bins.bins(query_.setup.box);
    SpectrumSums sums = sums_of_field(std::move(parts[0]), fields > 1 ? &parts[1] : nullptr, query_.setup, mesh_, bins,
                                      input.communicator, &modes_);
    input.results.add(query_.file, Table(sums.columns(scale_of(query_, query_.setup.box, found.means))));
    draw_spectrum(query_, input);
    return {};
  }

  void discard(const Iteration&) noexcept override { kept_.clear(); }

 private:
  [[nodiscard]] const Variable& variable(const Metadata& metadata) const {
    return metadata.variables.at(static_cast<std::size_t>(query_.fields[0].variable));
  }

  [[nodiscard]] TransformedPart transform(const BlockView& piece, std::size_t f, double mean) {
    const int axis = query_.setup.order[0], component = query_.fields[f].component;
    const Index length = query_.setup.points(0);
    return first_->run(piece, [&](const LineBatch& batch, double* out, Index row) {
      read_lines(piece.array, component, axis, length, batch, out, row, mean);
    });
  }

  SpectrumQuery query_;
  Mesh mesh_;
  FieldMeans means_;
  std::optional<FirstTransform> first_;
  std::vector<TransformedPart> kept_;  ///< kept between `local` and `combine`: for each piece one part of each field
  std::optional<SpectrumSums> modes_;  ///< from the first iteration; the same in later ones
  Bytes feedback_;
};

void check_variable(const Settings& settings, const std::string& name, const Metadata& metadata,
                    const SpectrumQuery& query) {
  require_uniform_cells(settings, name, query.variable, metadata, "a power spectrum");
  require_fourier(settings, name);
}

void check_second(const Settings& settings, const std::string& name, const Metadata& metadata,
                  const SpectrumQuery& query) {
  if (!query.with) return;
  if (query.with->mesh != query.variable.mesh) {
    settings.fail(name, fmt::format("'{}' lies on mesh '{}', but '{}' on '{}'; name variables of one mesh",
                                    query.with->name, metadata.mesh_of(*query.with).name, query.variable.name,
                                    metadata.mesh_of(query.variable).name));
  }
  require_uniform_cells(settings, name, *query.with, metadata, "a power spectrum");
}

void check_second_component(const Settings& settings, const std::string& name, const Metadata&,
                            const SpectrumQuery& query) {
  if (!query.with) {
    if (!query.with_component) return;
    settings.fail(name, "found 'with_component' without 'with', which it is a component of; remove it");
  }
  const int components = query.with->components;
  if (query.with_component ? *query.with_component < components : components == 1) return;
  settings.fail(name, fmt::format("'{}' has {} component{}; say which one, numbered from 0", query.with->name,
                                  components, components == 1 ? "" : "s"));
}

OptionTable<SpectrumQuery> options() {
  using Query = SpectrumQuery;
  return OptionTable<Query>{
      variable_option(
          &Query::variable,
          "The variable, in the cells of a uniform mesh, or with `level` of an octree or refinement levels.")
          .then(check_variable),
      one_component_option(&Query::component, &Query::variable),
      option("level", &Query::level, level_text(), {.minimum = 0, .maximum = deepest_level}),
      option("with", &Query::with,
             "A second variable on the same mesh. Adds its power, the cross-spectrum (the mean of Re X Y*), and the "
             "correlation (the cross-spectrum divided by the root of the product of both powers).")
          .then(check_second),
      option("with_component", &Query::with_component, "The component of the second variable, from 0.", {.minimum = 0})
          .then(check_second_component),
      along_option(&Query::along,
                   "Spectra of lines along these axes, each averaged over all lines, instead of that of the whole "
                   "field."),
      option<OptionType::choice>(
          "of", &Query::contrast,
          "The transformed function of the values x: `contrast`, x / mean - 1; `difference`, x - mean.",
          {.standard = "contrast", .choices = {{"contrast", true}, {"difference", false}}}),
      option<OptionType::choice>(
          "window", &Query::window,
          "The scheme by which particles were deposited on the mesh; its window is divided out of the modes of a "
          "whole field.",
          {.standard = "none", .choices = {{"none", 0}, {"ngp", 1}, {"cic", 2}, {"tsc", 3}}}),
      option("shot_noise", &Query::noise,
             "Subtracted from the power of each variable; for n particles in the volume V it is V / n.",
             {.standard = 0, .minimum = 0}),
      option<OptionType::choice>(
          "decomposition", &Query::slabs,
          "Division of the transform of a whole field: `pencils` for up to as many servers as there are lines along "
          "an axis, `slabs` for up to as many as there are planes, with one exchange less.",
          {.standard = "pencils", .choices = {{"pencils", false}, {"slabs", true}}})}
      .add(spectrum_options("power_spectrum.csv"));
}

SpectrumQuery read_query(const Settings& settings, const Metadata& metadata) {
  const OptionTable<SpectrumQuery> table = options();
  SpectrumQuery query = table.read(settings, metadata);
  const Mesh& mesh = metadata.mesh_of(query.variable);
  require_axes(settings, table.name(&SpectrumQuery::along), query.along, mesh);
  query.fields.push_back({0, query.component, query.variable.id});
  if (query.with) query.fields.push_back({1, query.with_component.value_or(0), query.with->id});
  query.setup.box = wave_box(mesh);
  query.setup.order = order_from(0);
  query.setup.slabs = query.slabs;
  query.setup.rigour = query.bins.rigour;
  query.setup.window.power = query.window;
  for (const std::string& whole : {table.name(&SpectrumQuery::window), table.name(&SpectrumQuery::slabs)}) {
    if (query.along.empty() || !settings.given(whole)) continue;
    settings.fail(whole,
                  fmt::format("found '{}' beside 'along', expected it only with the spectrum of a whole field; remove "
                              "one of them",
                              whole));
  }
  return query;
}

}  // namespace

OptionTable<SpectrumQuery> spectrum_options(const std::string& file) {
  return {options_of(&SpectrumQuery::bins, bin_options()),
          file_option(&SpectrumQuery::file, file,
                      "The table. Rows of later iterations are appended unless the name tells iterations apart."),
          option("image", &SpectrumQuery::chart, spectrum_chart_text("power"), {.options = spectrum_chart_options()})};
}

void draw_spectrum(const SpectrumQuery& query, const CombineInput& input) {
  if (!query.chart) return;
  const auto variable = [&](std::size_t field) -> const Variable& {
    return input.metadata.variables.at(static_cast<std::size_t>(query.fields[field].variable));
  };
  std::vector<std::string> about = titled("variable", variable(0));
  if (query.fields.size() > 1) {
    const std::vector<std::string> second = titled("with", variable(1));
    about.insert(about.end(), second.begin(), second.end());
  }
  if (!query.contrast) about.emplace_back("--option=of:difference");
  draw_chart(*query.chart, query.file, variable(0).title(), about, input);
}

void require_means(const SpectrumQuery& query, const FieldMeans::Found& found, const Metadata& metadata) {
  if (!query.contrast) return;
  for (std::size_t f = 0; f < query.fields.size(); ++f) {
    if (found.means[f] != 0) continue;
    fail(Code::analysis, "the mean of '{}' is 0, and so it has no contrast x / mean - 1; write `of: difference`",
         metadata.variables.at(static_cast<std::size_t>(query.fields[f].variable)).name);
  }
}

SpectrumSums::Scale scale_of(const SpectrumQuery& query, const WaveBox& box, const std::vector<double>& means) {
  SpectrumSums::Scale scale;
  for (std::size_t f = 0; f < means.size(); ++f) {
    const double mean = query.contrast ? means[f] : 1;
    scale.power[f] = box.volume() / box.count() / box.count() / (mean * mean);
  }
  scale.noise = query.noise;
  scale.unit = box.fundamental();
  scale.dimensions = box.dimensions();
  return scale;
}

std::unique_ptr<Task> make_field_spectrum(const SpectrumQuery& query, const Metadata& metadata) {
  return std::make_unique<FieldSpectrum>(query, metadata);
}

}  // namespace spectra

AnalysisKind power_spectrum_kind() {
  using namespace spectra;
  return {
      .name = "power_spectrum",
      .text =
          "The power spectrum of a variable on a uniform mesh of one to three dimensions, which is assumed to be "
          "periodic: the mean of |d_k|^2 / V over the modes of each bin, where d_k is the Fourier transform of the "
          "contrast times the volume of a cell and V the volume of the mesh. The table has a row for each bin: its "
          "number, k_lower and k_upper, the mean k of its modes and that weighted by power, the number of modes (of "
          "the full complex array; the mean itself does not count), power, and dimensionless: k^3 P / (2 pi^2) in "
          "three dimensions, k^2 P / (2 pi) in two, k P / pi in one. With `along` there are rows for each axis, and "
          "a column for the axis. Each line is transformed by the same instructions wherever it is, and sums are "
          "exact or along whole lines, so that results are the same bits for every placement, division and number of "
          "servers.",
      .options = options().declarations(),
      .create = [](const Settings& settings, const Metadata& metadata) -> std::unique_ptr<Task> {
        return task_on_level(settings, metadata, "variable", [](const Settings& given, const Metadata& flat) {
          const SpectrumQuery query = read_query(given, flat);
          return query.along.empty() ? make_field_spectrum(query, flat) : make_line_spectrum(query, flat);
        });
      }};
}

}  // namespace sidestream
