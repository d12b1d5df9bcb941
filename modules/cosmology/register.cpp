#include "cosmology/kinds.hpp"
#include "sidestream/extend/plugin.hpp"

SIDESTREAM_PLUGIN(registry) {
  registry.add(sidestream::halos_kind());
  registry.add(sidestream::merge_tree_kind());
  registry.add(sidestream::power_spectrum_kind());
  registry.add(sidestream::particle_spectrum_kind());
  registry.add(sidestream::lyman_alpha_kind());
  registry.add(sidestream::deposit_kind());
  registry.add(sidestream::subsample_kind());
}
