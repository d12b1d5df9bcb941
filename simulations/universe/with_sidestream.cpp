// The program with Sidestream. This file has all of the instrumentation.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <sidestream/restart.hpp>
#include <sidestream/sidestream.hpp>

#include "coupling.hpp"
#include "gas.hpp"
#include "mini_app/session_coupling.hpp"

namespace universe {

namespace {

constexpr const char* grid_mesh = "grid";
constexpr const char* matter_mesh = "matter";

class WithSidestream final : public mini_app::SessionCoupling<Coupling> {
 public:
  WithSidestream(MPI_Comm comm, const Options& options) : SessionCoupling(comm, options.sidestream) {}

  void declare(const Layout& layout, const Options& options) override {
    using sidestream::Centering;
    using sidestream::Type;
    const double cell = options.box / options.cells;
    const sidestream::Index n = options.cells;
    rank_ = layout.rank();
    cell_ = cell;
    session_.set("n", n);
    session_.set("box", options.box);
    session_.add_uniform_mesh(grid_mesh, {n, n, n}, {0, 0, 0}, {cell, cell, cell});
    session_.set_periodic(grid_mesh, {true, true, true});
    add(grid_mesh, "density", Type::float64, Centering::cell, 1, "1");
    add(grid_mesh, "baryon_density", Type::float64, Centering::cell, 1, "1");
    add(grid_mesh, "velocity", Type::float64, Centering::cell, 3, "cm/s");
    add(grid_mesh, "temperature", Type::float64, Centering::cell, 1, "K");
    add(grid_mesh, "neutral_hydrogen", Type::float64, Centering::cell, 1, "1/cm^3");
    session_.add_points_mesh(matter_mesh, 3, "place");
    add(matter_mesh, "place", Type::float32, Centering::node, 3, "Mpc/h");
    add(matter_mesh, "number", Type::int64, Centering::node, 1, "1");
    session_.set_mesh_array(matter_mesh, sidestream::Role::point_ids, "number");
    add(matter_mesh, "cells_from_corner", Type::float64, Centering::node, 3, "1");
    add(matter_mesh, "momentum", Type::float64, Centering::node, 3, "1");
    session_.set_block(grid_mesh, rank_, {{0, layout.y().lo, layout.z().lo}, {n, layout.y().hi, layout.z().hi}});
    session_.set_block_list(matter_mesh, rank_, 0, {});
    session_.start();
  }

  void publish(const State& state) override {
    publish_grid(state);
    publish_matter(state);
  }

  void end_iteration(const State& state) override { session_.end_iteration(state.step(), state.scale_factor()); }

 private:
  void add(const char* mesh, const char* name, sidestream::Type type, sidestream::Centering centering, int components,
           const char* unit) {
    sidestream::Variable variable;
    variable.name = name;
    variable.type = type;
    variable.centering = centering;
    variable.components = components;
    session_.add_variable(mesh, variable);
    session_.set_attribute(name, "unit", unit);
  }

  void publish_grid(const State& state) {
    const Gas gas(state.options(), state.scale_factor());
    const Field baryons = gas_density(state.density(), state);
    std::vector<double> temperature, neutral;
    for (const double value : baryons) {
      temperature.push_back(gas.temperature(value));
      neutral.push_back(gas.neutral(value));
    }
    session_.publish("density", rank_, state.density());
    session_.publish("baryon_density", rank_, baryons);
    session_.publish("temperature", rank_, temperature);
    session_.publish("neutral_hydrogen", rank_, neutral);
    const auto velocity = velocities(state, gas);
    session_.publish("velocity", rank_, velocity);
  }

  /// Density in units of its mean; negative values from rounding become 0.
  static Field gas_density(const Field& matter, const State& state) {
    Field smooth = state.gravity().smoothed(matter, state.options().filter);
    for (double& value : smooth) value = std::max(value, 0.0);
    return smooth;
  }

  /// Velocity of the gas in each cell; 0 where there is none.
  static std::vector<std::array<double, 3>> velocities(const State& state, const Gas& gas) {
    constexpr double unit = 0x1p-30;
    const auto sum = [&](const auto& of) {
      return state.gravity().smoothed(deposit(state.layout(), state.particles(), unit, of), state.options().filter);
    };
    const Field mass = sum([](const Particle&) { return 1.0; });
    std::vector<std::array<double, 3>> velocity(mass.size());
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const Field momentum = sum([&](const Particle& p) { return p.momentum[axis]; });
      for (std::size_t n = 0; n < mass.size(); ++n) {
        // Smaller masses are rounding errors.
        velocity[n][axis] = mass[n] > 1e-9 ? gas.speed(momentum[n] / mass[n]) : 0;
      }
    }
    return velocity;
  }

  void publish_matter(const State& state) {
    std::vector<std::array<float, 3>> place;
    std::vector<std::array<double, 3>> cells, momentum;
    std::vector<std::int64_t> number;
    for (const Particle& particle : state.particles()) {
      place.push_back({});
      for (std::size_t a = 0; a < 3; ++a) place.back()[a] = static_cast<float>(particle.place[a] * cell_);
      cells.push_back(particle.place);
      momentum.push_back(particle.momentum);
      number.push_back(particle.id);
    }
    const auto count = static_cast<sidestream::Index>(number.size());
    session_.set_block_list(matter_mesh, rank_, count, {count, 0, 0});
    if (count == 0) return;
    session_.publish("place", rank_, place);
    session_.publish("number", rank_, number);
    session_.publish("cells_from_corner", rank_, cells);
    session_.publish("momentum", rank_, momentum);
  }

  int rank_ = 0;
  double cell_ = 1;
};

}  // namespace

std::unique_ptr<Coupling> open_coupling(MPI_Comm comm, const Options& options) {
  // The environment variable may name a configuration, too; see sidestream_open.
  if (options.sidestream.empty() && std::getenv("SIDESTREAM_CONFIG") == nullptr)
    return std::make_unique<Coupling>(comm);
  return std::make_unique<WithSidestream>(comm, options);
}

Checkpoint restore(MPI_Comm comm, const Options& options) {
  auto stored = sidestream::Restart::open(comm, options.restart);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  for (const std::string& remark : stored.remarks()) {
    if (rank == 0) std::fprintf(stderr, "universe: %s\n", remark.c_str());
  }
  const std::int64_t all = stored.list_length("number"),
                     wanted = std::int64_t{1} * options.particles * options.particles * options.particles;
  if (all != wanted) {
    throw UserError("--restart " + options.restart + ": found " + std::to_string(all) + " particles, expected " +
                    std::to_string(wanted) + "; give the --particles, and the other options, of the run before.");
  }
  const std::int64_t first = all * rank / ranks, count = all * (rank + 1) / ranks - first;
  const auto size = static_cast<std::size_t>(count);
  std::vector<std::array<double, 3>> place(size), momentum(size);
  std::vector<std::int64_t> number(size);
  stored.read_list("cells_from_corner", first, count, place.data());
  stored.read_list("momentum", first, count, momentum.data());
  stored.read_list("number", first, count, number.data());
  Checkpoint checkpoint{{}, stored.iteration().cycle};
  for (std::size_t n = 0; n < size; ++n) checkpoint.particles.push_back({place[n], momentum[n], number[n]});
  return checkpoint;
}

}  // namespace universe
