// The contracts of what puts data on disk: writers of blocks and formats of results.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sidestream/extend/options.hpp"
#include "sidestream/extend/task.hpp"

namespace sidestream {

/// Where a writer puts its files. Directories are created as needed.
class OutputDirectory {
 public:
  virtual ~OutputDirectory() = default;
  /// The path for a file option's value (which may name {server}, the rank here) in this iteration.
  [[nodiscard]] virtual std::string path(const std::string& pattern, const Iteration& iteration, int server) const = 0;
  /// Where to write what `commit` will move to `path`: a name beside it that no reader looks at.
  [[nodiscard]] virtual std::string temporary(const std::string& path) const = 0;
  /// Flushes the temporary file to disk and gives it its name. Throws Error(file).
  virtual void commit(const std::string& path) const = 0;
  /// Removes the temporary file, if any. Never throws.
  virtual void discard(const std::string& path) const noexcept = 0;
  /// Name and version of the program and where the configuration stands, for the files' headers.
  [[nodiscard]] virtual const std::string& provenance() const noexcept = 0;
  /// Whether the run continues an earlier one in this directory, so that indices go on where that left off.
  [[nodiscard]] virtual bool resumes() const noexcept { return false; }
};

/// A kind of task that puts blocks on disk, under `outputs:`. Its `local` writes temporary files, `combine` names them
/// and writes the index on rank 0, `discard` removes them.
struct WriterKind {
  std::string name;
  std::string text;
  std::vector<Option> options;
  std::function<std::unique_ptr<Task>(const Settings&, const Metadata&, std::shared_ptr<const OutputDirectory>)> create;
  /// False: `combine` reads the blocks of `local` on the same server. Placements in which others run `local`
  /// (`forward: partials`) are refused at the start.
  bool any_partials = true;
};

/// A file with one server's part of a result.
struct PieceFile {
  std::string file;         ///< relative to the list
  std::uint64_t count = 0;  ///< rows, or points
};

/// Writes results into files of one ending. Functions not set are not supported and refused by name; without a list,
/// results come in one file. They write the file `path`, throw Error(file) and never communicate. The path is a
/// temporary name, but for rows that are appended: flushing the file, giving it its name and cutting off what was
/// appended by half is their caller's. `provenance` goes into the file's header, if it has one.
struct ResultFormat {
  std::string ending;  ///< with the dot, lower case: ".vtp"
  std::string text{};  ///< for the reference manual
  std::function<void(const std::string& path, const Image&, const std::string& provenance)> image{};
  std::function<void(const std::string& path, const SurfaceStream&, const Iteration&, const std::string& provenance)>
      surface{};
  std::function<void(const std::string& path, const CellSet&, const Iteration&, const std::string& provenance)> cells{};
  /// Writes a whole table, or with `append` adds the rows to a file written before with the same columns.
  std::function<void(const std::string& path, const Table&, bool append, const std::string& provenance)> table{};
  /// Writes arrays of which several parts are given, or a piece: with one part that does not fill its arrays.
  std::function<void(const std::string& path, std::span<const DataSet> parts, const Iteration&,
                     const std::string& provenance)>
      data{};

  std::string list_ending{};  ///< of files that list pieces: ".pvtp"
  /// Writes the list. `like`: the part of one server, perhaps without values, whose arrays or columns are those of all.
  std::function<void(const std::string& path, const Surface& like, const std::vector<PieceFile>& pieces,
                     const Iteration&, const std::string& provenance)>
      surface_list{};
  std::function<void(const std::string& path, const CellSet& like, const std::vector<PieceFile>& pieces,
                     const Iteration&, const std::string& provenance)>
      cells_list{};
  std::function<void(const std::string& path, const Table& like, const std::vector<PieceFile>& pieces)> table_list{};
  /// `parts`: of each piece, without values.
  std::function<void(const std::string& path, const std::vector<DataSet>& parts, const std::vector<PieceFile>& pieces,
                     const Iteration&, const std::string& provenance)>
      data_list{};
};

}  // namespace sidestream
