// The Euler equations of an ideal gas: states and fluxes.
#pragma once

#include <array>

namespace blast {

inline constexpr int fields = 5;
/// State at a point. Conserved: density, three of momentum, total energy, each per volume. Primitive: density, three of
/// velocity, pressure.
using Values = std::array<double, fields>;

/// An ideal gas: pressure = (gamma - 1) times internal energy.
struct Gas {
  double gamma = 1.4;
  [[nodiscard]] Values primitive(const Values& conserved) const;
  [[nodiscard]] Values conserved(const Values& primitive) const;
  [[nodiscard]] double sound_speed(const Values& primitive) const;
  /// The flux through a face of area 1 normal to `axis`, in conserved variables per time. `left` (lower along the axis)
  /// and `right` are primitive. The HLLC solver with the wave speeds of Davis (Toro, "Riemann Solvers", 10.4 to 10.6).
  [[nodiscard]] Values flux(const Values& left, const Values& right, int axis) const;
  /// The rate of change of a primitive state in a field with these slopes (per length).
  [[nodiscard]] Values rate(const Values& primitive, const std::array<Values, 3>& slopes) const;
};

/// True if density and pressure (the last of a primitive state) are numbers greater than 0.
[[nodiscard]] inline bool possible(const Values& primitive) { return primitive[0] > 0 && primitive[4] > 0; }

}  // namespace blast
