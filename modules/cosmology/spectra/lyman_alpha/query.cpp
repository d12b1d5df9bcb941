#include "cosmology/spectra/lyman_alpha/query.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cosmology/spectra/on_level.hpp"
#include "sidestream/kit/analysis/common_options.hpp"

namespace sidestream::lyman_alpha {
namespace {

void require_same_mesh(const Settings& settings, const std::string& name, const Variable& variable,
                       const Query& query) {
  if (variable.mesh == query.hydrogen.mesh) return;
  settings.fail(name,
                fmt::format("'{}' lies on another mesh than 'hydrogen'; name variables of one mesh", variable.name));
}

/// Checks of `hydrogen` and `temperature`.
auto check_scalar(Variable Query::*field) {
  return [field](const Settings& settings, const std::string& name, const Metadata& metadata, const Query& query) {
    const Variable& variable = query.*field;
    spectra::require_uniform_cells(settings, name, variable, metadata, "Lyman-alpha");
    require_same_mesh(settings, name, variable, query);
    if (variable.components == 1) return;
    settings.fail(name, fmt::format("'{}' has {} components, expected one; derive one: `{}.x`", variable.name,
                                    variable.components, variable.name));
  };
}

void read_axes(const Settings& settings, const std::string& name, const Metadata& metadata, Query& query) {
  const Mesh& mesh = metadata.mesh_of(query.hydrogen);
  spectra::require_axes(settings, name, query.axes, mesh);
  if (!query.axes.empty()) return;
  for (int axis = 0; axis < mesh.dimensions; ++axis) query.axes.push_back(axis);
}

void check_velocity(const OptionTable<Query>& options, const Settings& settings, const Metadata& metadata,
                    Query& query) {
  if (!query.velocity) return;
  const std::string& name = options.name(&Query::velocity);
  const Variable& variable = *query.velocity;
  const Mesh& mesh = metadata.mesh_of(query.hydrogen);
  spectra::require_uniform_cells(settings, name, variable, metadata, "Lyman-alpha");
  require_same_mesh(settings, name, variable, query);
  query.vector = variable.components > 1;
  if (query.vector ? variable.components >= mesh.dimensions : query.axes.size() == 1) return;
  settings.fail(
      name,
      fmt::format("'{}' has {} component{} for lines along {} axes of a mesh of {} dimensions, expected one for each "
                  "axis of the mesh: derive it, `vector(vx, vy, vz)`, or name one axis under `along`",
                  variable.name, variable.components, variable.components == 1 ? "" : "s", query.axes.size(),
                  mesh.dimensions));
}

void check_redshift(const OptionTable<Query>& options, const Settings& settings, Query& query) {
  if (query.redshift.has_value() == (query.time != Query::Time::nothing)) {
    options.fail(settings, &Query::redshift,
                 "expected either `redshift` or `time_is`, which says that an iteration's time is the redshift "
                 "or the scale factor; give one of them");
  }
  query.cosmology.redshift = query.redshift.value_or(0);
}

OptionTable<Cosmology> cosmology_options() {
  return OptionTable<Cosmology>{
      option("omega_matter", &Cosmology::matter, "Density of matter today, in units of the critical density.",
             {.standard = "0.3", .minimum = 0}),
      option("omega_lambda", &Cosmology::dark_energy,
             "Density of dark energy, in the same units; the universe is assumed to be flat.",
             {.standard = "0.7", .minimum = 0}),
      option("hubble", &Cosmology::hubble, "Hubble's constant in 100 km/s/Mpc.", {.standard = "0.7", .minimum = 1e-3})}
      .then([](const OptionTable<Cosmology>& options, const Settings& settings, const Metadata&, Cosmology& cosmology) {
        if (cosmology.matter + cosmology.dark_energy > 0) return;
        options.fail(settings, &Cosmology::matter,
                     "found neither matter nor dark energy, expected one of both above 0: otherwise nothing expands; "
                     "change `omega_matter` or `omega_lambda`");
      });
}

OptionTable<LineOutput> line_options() {
  return {
      file_option(&LineOutput::file, "lines-{index:06}.h5", "The data set, one file per iteration."),
      option("every", &LineOutput::every, "Writes every n-th line along both transverse axes, starting with the first.",
             {.standard = 1, .minimum = 1}),
      option<OptionType::choice>("values", &LineOutput::values, "The values that are written. Default: both.",
                                 {.choices = {"depth", "flux"}}),
      pieces_option(&LineOutput::pieces)};
}

/// Refuses a chart without its table.
void require_table(const OptionTable<Query>& options, const Settings& settings, const Query& query,
                   std::optional<ChartFile> Query::*chart, std::string Query::*file) {
  if (!(query.*chart) || !(query.*file).empty()) return;
  options.fail(settings, chart,
               fmt::format("found '{}' without `{}`, whose chart it is; add that or remove this", options.name(chart),
                           options.name(file)));
}

/// Rejects options that have no effect without others.
void refuse_what_does_nothing(const OptionTable<Query>& options, const Settings& settings, const Query& query) {
  for (const Option& option : spectra::bin_options().declarations()) {
    if (!settings.given(option.name) || !query.spectrum_file.empty() || !query.field_spectrum_file.empty()) continue;
    settings.fail(option.name,
                  fmt::format("found '{}' without a spectrum, expected `spectrum_file` or `field_spectrum_file` beside "
                              "it; add one or remove it",
                              option.name));
  }
  if (options.given(settings, &Query::velocity_unit) && !query.velocity) {
    options.fail(settings, &Query::velocity_unit,
                 "found 'velocity_unit' without `velocity`, expected both; add it or remove this");
  }
  if (options.given(settings, &Query::flux_bins) && query.pdf_file.empty()) {
    options.fail(settings, &Query::flux_bins,
                 "found 'flux_bins' without `pdf_file`, expected both; add it or remove this");
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

OptionTable<Query> query_options() {
  const auto table_file = [](std::string Query::*file, const std::string& name, const std::string& text) {
    return file_option(file, "", text, {".csv"}, name);
  };
  const auto unit = [](double Query::*field, const std::string& name, const std::string& text, double least = 1e-30) {
    return option(name, field, text, {.standard = 1, .minimum = least});
  };
  return {
      option("hydrogen", &Query::hydrogen,
             "The physical number density of neutral hydrogen, in the cells of a uniform mesh, or with `level` of an "
             "octree or refinement levels.",
             {.required = true})
          .then(check_scalar(&Query::hydrogen)),
      option("level", &Query::level, spectra::level_text(), {.minimum = 0, .maximum = spectra::deepest_level}),
      option("temperature", &Query::temperature, "The temperature of the gas.", {.required = true})
          .then(check_scalar(&Query::temperature)),
      option("velocity", &Query::velocity,
             "Peculiar velocities: a component for each axis, or one if lines run along one axis. Default: the gas is "
             "at rest."),
      spectra::along_option(
          &Query::axes,
          "Axes along which lines of sight run, one from each cell of a face. Default: all axes of the mesh.")
          .then(read_axes),
      option("redshift", &Query::redshift, "The redshift of all iterations; otherwise give `time_is`.", {.minimum = 0}),
      option("time_is", &Query::time, "The meaning of an iteration's time.",
             {.choices = {{"redshift", Query::Time::redshift}, {"scale_factor", Query::Time::scale_factor}}}),
      options_of(&Query::cosmology, cosmology_options()),
      unit(&Query::length_unit, "length_unit", "Comoving Mpc/h for each unit of the mesh's lengths."),
      unit(&Query::density_unit, "density_unit", "Hydrogen atoms in a physical cm^3 for each unit of `hydrogen`.",
           1e-300),
      unit(&Query::temperature_unit, "temperature_unit", "K for each unit of `temperature`."),
      unit(&Query::velocity_unit, "velocity_unit", "cm/s for each unit of `velocity`, 100000 for km/s."),
      option("mean_flux", &Query::mean_flux,
             "Optical depths are multiplied by a factor, one for each axis, that gives this mean flux.",
             {.minimum = 1e-6, .maximum = 0.999999}),
      option("flux_bins", &Query::flux_bins, "Number of intervals of the distribution of the flux, from 0 to 1.",
             {.standard = 50, .minimum = 1, .maximum = 1 << 20}),
      options_of(&Query::bins, spectra::bin_options()),
      file_option(&Query::file, "lyman_alpha.csv", "The table of means."),
      table_file(&Query::pdf_file, "pdf_file", "A table of the distribution of the flux."),
      table_file(&Query::spectrum_file, "spectrum_file",
                 "A table of the power spectrum of F / <F> - 1 along lines, averaged over all of them. Its column "
                 "`k_velocity` is k in s/km."),
      table_file(&Query::field_spectrum_file, "field_spectrum_file",
                 "A table of the power spectrum of F / <F> - 1 of the whole field."),
      option(
          "lines", &Query::lines,
          "Optical depths and fluxes by line of sight and pixel, in one data set. For lines along x: `depth_x`, "
          "multiplied by the factor, and `flux_x`, with the positions `x_line_z` and `x_line_y` of the lines and the "
          "velocities `x_velocity` of the pixels in km/s.",
          {.options = line_options()}),
      option("pdf_image", &Query::pdf_chart, "A chart of the distribution of the flux, a curve for each axis.",
             {.options = curves_options("{label}: distribution    time {time:#.5g}    cycle {cycle}", {})}),
      option("spectrum_image", &Query::spectrum_chart,
             spectra::spectrum_chart_text("what `spectrum_file` has, a curve for each axis,"),
             {.options = spectra::spectrum_chart_options()}),
      option("field_spectrum_image", &Query::field_chart,
             spectra::spectrum_chart_text("what `field_spectrum_file` has, likewise,"),
             {.options = spectra::spectrum_chart_options()})};
}

Query read_query(const Settings& settings, const Metadata& metadata) {
  const OptionTable<Query> options = query_options();
  Query query = options.read(settings, metadata);
  check_velocity(options, settings, metadata, query);
  check_redshift(options, settings, query);
  query.setup.box = spectra::wave_box(metadata.mesh_of(query.hydrogen));
  query.setup.rigour = query.bins.rigour;
  require_table(options, settings, query, &Query::pdf_chart, &Query::pdf_file);
  require_table(options, settings, query, &Query::spectrum_chart, &Query::spectrum_file);
  require_table(options, settings, query, &Query::field_chart, &Query::field_spectrum_file);
  for (const auto file : {&Query::spectrum_file, &Query::field_spectrum_file}) {
    if (!(query.*file).empty()) spectra::require_fourier(settings, options.name(file));
  }
  refuse_what_does_nothing(options, settings, query);
  return query;
}

}  // namespace sidestream::lyman_alpha
