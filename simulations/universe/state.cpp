#include "state.hpp"

#include <cmath>

#include "initial.hpp"

namespace universe {

State::State(const Layout& layout, const Options& options)
    : layout_(layout),
      options_(options),
      gravity_(layout, options),
      particles_(displaced(layout, options, scale_factor_at(0))) {
  look();
}

State::State(const Layout& layout, const Options& options, Particles particles, std::int64_t step)
    : layout_(layout), options_(options), gravity_(layout, options), particles_(std::move(particles)), step_(step) {
  look();
}

/// Updates the quantities derived from the particles' positions.
void State::look() {
  migrate(layout_, particles_);
  density_ = gravity_.density(particles_);
  accelerations_ = accelerations(gravity_.force(density_), particles_);
}

// Depends on the number of the step and not on the last value, so that a restarted run is bitwise equal.
double State::scale_factor_at(double step) const {
  const double first = 1 / (1 + options_.first), last = 1 / (1 + options_.last);
  return first * std::exp(std::log(last / first) * step / options_.steps);
}

void State::advance() {
  const Cosmology& c = options_.cosmology;
  const auto number = static_cast<double>(step_);
  const double from = scale_factor_at(number), middle = scale_factor_at(number + 0.5), to = scale_factor_at(number + 1);
  kick(accelerations_, universe::kick(c, from, middle), particles_);
  const double moved = drift(c, from, to);
  for (Particle& particle : particles_) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      particle.place[axis] = wrapped(particle.place[axis] + moved * particle.momentum[axis], layout_.cells());
    }
  }
  look();
  kick(accelerations_, universe::kick(c, middle, to), particles_);
  ++step_;
}

}  // namespace universe
