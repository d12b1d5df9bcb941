// The files of a command line: their iterations and common metadata.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "analyse/formats.hpp"
#include "sidestream/extend/communicator.hpp"

namespace sidestream::analysing {

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
