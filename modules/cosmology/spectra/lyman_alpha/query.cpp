#include "cosmology/spectra/lyman_alpha/query.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sidestream/kit/analysis/common_options.hpp"

namespace sidestream::lyman_alpha {
namespace {

Option real_option(const std::string& name, const std::string& value, const std::string& text, double minimum) {
  return {.name = name, .type = OptionType::real, .default_value = value, .text = text, .minimum = minimum};
}

const Variable& named(const Settings& settings, const std::string& option, const Metadata& metadata) {
  const Variable* variable = metadata.find_variable(settings.text(option));
  if (variable == nullptr) {
    settings.fail(option,
                  fmt::format("there is no variable '{}'; declare it under `variables`", settings.text(option)));
  }
  spectra::require_uniform_cells(settings, option, *variable, metadata, "Lyman-alpha");
  return *variable;
}

std::int32_t scalar(const Settings& settings, const std::string& option, const Metadata& metadata, std::int32_t mesh) {
  const Variable& variable = named(settings, option, metadata);
  if (mesh >= 0 && variable.mesh != mesh) {
    settings.fail(option,
                  fmt::format("'{}' lies on another mesh than 'hydrogen'; name variables of one mesh", variable.name));
  }
  if (variable.components != 1) {
    settings.fail(option, fmt::format("'{}' has {} components, expected one; derive one: `{}.x`", variable.name,
                                      variable.components, variable.name));
  }
  return variable.id;
}

void read_velocity(const Settings& settings, const Metadata& metadata, const Mesh& mesh, Query& query) {
  if (!settings.has("velocity")) return;
  const Variable& variable = named(settings, "velocity", metadata);
  if (variable.mesh != mesh.id) {
    settings.fail("velocity",
                  fmt::format("'{}' lies on another mesh than 'hydrogen'; name variables of one mesh", variable.name));
  }
  query.velocity = variable.id;
  query.vector = variable.components > 1;
  if (query.vector ? variable.components >= mesh.dimensions : query.axes.size() == 1) return;
  settings.fail(
      "velocity",
      fmt::format("'{}' has {} component{} for lines along {} axes of a mesh of {} dimensions, expected one for each "
                  "axis of the mesh: derive it, `vector(vx, vy, vz)`, or name one axis under `along`",
                  variable.name, variable.components, variable.components == 1 ? "" : "s", query.axes.size(),
                  mesh.dimensions));
}

void read_redshift(const Settings& settings, Query& query) {
  query.cosmology.matter = settings.real("omega_matter");
  query.cosmology.dark_energy = settings.real("omega_lambda");
  query.cosmology.hubble = settings.real("hubble");
  if (query.cosmology.matter + query.cosmology.dark_energy <= 0) {
    settings.fail("omega_matter",
                  "found neither matter nor dark energy, expected one of both above 0: otherwise nothing expands; "
                  "change `omega_matter` or `omega_lambda`");
  }
  if (settings.has("redshift") == settings.has("time_is")) {
    settings.fail("redshift",
                  "expected either `redshift` or `time_is`, which says that an iteration's time is the redshift "
                  "or the scale factor; give one of them");
  }
  if (settings.has("redshift")) query.cosmology.redshift = settings.real("redshift");
  if (settings.has("time_is")) {
    query.time = settings.text("time_is") == "redshift" ? Query::Time::redshift : Query::Time::scale_factor;
  }
}

Option lines_option() {
  Option option{
      .name = "lines",
      .type = OptionType::map,
      .text =
          "Optical depths and fluxes by line of sight and pixel, in one data set. For lines along x: `depth_x`, "
          "multiplied by the factor, and `flux_x`, with the positions `x_line_z` and `x_line_y` of the lines and the "
          "velocities `x_velocity` of the pixels in km/s."};
  option.options = {file_option("lines-{index:06}.h5", "The data set, one file per iteration."),
                    {.name = "every",
                     .type = OptionType::integer,
                     .default_value = "1",
                     .text = "Writes every n-th line along both transverse axes, starting with the first.",
                     .minimum = 1},
                    {.name = "values",
                     .type = OptionType::choice,
                     .list = true,
                     .text = "The values that are written. Default: both.",
                     .choices = {"depth", "flux"}},
                    pieces_option()};
  return option;
}

std::optional<LineOutput> read_lines_option(const Settings& all) {
  if (!all.has("lines")) return std::nullopt;
  const Settings settings = all.map("lines");
  LineOutput output;
  output.file = settings.text("file");
  output.every = settings.integer<Index>("every");
  output.pieces = read_pieces(settings);
  const std::vector<std::string> values = settings.texts("values");
  const auto named = [&](const char* name) {
    return values.empty() || std::find(values.begin(), values.end(), name) != values.end();
  };
  output.depth = named("depth");
  output.flux = named("flux");
  return output;
}

/// Rejects options that have no effect without others.
void refuse_what_does_nothing(const Settings& settings, const Query& query) {
  for (const char* name : {"bins", "edges", "plan"}) {
    if (!settings.given(name) || !query.spectrum_file.empty() || !query.field_spectrum_file.empty()) continue;
    settings.fail(name,
                  fmt::format("found '{}' without a spectrum, expected `spectrum_file` or `field_spectrum_file` beside "
                              "it; add one or remove it",
                              name));
  }
  if (settings.given("velocity_unit") && query.velocity < 0) {
    settings.fail("velocity_unit", "found 'velocity_unit' without `velocity`, expected both; add it or remove this");
  }
  if (settings.given("flux_bins") && query.pdf_file.empty()) {
    settings.fail("flux_bins", "found 'flux_bins' without `pdf_file`, expected both; add it or remove this");
  }
}

}  // namespace

Cosmology Query::cosmology_at(double when) const {
  Cosmology now = cosmology;
  if (time == Time::redshift) now.redshift = when;
  if (time == Time::scale_factor) now.redshift = 1 / when - 1;
  if (now.redshift > -1 && std::isfinite(now.redshift)) return now;
  fail(Code::analysis, "an iteration's time is {}, expected a {} (`time_is`)", when,
       time == Time::redshift ? "redshift above -1" : "scale factor above 0");
}

std::vector<Option> query_options() {
  std::vector<Option> all{
      {.name = "hydrogen",
       .type = OptionType::variable,
       .required = true,
       .text = "The physical number density of neutral hydrogen, in the cells of a uniform mesh."},
      {.name = "temperature", .type = OptionType::variable, .required = true, .text = "The temperature of the gas."},
      {.name = "velocity",
       .type = OptionType::variable,
       .text =
           "Peculiar velocities: a component for each axis, or one if lines run along one axis. Default: the gas is "
           "at rest."},
      {.name = "along",
       .type = OptionType::choice,
       .list = true,
       .text = "Axes along which lines of sight run, one from each cell of a face. Default: all axes of the mesh.",
       .choices = {"x", "y", "z"}},
      {.name = "redshift",
       .type = OptionType::real,
       .text = "The redshift of all iterations; otherwise give "
               "`time_is`.",
       .minimum = 0},
      {.name = "time_is",
       .type = OptionType::choice,
       .text = "The meaning of an iteration's time.",
       .choices = {"redshift", "scale_factor"}},
      real_option("omega_matter", "0.3", "Density of matter today, in units of the critical density.", 0),
      real_option("omega_lambda", "0.7",
                  "Density of dark energy, in the same units; the universe is assumed to be "
                  "flat.",
                  0),
      real_option("hubble", "0.7", "Hubble's constant in 100 km/s/Mpc.", 1e-3),
      real_option("length_unit", "1", "Comoving Mpc/h for each unit of the mesh's lengths.", 1e-30),
      real_option("density_unit", "1", "Hydrogen atoms in a physical cm^3 for each unit of `hydrogen`.", 1e-300),
      real_option("temperature_unit", "1", "K for each unit of `temperature`.", 1e-30),
      real_option("velocity_unit", "1", "cm/s for each unit of `velocity`, 100000 for km/s.", 1e-30),
      {.name = "mean_flux",
       .type = OptionType::real,
       .text = "Optical depths are multiplied by a factor, one for each axis, that gives this mean flux.",
       .minimum = 1e-6,
       .maximum = 0.999999},
      {.name = "flux_bins",
       .type = OptionType::integer,
       .default_value = "50",
       .text = "Number of intervals of the distribution of the flux, from 0 to 1.",
       .minimum = 1,
       .maximum = 1 << 20}};
  for (Option& option : spectra::bin_options()) all.push_back(std::move(option));
  all.push_back(spectra::plan_option());
  all.push_back(file_option("lyman_alpha.csv", "The table of means."));
  all.push_back(file_option("", "A table of the distribution of the flux."));
  all.back().name = "pdf_file";
  all.back().choices = {".csv"};
  all.push_back(
      file_option("", "A table of the power spectrum of F / <F> - 1 along lines, averaged over all of them."));
  all.back().name = "spectrum_file";
  all.back().choices = {".csv"};
  all.push_back(file_option("", "A table of the power spectrum of F / <F> - 1 of the whole field."));
  all.back().name = "field_spectrum_file";
  all.back().choices = {".csv"};
  all.push_back(lines_option());
  all.push_back(curves_option("pdf_image", "A chart of the distribution of the flux, a curve for each axis.",
                              "{label}: distribution    time {time:#.5g}    cycle {cycle}", {}));
  all.push_back(spectra::spectrum_chart_option("spectrum_image", "what `spectrum_file` has, a curve for each axis,"));
  all.push_back(spectra::spectrum_chart_option("field_spectrum_image", "what `field_spectrum_file` has, likewise,"));
  return all;
}

Query read_query(const Settings& settings, const Metadata& metadata) {
  Query query;
  query.hydrogen = scalar(settings, "hydrogen", metadata, -1);
  const Mesh& mesh = metadata.mesh_of(metadata.variables.at(static_cast<std::size_t>(query.hydrogen)));
  query.temperature = scalar(settings, "temperature", metadata, mesh.id);
  query.axes = spectra::read_axes(settings, "along", mesh);
  if (query.axes.empty()) {
    for (int axis = 0; axis < mesh.dimensions; ++axis) query.axes.push_back(axis);
  }
  read_velocity(settings, metadata, mesh, query);
  read_redshift(settings, query);
  query.density_unit = settings.real("density_unit");
  query.temperature_unit = settings.real("temperature_unit");
  query.velocity_unit = settings.real("velocity_unit");
  query.length_unit = settings.real("length_unit");
  if (settings.has("mean_flux")) query.mean_flux = settings.real("mean_flux");
  query.flux_bins = settings.integer<int>("flux_bins");
  query.bins = spectra::read_bins(settings);
  query.setup.box = spectra::wave_box(mesh);
  query.setup.rigour = spectra::read_plan(settings);
  const auto file = [&](const char* name) { return settings.has(name) ? settings.text(name) : std::string(); };
  query.file = settings.text("file");
  query.lines = read_lines_option(settings);
  query.pdf_chart = read_curves(settings, "pdf_image", false);
  query.spectrum_chart = read_curves(settings, "spectrum_image", true);
  query.field_chart = read_curves(settings, "field_spectrum_image", true);
  for (const std::string name : {"pdf", "spectrum", "field_spectrum"}) {
    if (!settings.has(name + "_image") || settings.has(name + "_file")) continue;
    settings.fail(name + "_image", fmt::format("found '{0}_image' without `{0}_file`, whose chart it is; add that or "
                                               "remove this",
                                               name));
  }
  query.pdf_file = file("pdf_file");
  query.spectrum_file = file("spectrum_file");
  query.field_spectrum_file = file("field_spectrum_file");
  for (const char* name : {"spectrum_file", "field_spectrum_file"}) {
    if (!file(name).empty()) spectra::require_fourier(settings, name);
  }
  refuse_what_does_nothing(settings, query);
  return query;
}

}  // namespace sidestream::lyman_alpha
