#include "visualisation/render/cameras.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace sidestream::rendering {
namespace {

double mix(double a, double b, double t) { return a + t * (b - a); }
Vec3 mix(const Vec3& a, const Vec3& b, double t) {
  return {mix(a[0], b[0], t), mix(a[1], b[1], t), mix(a[2], b[2], t)};
}

template <class Value>
void put_between(std::optional<Value>& place, const std::optional<Value>& a, const std::optional<Value>& b, double t) {
  if (a && b) place = mix(*a, *b, t);
}

/// Puts the quantities of a path between two of its places into `place`.
void put_between(CameraPlace& place, const CameraPlace& a, const CameraPlace& b, double t) {
  put_between(place.position, a.position, b.position, t);
  put_between(place.focus, a.focus, b.focus, t);
  put_between(place.view, a.view, b.view, t);
  put_between(place.up, a.up, b.up, t);
  put_between(place.phi, a.phi, b.phi, t);
  put_between(place.theta, a.theta, b.theta, t);
  put_between(place.angle, a.angle, b.angle, t);
  put_between(place.zoom, a.zoom, b.zoom, t);
}

/// Sine and cosine of an angle in degrees, exact at multiples of 90.
std::array<double, 2> sine_and_cosine(double degrees) {
  const double turned = std::fmod(degrees, 360);
  for (int quarter = -3; quarter <= 3; ++quarter) {
    constexpr std::array<double, 4> sines{0, 1, 0, -1};
    const auto n = static_cast<std::size_t>(quarter + 4);
    if (turned == 90 * quarter) return {sines[n % 4], sines[(n + 1) % 4]};
  }
  const double radians = turned / 180 * std::numbers::pi;
  return {std::sin(radians), std::cos(radians)};
}

/// The camera's direction and its upward direction on a sphere about the focus. `up` is nearest to one axis; the next
/// axis is the zero of longitude.
void put_on_sphere(double phi, double theta, CameraSettings& settings) {
  const Vec3 up = unit(settings.up.value_or(Vec3{0, 0, 1}));
  std::size_t nearest = 0;
  for (std::size_t a = 1; a < 3; ++a) {
    if (std::abs(up[a]) >= std::abs(up[nearest])) nearest = a;
  }
  Vec3 axis{0, 0, 0};
  axis[(nearest + 1) % 3] = 1;
  const Vec3 first = unit(subtract(axis, scale(up, dot(axis, up)))), second = cross(up, first);
  const auto [sin_phi, cos_phi] = sine_and_cosine(phi);
  const auto [sin_theta, cos_theta] = sine_and_cosine(theta);
  const Vec3 outwards = add(scale(first, cos_phi), scale(second, sin_phi));
  settings.around = add(scale(outwards, cos_theta), scale(up, sin_theta));
  settings.up = subtract(scale(up, cos_theta), scale(outwards, sin_theta));
}

}  // namespace

CameraPlace CameraView::place_at(const Iteration& iteration) const {
  CameraPlace now = place;
  if (path.empty()) return now;
  const double moment = path.front().time ? iteration.time : static_cast<double>(iteration.cycle);
  const auto next = std::find_if(path.begin(), path.end(), [&](const KeyFrame& key) { return key.moment() > moment; });
  if (next == path.begin() || next == path.end()) {
    const CameraPlace& end = next == path.begin() ? path.front().place : path.back().place;
    put_between(now, end, end, 0);
    return now;
  }
  const KeyFrame& last = *std::prev(next);
  put_between(now, last.place, next->place, (moment - last.moment()) / (next->moment() - last.moment()));
  return now;
}

CameraSettings CameraView::at(const Iteration& iteration) const {
  const CameraPlace now = place_at(iteration);
  CameraSettings settings{now.position,         now.focus, now.view, now.up, now.angle.value_or(CameraSettings().angle),
                          now.zoom.value_or(1), parallel};
  if (now.phi || now.theta) put_on_sphere(now.phi.value_or(0), now.theta.value_or(0), settings);
  return settings;
}

}  // namespace sidestream::rendering
