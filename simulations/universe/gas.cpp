#include "gas.hpp"

#include <algorithm>
#include <cmath>

namespace universe {

namespace {

constexpr double critical_density = 1.87847e-29;  // h^2 g / cm^3
constexpr double proton = 1.672623e-24;           // g
constexpr double hydrogen_part = 0.76;            // share of the mass of baryons
constexpr double hubble_speed = 1e7;              // cm/s per Mpc/h, for H0 = 100 km/s/Mpc

}  // namespace

Gas::Gas(const Options& options, double a)
    : mean_temperature_(options.mean_temperature), slope_(options.slope), ionisation_(options.ionisation) {
  const Cosmology& c = options.cosmology;
  hydrogen_ = hydrogen_part * c.baryons * critical_density * c.hubble * c.hubble / (a * a * a) / proton;
  speed_ = hubble_speed * options.box / options.cells / a;
}

double Gas::temperature(double density) const {
  return mean_temperature_ * std::pow(std::max(density, 0.01), slope_ - 1);
}

double Gas::neutral(double density) const {
  const double hydrogen = hydrogen_ * density;
  if (!(hydrogen > 0)) return 0;
  const double recombination = 4.2e-13 * std::pow(temperature(density) / 1e4, -0.7);
  // Solves x / (1 - x)^2 = recombination hydrogen / ionisation for x, without cancellation.
  const double b = 2 + ionisation_ / (recombination * hydrogen);
  return hydrogen * 2 / (b + std::sqrt(b * b - 4));
}

}  // namespace universe
