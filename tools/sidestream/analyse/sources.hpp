// The files of a command line: their iterations, and what they have in common.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "analyse/described.hpp"
#include "analyse/formats.hpp"
#include "sidestream/extend/communicator.hpp"

namespace sidestream::analysing {

struct SourceOptions {
  std::vector<std::string> files;  ///< or patterns of the shell: *, ?, [...]
  std::string describe;            ///< a description of HDF5 files of other programs; empty: none
  std::string units = "SI";        ///< or `stored`: of files of openPMD
  bool skip_damaged = false;       ///< leaves files out that cannot be read, which is said
  std::string iterations, cycles;  ///< numbers and FROM:TO:STEP with commas between; empty: all
};

/// What is read, and how: the same on all processes.
class Sources {
 public:
  /// Collective. One process looks at all files and tells the others. Throws the same Error(file) on all, or
  /// Error(usage) where nothing is left.
  Sources(const SourceOptions& options, Communicator& all);

  /// The iterations that are chosen, in the order of the files; those that a pattern stands for in the order of the
  /// numbers in their names.
  [[nodiscard]] const StoredIterations& iterations() const noexcept { return iterations_; }
  /// Whether files were left out, on the process that has looked at them.
  [[nodiscard]] bool lacks_some() const noexcept { return lacks_some_; }
  /// The meshes and variables of all of them; names say which are the same. Meshes may have more levels in one than in
  /// another.
  [[nodiscard]] const Metadata& metadata() const noexcept { return metadata_; }
  /// Cells are counted from (0, 0, 0). Throws Error(file).
  [[nodiscard]] std::unique_ptr<Snapshot> open(std::size_t number) const;
  /// What files have that is no variable, for messages about what is missing; may be empty.
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
