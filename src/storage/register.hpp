// The writers and result formats that come with Sidestream.
#pragma once

#include "sidestream/extend/registry.hpp"
#include "storage/codecs/pipeline.hpp"
#include "storage/formats/csv.hpp"
#include "storage/formats/kinds.hpp"
#include "storage/results/result_parts.hpp"
#include "storage/writers/kinds.hpp"

namespace sidestream {

inline void register_storage(Registry& registry) {
  registry.add(csv_format());
  registry.add(hdf5_format());
  registry.add(png_format());
  registry.add(vtkhdf_format());
  registry.add(vtp_format());
  for (const auto& [name, kind] : built_in_codecs()) registry.add(CodecKind(kind));
  registry.add(database_writer(registry.codecs()));
  registry.add(vtu_format());
  registry.add(hdf5_writer());
  registry.add(metadata_writer());
  registry.add(vtk_writer());
}

}  // namespace sidestream
