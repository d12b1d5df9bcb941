#include "climate/kinds.hpp"
#include "sidestream/extend/plugin.hpp"

SIDESTREAM_PLUGIN(registry) {
  registry.add(sidestream::netcdf_writer());
  registry.add(sidestream::zarr_writer());
  registry.add(sidestream::time_statistics_kind());
}
