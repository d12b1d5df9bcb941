// Chunks of HDF5 datasets that are packed here, since HDF5 knows the filters only by their numbers.
#pragma once

#include "sidestream/data/block.hpp"
#include "sidestream/data/variable.hpp"
#include "sidestream/kit/storage/codecs/stored_form.hpp"
#include "sidestream/kit/storage/hdf5/file.hpp"
#include "storage/writers/kinds.hpp"

namespace sidestream {

/// The storage of a variable's values on one block.
struct ChunkPlan {
  Index3 points{1, 1, 1};  ///< extents of a chunk
  int components = 1;      ///< components in a chunk: 1 or all
  hdf5::Layout layout{};
  [[nodiscard]] bool packs_here() const noexcept { return layout.packed.number != 0; }
};

/// The layout for values of `form` in `box`, with chunks of at most `chunk_bytes`. `dimensions`: axes that the mesh
/// uses.
[[nodiscard]] ChunkPlan plan_chunks(const Variable& variable, const StoredForm& form, int dimensions, const Box& box,
                                    const Compression& compression, bool checksum, std::uint64_t chunk_bytes);

/// Writes the values of `box` into a dataset with such a layout, chunk by chunk. Chunks that zfp cannot keep within its
/// bound are stored unpacked.
void write_packed(hdf5::Dataset& dataset, const Variable& variable, const StoredForm& form, int dimensions,
                  const ArrayView& array, const Box& box, const ChunkPlan& plan);

}  // namespace sidestream
