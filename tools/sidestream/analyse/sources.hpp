// Files that can be analysed: their formats, and the iterations and metadata of the files on a command line. Each
// format has functions that list iterations and open them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "analyse/snapshot.hpp"
#include "sidestream/extend/communicator.hpp"

namespace sidestream::analysing {

/// The contexts of a database in the order of writing; of an earlier run only those before the first cycle of a later
/// one.
[[nodiscard]] StoredIterations database_iterations(const std::string& directory);
[[nodiscard]] std::unique_ptr<Snapshot> open_database(const StoredIteration& iteration);

/// A plotfile of AMReX: one iteration.
[[nodiscard]] StoredIterations plotfile_iterations(const std::string& directory);
[[nodiscard]] std::unique_ptr<Snapshot> open_plotfile(const StoredIteration& iteration);

/// A file that the output `hdf5` has written: one iteration.
[[nodiscard]] StoredIterations fields_iterations(const std::string& path);
[[nodiscard]] std::unique_ptr<Snapshot> open_fields(const StoredIteration& iteration);

/// Units of the numbers read from openPMD.
enum class Units { si, stored };
/// A file of openPMD: all its iterations, by ascending number.
[[nodiscard]] StoredIterations openpmd_iterations(const std::string& path, Units units);
[[nodiscard]] std::unique_ptr<Snapshot> open_openpmd(const StoredIteration& iteration, Units units);

// Descriptions of other programs' HDF5 files: the arrays of variables and the geometry of meshes.

class Description;

/// Parses the text of the file `path`; docs/analysing-files.md defines its keys. Throws Error(configuration).
[[nodiscard]] std::shared_ptr<const Description> read_description(const std::string& text, const std::string& path);

/// The iteration in a described file. `number`: index of the file among all, its cycle by default.
[[nodiscard]] StoredIterations described_iterations(const std::string& path, const Description& description,
                                                    std::int64_t number);
[[nodiscard]] std::unique_ptr<Snapshot> open_described(const StoredIteration& iteration,
                                                       const Description& description);

struct SourceOptions {
  std::vector<std::string> files;  ///< or shell patterns: *, ?, [...]
  std::string describe;            ///< a description of HDF5 files of other programs; empty: none
  std::string units = "SI";        ///< or `stored`: for files of openPMD
  bool skip_damaged = false;       ///< skips unreadable files, with a message
  std::string iterations, cycles;  ///< numbers and FROM:TO:STEP separated by commas; empty: all
};

/// The iterations to be read, the same on all processes.
class Sources {
 public:
  /// Collective. One process inspects all files and tells the others. Throws the same Error(file) on all, or
  /// Error(usage) if no iteration is left.
  Sources(const SourceOptions& options, Communicator& all);

  /// The selected iterations in the order of the files; those matched by one pattern are sorted by the numbers in their
  /// names.
  [[nodiscard]] const StoredIterations& iterations() const noexcept { return iterations_; }
  /// True if files were skipped; set on the process that inspected them.
  [[nodiscard]] bool lacks_some() const noexcept { return lacks_some_; }
  /// The meshes and variables of all files, matched by name. Meshes may have more levels in one file than in another.
  [[nodiscard]] const Metadata& metadata() const noexcept { return metadata_; }
  /// Opens an iteration, with cells counted from (0, 0, 0). Throws Error(file).
  [[nodiscard]] std::unique_ptr<Snapshot> open(std::size_t number) const;
  /// Contents of the files that are not variables, for messages about missing ones; may be empty.
  [[nodiscard]] std::string contents() const;

 private:
  void find(const SourceOptions& options);
  void merge(const SourceOptions& options);
  void share(Communicator& all);

  Units units_;
  std::shared_ptr<const Description> description_;
  StoredIterations iterations_;
  Metadata metadata_;
  bool lacks_some_ = false;
};

}  // namespace sidestream::analysing
