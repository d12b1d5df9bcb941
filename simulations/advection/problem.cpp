#include "problem.hpp"

#include <cmath>
#include <numbers>

namespace advection {

namespace {

constexpr Place velocity{1, 0.5, 0.25};

// R. J. LeVeque, "High-resolution conservative algorithms for advection in incompressible flow", SIAM Journal on
// Numerical Analysis 33 (1996), example 9.5: sin^2(pi x) sin^2(pi y) / pi. The velocity is (-d/dy, d/dx) of it.
double stream_function(double x, double y) {
  const double a = std::sin(std::numbers::pi * x), b = std::sin(std::numbers::pi * y);
  return a * a * b * b / std::numbers::pi;
}

}  // namespace

double Problem::exact(const Place& place, double time) const {
  const bool carried = options_.flow == Flow::translation;
  const Place middle = carried ? Place{0.3, 0.3, 0.3} : Place{0.5, 0.75, 0.5};
  double square = 0;
  for (std::size_t a = 0; a < static_cast<std::size_t>(options_.dimensions); ++a) {
    double away = place[a] - middle[a] - (carried ? velocity[a] * time : 0);
    away -= std::round(away);  // the nearest periodic image
    // A cylinder extends through the whole cube.
    if (options_.shape == Shape::gaussian || a < 2) square += away * away;
  }
  if (options_.shape == Shape::cylinder) return options_.background + (square < 0.15 * 0.15 ? 1 : 0);
  return options_.background + std::exp(-square / (2 * 0.08 * 0.08));
}

double Problem::part(double time) const {
  return options_.flow == Flow::swirl && options_.end > 0 ? std::cos(std::numbers::pi * time / options_.end) : 1;
}

double Problem::through(const Place& low, const Place& high, std::size_t axis) const {
  if (options_.flow == Flow::translation || axis == 2) return velocity[axis];
  if (axis == 0) return (stream_function(low[0], low[1]) - stream_function(low[0], high[1])) / (high[1] - low[1]);
  return (stream_function(high[0], low[1]) - stream_function(low[0], low[1])) / (high[0] - low[0]);
}

double Problem::fastest() const {
  const double upwards = options_.dimensions == 3 ? velocity[2] : 0;
  // 2 sin a sin b sin(a + b) is largest where both are 60 degrees.
  return upwards + (options_.flow == Flow::translation ? velocity[0] + velocity[1] : 0.75 * std::numbers::sqrt3);
}

}  // namespace advection
