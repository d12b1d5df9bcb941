#include "euler.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace blast {

namespace {

Values flux_of(const Values& w, const Values& u, std::size_t axis) {
  const double speed = w[1 + axis];
  Values f;
  for (std::size_t n = 0; n < fields; ++n) f[n] = speed * u[n];
  f[1 + axis] += w[4];
  f[4] += speed * w[4];
  return f;
}

// The flux next to the contact: that of the outer state plus the jump across the wave between.
Values beside_contact(const Values& w, const Values& u, std::size_t axis, double wave, double contact) {
  const double speed = w[1 + axis];
  const double density = w[0] * (wave - speed) / (wave - contact);
  Values star;
  star[0] = density;
  for (std::size_t a = 0; a < 3; ++a) star[1 + a] = density * (a == axis ? contact : w[1 + a]);
  star[4] = density * (u[4] / w[0] + (contact - speed) * (contact + w[4] / (w[0] * (wave - speed))));
  Values f = flux_of(w, u, axis);
  for (std::size_t n = 0; n < fields; ++n) f[n] += wave * (star[n] - u[n]);
  return f;
}

}  // namespace

Values Gas::primitive(const Values& u) const {
  Values w{u[0], u[1] / u[0], u[2] / u[0], u[3] / u[0], 0};
  w[4] = (gamma - 1) * (u[4] - 0.5 * (u[1] * w[1] + u[2] * w[2] + u[3] * w[3]));
  return w;
}

Values Gas::conserved(const Values& w) const {
  const double kinetic = 0.5 * w[0] * (w[1] * w[1] + w[2] * w[2] + w[3] * w[3]);
  return {w[0], w[0] * w[1], w[0] * w[2], w[0] * w[3], w[4] / (gamma - 1) + kinetic};
}

double Gas::sound_speed(const Values& w) const { return std::sqrt(gamma * w[4] / w[0]); }

Values Gas::flux(const Values& left, const Values& right, int along) const {
  const auto axis = static_cast<std::size_t>(along);
  const Values from = conserved(left), to = conserved(right);
  const double before = left[1 + axis], after = right[1 + axis];
  const double sound_left = sound_speed(left), sound_right = sound_speed(right);
  const double slowest = std::min(before - sound_left, after - sound_right);
  const double fastest = std::max(before + sound_left, after + sound_right);
  if (slowest >= 0) return flux_of(left, from, axis);
  if (fastest <= 0) return flux_of(right, to, axis);
  const double carried_left = left[0] * (slowest - before), carried_right = right[0] * (fastest - after);
  const double contact =
      (right[4] - left[4] + before * carried_left - after * carried_right) / (carried_left - carried_right);
  return contact >= 0 ? beside_contact(left, from, axis, slowest, contact)
                      : beside_contact(right, to, axis, fastest, contact);
}

Values Gas::rate(const Values& w, const std::array<Values, 3>& slopes) const {
  Values change{};
  for (std::size_t a = 0; a < 3; ++a) {
    const Values& slope = slopes[a];
    const double speed = w[1 + a], widening = slope[1 + a];
    change[0] -= speed * slope[0] + w[0] * widening;
    for (std::size_t n = 1; n < 4; ++n) change[n] -= speed * slope[n];
    change[1 + a] -= slope[4] / w[0];
    change[4] -= speed * slope[4] + gamma * w[4] * widening;
  }
  return change;
}

}  // namespace blast
