#include "amr_codec/values/group_order.hpp"

#include <algorithm>
#include <array>

#include "amr_codec/values/elements.hpp"
#include "amr_codec/values/prediction_loops.hpp"

namespace sidestream::trees {

namespace {

constexpr std::size_t run = 8 * tile_groups;

}  // namespace

void read_face_fluxes(const TreeChunk& chunk, const Relations& relations, std::size_t first, std::size_t count,
                      double* out) {
  const FaceRelation& face = *relations.face;
  const auto axis = static_cast<std::size_t>(face.axis);
  std::array<double, run> low, high;
  for (std::size_t done = 0; done < count; done += run) {
    const std::size_t now = std::min(run, count - done);
    std::fill_n(out + done, now, 0.0);
    std::size_t next = 0;
    const auto read = [&](std::array<double, run>& copy) {
      const Companion& from = chunk.companions[static_cast<std::size_t>(face.others[next++])];
      return read_run(from.type, from.values, first + done, now, copy.data());
    };
    for (std::size_t a = 0; a < static_cast<std::size_t>(chunk.groups.dimensions); ++a) {
      if (a == axis) continue;
      const double ratio = face.lengths.empty() ? 1 : face.lengths[axis] / face.lengths[a];
      const double* below = read(low);
      const double* above = read(high);
      prediction_loops::add_flux(ratio, below, above, now, out + done);
    }
  }
}

}  // namespace sidestream::trees
