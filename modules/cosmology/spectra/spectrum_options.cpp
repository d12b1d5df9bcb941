#include "cosmology/spectra/spectrum_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sidestream/kit/analysis/common_options.hpp"
#include "sidestream/kit/reduce/exact_sum_forms.hpp"
#include "sidestream/kit/reduce/words.hpp"

namespace sidestream::spectra {

OptionTable<ChartFile> spectrum_chart_options() {
  return curves_options("{label}: power spectrum    time {time:#.5g}    cycle {cycle}", {"power", "dimensionless"});
}

std::string spectrum_chart_text(const std::string& what) {
  return "A chart of " + what + " over k, both axes logarithmic.";
}

double tolerance_of(Rigour rigour) noexcept { return rigour == Rigour::estimate ? 0 : 1e-10; }

WaveBins BinChoice::bins(const WaveBox& box) const {
  if (edges.empty()) return widening ? WaveBins::widening(box.nyquist()) : WaveBins::shells(box.nyquist());
  std::vector<double> units = edges;
  for (double& edge : units) edge = box.fundamental() > 0 ? edge / box.fundamental() : edge;
  return WaveBins(std::move(units));
}

namespace {

void check_bins(const OptionTable<BinChoice>& options, const Settings& settings, const Metadata&, BinChoice& choice) {
  if (!choice.edges.empty() && options.given(settings, &BinChoice::widening)) {
    options.fail(settings, &BinChoice::widening,
                 "found 'bins' beside 'edges', which say what the bins are; remove one of them");
  }
  for (std::size_t n = 0; n + 1 < choice.edges.size(); ++n) {
    if (choice.edges[n] < choice.edges[n + 1] && std::isfinite(choice.edges[n + 1])) continue;
    options.fail(settings, &BinChoice::edges,
                 fmt::format("found {} before {}, expected finite wave numbers in ascending order", choice.edges[n],
                             choice.edges[n + 1]));
  }
}

}  // namespace

OptionTable<BinChoice> bin_options() {
  return OptionTable<BinChoice>{
      option<OptionType::choice>(
          "bins", &BinChoice::widening,
          "Bins of wave numbers, in units of the fundamental 2 pi / L, where L is the longest side of the mesh. "
          "`shells`: [s - 1/2, s + 1/2) for s = 1, 2 ... `widening`: the edges 1, 2 ... 10, then 11 (12/11)^j, "
          "as in Gimlet. Both end at the Nyquist number of the coarsest axis; bins that do not fit are left out.",
          {.standard = "shells", .choices = {{"shells", false}, {"widening", true}}}),
      option("edges", &BinChoice::edges,
             "User-defined edges of bins: wave numbers, in the mesh's units, ascending. A bin includes its lower edge "
             "and excludes its upper one.",
             {.minimum = 0, .least_entries = 2}),
      option("plan", &BinChoice::rigour,
             "Effort that FFTW spends on planning the transform of a line, once for each length. With `estimate` "
             "results are the same bits in every run and placement; the plans of `measure` and `patient` depend on "
             "timings.",
             {.standard = "estimate",
              .choices = {{"estimate", Rigour::estimate}, {"measure", Rigour::measure}, {"patient", Rigour::patient}}})}
      .then(check_bins);
}

void require_uniform_cells(const Settings& settings, const std::string& option, const Variable& variable,
                           const Metadata& metadata, const std::string& what) {
  const Mesh& mesh = metadata.mesh_of(variable);
  if (mesh.kind() == MeshKind::octree || (mesh.kind() == MeshKind::uniform && !mesh.refinement.empty())) {
    settings.fail(option,
                  fmt::format("'{}' lies on mesh '{}' of cells of several sizes; {} needs a uniform mesh of one: "
                              "name the `level` to which the mesh is resampled",
                              variable.name, mesh.name, what));
  }
  if (mesh.kind() != MeshKind::uniform || dynamic_cast<const UniformGeometry*>(mesh.geometry.get()) == nullptr) {
    settings.fail(option,
                  fmt::format("'{}' lies on mesh '{}' of type '{}'; {} needs a uniform mesh. Put particles on a "
                              "mesh with `deposit`, or publish the variable on a uniform one",
                              variable.name, mesh.name, mesh.geometry ? mesh.geometry->kind() : "none", what));
  }
  require_values_in_cells(settings, option, variable, mesh, what);
}

void require_fourier(const Settings& settings, const std::string& option) {
  if (has_fourier()) return;
  settings.fail(option,
                "spectra need FFTW, and this Sidestream was built without it; build it where FFTW 3 is (Debian: "
                "libfftw3-dev)");
}

WaveBox wave_box(const Mesh& mesh) {
  WaveBox box;
  const auto& geometry = dynamic_cast<const UniformGeometry&>(*mesh.geometry);
  for (std::size_t a = 0; a < static_cast<std::size_t>(mesh.dimensions); ++a) {
    box.points[a] = mesh.cells.extent(static_cast<int>(a));
    box.lengths[a] = geometry.spacing()[a] * static_cast<double>(box.points[a]);
  }
  return box;
}

void require_axes(const Settings& settings, const std::string& option, const std::vector<int>& axes, const Mesh& mesh) {
  for (auto axis = axes.begin(); axis != axes.end(); ++axis) {
    const char name = "xyz"[*axis];
    if (*axis >= mesh.dimensions) {
      settings.fail(option, fmt::format("found '{}' for mesh '{}' of {} dimension{}, expected one of its axes", name,
                                        mesh.name, mesh.dimensions, mesh.dimensions == 1 ? "" : "s"));
    }
    if (std::find(axes.begin(), axis, *axis) != axis) {
      settings.fail(option, fmt::format("'{}' is named twice; name each axis once", name));
    }
  }
}

namespace {

/// Sums a line in eight partial sums, which are added at the end: always in the same order, and fast.
double line_sum(const double* values, Index n) noexcept {
  std::array<double, 8> sums{};
  Index i = 0;
  for (; i + 8 <= n; i += 8) {
    for (Index l = 0; l < 8; ++l) sums[static_cast<std::size_t>(l)] += values[i + l];
  }
  for (; i < n; ++i) sums[0] += values[i];
  return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

}  // namespace

Bytes FieldMeans::local(const LocalInput& input) const {
  Words words{0, 0};
  for (std::size_t f = 0; f < fields_.size(); ++f) {
    const Field& field = fields_[f];
    ExactSum sum;
    for (const BlockView& view : input.at(field.entry)) {
      const Index length = view.block.cells.extent(axis_);
      std::vector<double> lines(static_cast<std::size_t>(length * ComplexLines::together));
      for_each_batch(view, axis_, ComplexLines::together, [&](const LineBatch& batch) {
        if (line_in_place(view.array, field.component, axis_, batch, 0) != nullptr) {
          for (Index l = 0; l < batch.lines; ++l) {
            sum.add(line_sum(line_in_place(view.array, field.component, axis_, batch, l), length));
          }
          return;
        }
        read_lines(view.array, field.component, axis_, length, batch, lines.data(), length);
        for (Index l = 0; l < batch.lines; ++l) sum.add(line_sum(lines.data() + l * length, length));
      });
      if (f == 0) words[0] += view.block.cells.count();
    }
    words[1] += absent_points(input.at(field.entry));
    const auto form = sum.serialise();
    words.insert(words.end(), form.begin(), form.end());
  }
  return to_bytes(words);
}

Bytes FieldMeans::combine(const CombineInput& input) const {
  Words all(2 + fields_.size() * ExactSum::words, 0);
  for (const Bytes& partial : input.partials) {
    const Words words = to_words(partial, all.size());
    for (std::size_t n = 0; n < all.size(); ++n) all[n] += words[n];
  }
  input.communicator.sum(all);
  return to_bytes(all);
}

FieldMeans::Found FieldMeans::found(BytesView feedback, const Metadata& metadata) const {
  const Words words = to_words(feedback, 2 + fields_.size() * ExactSum::words);
  const auto fields = static_cast<Index>(fields_.size());
  Found found{words[0], {}};
  if (words[1] == fields * words[0]) return {};
  if (words[1] > 0) {
    const Variable& variable = metadata.variables.at(static_cast<std::size_t>(fields_[0].variable));
    fail(
        Code::analysis,
        "{} of the {} values that lines of '{}' consist of were not published in this iteration, expected all: publish "
        "every cell of mesh '{}'",
        words[1], fields * words[0], variable.name, metadata.mesh_of(variable).name);
  }
  const std::span<const std::int64_t> forms = std::span(words).subspan(2);
  for (std::size_t f = 0; f < fields_.size(); ++f) {
    const auto sum = ExactSum::deserialise(forms.subspan(f * ExactSum::words).first<ExactSum::words>());
    found.means.push_back(quotient_of(sum, static_cast<double>(words[0])));
  }
  return found;
}

}  // namespace sidestream::spectra
