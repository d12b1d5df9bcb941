#include "sidestream/extend/plugin.hpp"
#include "visualisation/kinds.hpp"

SIDESTREAM_PLUGIN(registry) {
  registry.add(sidestream::slice_kind());
  registry.add(sidestream::isosurface_kind());
  registry.add(sidestream::threshold_kind());
  registry.add(sidestream::clip_kind());
  registry.add(sidestream::render_kind());
  registry.add(sidestream::projection_kind());
  registry.add(sidestream::probe_kind());
  registry.add(sidestream::relevance_kind());
  registry.add(sidestream::resample_kind());
  registry.add(sidestream::streamlines_kind());
}
