// The outputs that come with Sidestream, and the options that they share.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sidestream/extend/codec.hpp"
#include "sidestream/extend/option_table.hpp"
#include "sidestream/extend/writer.hpp"
#include "sidestream/kit/storage/writers/common_options.hpp"

namespace sidestream {

/// The output `database`; docs/database.md describes it.
[[nodiscard]] WriterKind database_writer(std::shared_ptr<const CodecKinds> codecs);

// The writer `hdf5`.

/// Writes one file per server and iteration with the blocks. Another file shows each variable as one array over the
/// whole mesh (HDF5's virtual datasets).
[[nodiscard]] WriterKind hdf5_writer();

// The writer `metadata`.

/// Writes one file per iteration that lists meshes, variables and blocks, for `sidestream plan`.
[[nodiscard]] WriterKind metadata_writer();

// The writer `vtk`.

/// Writes one file per block and iteration, one per mesh and iteration that lists those, and an index over time.
[[nodiscard]] WriterKind vtk_writer();

/// The patterns of the files that list blocks, one per mesh. `settings`: the writer's.
[[nodiscard]] std::vector<std::string> vtk_list_files(const Settings& settings, const Metadata& metadata);

// Options common to several writers.

/// Checks the names in an option with a value for some variables. `known`: the variables of the output. Throws through
/// settings.fail, with the most similar known name.
void check_named_variables(const Settings& settings, const char* option, const OptionPairs& values,
                           const std::vector<std::string>& known);

/// The option `level_times`: the name of the event that level_times_of() reads.
template <class Owner>
[[nodiscard]] OptionField<Owner> level_times_option(std::string Owner::*event) {
  return option<OptionType::event>(
      "level_times", event,
      "An event whose values (float64, scope all) are the times of the refinement levels, from 0 on, if levels have "
      "times of their own. They are stored with the octrees and the meshes with refinement levels. In iterations "
      "without the event, levels have the iteration's time.");
}

/// Libraries that compress without loss.
enum class Packer { none, zlib, zstd };

struct Compression {
  Packer by = Packer::none;
  int level = 0;  ///< 0 if unused
  [[nodiscard]] bool used() const noexcept { return by != Packer::none; }
};
/// The options `compression` (`none` or one of `names`) and `level`.
[[nodiscard]] OptionTable<Compression> compression_options(const std::vector<std::pair<std::string, Packer>>& names,
                                                           const std::string& text);

}  // namespace sidestream
