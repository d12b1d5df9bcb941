// The contracts for putting data on disk: writers of blocks and formats of results.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sidestream/extend/options.hpp"
#include "sidestream/extend/task.hpp"

namespace sidestream {

/// The directory for the files of a writer. Directories are created as needed.
class OutputDirectory {
 public:
  virtual ~OutputDirectory() = default;
  /// The path for a file option's value in this iteration. The value may name {server}, the rank of this server.
  [[nodiscard]] virtual std::string path(const std::string& pattern, const Iteration& iteration, int server) const = 0;
  /// The temporary name, next to `path`, of a file that `commit` will move there. No reader looks at it.
  [[nodiscard]] virtual std::string temporary(const std::string& path) const = 0;
  /// Flushes the temporary file to disk and gives it its name. Throws Error(file).
  virtual void commit(const std::string& path) const = 0;
  /// Removes the temporary file, if any. Never throws.
  virtual void discard(const std::string& path) const noexcept = 0;
  /// Name and version of the program and the path of the configuration, for the files' headers.
  [[nodiscard]] virtual const std::string& provenance() const noexcept = 0;
  /// True if the run continues an earlier one in this directory, so that indices continue from that run.
  [[nodiscard]] virtual bool resumes() const noexcept { return false; }
  /// True if it continues its own session, whose earlier servers left the results.
  [[nodiscard]] virtual bool within_session() const noexcept { return false; }
  /// The number of servers that may write at a time; 0: all.
  [[nodiscard]] virtual int writers() const noexcept { return 0; }
};

/// Decides which entries of an earlier run are kept when a run resumes. Another run counts its iterations from 0, so
/// its entries are compared by cycle. Earlier servers of the same session count like these servers, so an entry with a
/// lower index is theirs, even if it has the cycle of the first iteration here. Rows of an earlier run may precede
/// theirs, so within a session either criterion keeps an entry.
class ResumeFilter {
 public:
  /// `first`: the first iteration of this run.
  ResumeFilter(const OutputDirectory& directory, const Iteration& first)
      : first_(first), within_session_(directory.within_session()) {}

  [[nodiscard]] bool keeps(std::int64_t index, std::int64_t cycle) const noexcept {
    return cycle < first_.cycle || (within_session_ && index < first_.index);
  }
  [[nodiscard]] const Iteration& first() const noexcept { return first_; }

 private:
  Iteration first_;
  bool within_session_;
};

/// A kind of task that puts blocks on disk, listed under `outputs:`. Its `local` writes temporary files, `combine`
/// names them and writes the index on rank 0, `discard` removes them.
struct WriterKind {
  std::string name;
  std::string text;
  std::vector<Option> options;
  std::function<std::unique_ptr<Task>(const Settings&, const Metadata&, std::shared_ptr<const OutputDirectory>)> create;
  /// False if `combine` reads the blocks of `local` on the same server. Placements in which other servers run `local`
  /// (`forward: partials`) are then refused at the start.
  bool any_partials = true;
  /// Returns true if, with these options, the output keeps what a later run resumes from. It then also runs in the last
  /// iteration of a run that is told to end (`ending:`), even if it is not due. Null: never.
  std::function<bool(const Settings&)> for_restart{};
};

/// A file with one server's part of a result.
struct PieceFile {
  std::string file;         ///< path relative to the list
  std::uint64_t count = 0;  ///< number of rows, or of points
};

/// Writes results into files with one ending. Results whose function is not set are refused by name. Without a list
/// function, each result is one file. The functions write the file `path`, throw Error(file) and never communicate. The
/// path is a temporary name, except for rows that are appended. The caller flushes the file, gives it its name and cuts
/// off half-appended rows. `provenance` goes into the file's header, if it has one.
struct ResultFormat {
  std::string ending;  ///< with the dot, lower case: ".vtp"
  std::string text{};  ///< for the reference manual
  std::function<void(const std::string& path, const Image&, const std::string& provenance)> image{};
  std::function<void(const std::string& path, const SurfaceStream&, const Iteration&, const std::string& provenance)>
      surface{};
  std::function<void(const std::string& path, const CellSet&, const Iteration&, const std::string& provenance)> cells{};
  /// Writes a whole table. With `append`, adds the rows to a file that was written earlier with the same columns.
  std::function<void(const std::string& path, const Table&, bool append, const std::string& provenance)> table{};
  /// Writes arrays from several parts, or a piece: one part that does not fill its arrays.
  std::function<void(const std::string& path, std::span<const DataSet> parts, const Iteration&,
                     const std::string& provenance)>
      data{};

  std::string list_ending{};  ///< ending of files that list pieces: ".pvtp"
  /// Writes the list. `like` is the part of one server, perhaps without values. All parts have the same arrays or
  /// columns.
  std::function<void(const std::string& path, const Surface& like, const std::vector<PieceFile>& pieces,
                     const Iteration&, const std::string& provenance)>
      surface_list{};
  std::function<void(const std::string& path, const CellSet& like, const std::vector<PieceFile>& pieces,
                     const Iteration&, const std::string& provenance)>
      cells_list{};
  std::function<void(const std::string& path, const Table& like, const std::vector<PieceFile>& pieces)> table_list{};
  /// `parts` has one entry per piece, without values.
  std::function<void(const std::string& path, const std::vector<DataSet>& parts, const std::vector<PieceFile>& pieces,
                     const Iteration&, const std::string& provenance)>
      data_list{};
};

}  // namespace sidestream
