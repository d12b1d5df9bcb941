// The outputs that come with Sidestream, and the options that they share.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sidestream/data/selection.hpp"
#include "sidestream/extend/codec.hpp"
#include "sidestream/extend/options.hpp"
#include "sidestream/extend/writer.hpp"

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

/// The patterns of the files that list blocks, one per mesh. `settings` are those of the writer.
[[nodiscard]] std::vector<std::string> vtk_list_files(const Settings& settings, const Metadata& metadata);

// Options common to all writers: `variables`, `file` and the compression.

/// Declares `variables`: names; empty means all.
[[nodiscard]] Option variables_option();

/// Ids of the variables that `settings` names, without repetition, in the order of declaration.
[[nodiscard]] std::vector<std::int32_t> chosen_variables(const Settings& settings, const Metadata& metadata);

/// A selection of these variables without halo.
[[nodiscard]] Selection selection_of(const std::vector<std::int32_t>& variables);

/// The options `compression` (`none` or `name`) and `level`.
[[nodiscard]] std::vector<Option> compression_options(const std::string& name, const std::string& text);

/// The chosen level; 0 for `none`. Throws through settings.fail if there is a level without compression.
[[nodiscard]] int compression_level(const Settings& settings);

/// Checks the option `file`. Throws through settings.fail unless the name differs between iterations, has one of
/// `endings`, and has no {server} (servers' own files get other names).
void check_file_option(const Settings& settings, const std::vector<std::string>& endings);

}  // namespace sidestream
