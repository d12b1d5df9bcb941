#include "graphics/clipping.hpp"

#include <array>
#include <cmath>

namespace sidestream::rendering {
namespace {

/// right * x + up * y + ahead * z + constant >= 0 is kept.
struct HalfSpace {
  double right, up, ahead, constant;
  [[nodiscard]] double of(const Seen& p) const noexcept {
    return right * p.right + up * p.up + ahead * p.ahead + constant;
  }
};

ClippedCorner between(const ClippedCorner& in, const ClippedCorner& out, double t) {
  const auto mix = [t](double a, double b) { return a + t * (b - a); };
  ClippedCorner made;
  made.place = {mix(in.place.right, out.place.right), mix(in.place.up, out.place.up),
                mix(in.place.ahead, out.place.ahead)};
  for (int a = 0; a < 3; ++a) {
    made.attributes.normal[a] = mix(in.attributes.normal[a], out.attributes.normal[a]);
  }
  made.attributes.value = mix(in.attributes.value, out.attributes.value);
  return made;
}

void cut(std::vector<ClippedCorner>& polygon, const HalfSpace& keep) {
  std::vector<ClippedCorner> result;
  for (std::size_t i = 0; i < polygon.size(); ++i) {
    const ClippedCorner &a = polygon[i], &b = polygon[(i + 1) % polygon.size()];
    const double da = keep.of(a.place), db = keep.of(b.place);
    if (da >= 0) result.push_back(a);
    if (da >= 0 && db < 0) result.push_back(between(a, b, da / (da - db)));
    if (da < 0 && db >= 0) result.push_back(between(b, a, db / (db - da)));
  }
  polygon = std::move(result);
}

}  // namespace

void clip(std::vector<ClippedCorner>& polygon, const Camera& camera, double reach) {
  for (const auto& corner : polygon) {
    if (!std::isfinite(corner.place.right + corner.place.up + corner.place.ahead)) {
      polygon.clear();
      return;
    }
  }
  // A hair beyond the near distance, so that a cut corner's rounding does not put it on the wrong side.
  if (!camera.parallel()) cut(polygon, {0, 0, 1, -camera.near() * (1 + 1e-9)});
  const double slope = camera.sample_size(1) * reach;
  for (const double sign : {1.0, -1.0}) {
    const double ahead = camera.parallel() ? 0 : slope, constant = camera.parallel() ? slope : 0;
    cut(polygon, {sign, 0, ahead, constant});
    cut(polygon, {0, sign, ahead, constant});
  }
}

}  // namespace sidestream::rendering
