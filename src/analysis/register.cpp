#include "analysis/register.hpp"

#include "analysis/common/kinds.hpp"

namespace sidestream {

void register_analyses(Registry& registry) {
  registry.add(statistics_kind());
  registry.add(histogram_kind());
  registry.add(histogram2d_kind());
  registry.add(slice_kind());
  registry.add(isosurface_kind());
  registry.add(threshold_kind());
  registry.add(clip_kind());
  registry.add(render_kind());
  registry.add(projection_kind());
  registry.add(probe_kind());
  registry.add(deposit_kind());
  registry.add(subsample_kind());
  registry.add(resample_kind());
  registry.add(streamlines_kind());
  registry.add(python_kind());
}

}  // namespace sidestream
