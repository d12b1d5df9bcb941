// The Euler equations of an ideal gas: states and fluxes.
#pragma once

#include <array>

namespace blast {

inline constexpr int fields = 5;
/// Of one place. Conserved: density, three of momentum, total energy, each for a volume of 1. Primitive: density, three
/// of velocity, pressure.
using Values = std::array<double, fields>;

/// An ideal gas: pressure = (gamma - 1) times internal energy.
struct Gas {
  double gamma = 1.4;
  [[nodiscard]] Values primitive(const Values& conserved) const;
  [[nodiscard]] Values conserved(const Values& primitive) const;
  [[nodiscard]] double sound_speed(const Values& primitive) const;
  /// What flows through a face of area 1 that `axis` is normal to, from `left` (primitive, lower along the axis) to
  /// `right`: the solver HLLC with the wave speeds of Davis (Toro, "Riemann Solvers", 10.4 to 10.6). Conserved
  /// variables for a time of 1.
  [[nodiscard]] Values flux(const Values& left, const Values& right, int axis) const;
  /// The change in a time of 1 of a primitive state in a field with these slopes (of a length of 1).
  [[nodiscard]] Values rate(const Values& primitive, const std::array<Values, 3>& slopes) const;
};

/// Whether density and pressure (the last of a primitive state) are greater than 0, and numbers.
[[nodiscard]] inline bool possible(const Values& primitive) { return primitive[0] > 0 && primitive[4] > 0; }

}  // namespace blast
