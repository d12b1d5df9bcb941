// Tables that grow by some rows in each iteration.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sidestream/extend/results.hpp"
#include "sidestream/extend/writer.hpp"

namespace sidestream {

/// Files of growing tables. After a crash a table may end within the rows of an iteration, so its complete length is
/// kept in a hidden file next to it, `.<table>.committed`. A resumed run cuts the table there; a run that ends normally
/// removes the file.
class TableFiles {
 public:
  explicit TableFiles(std::shared_ptr<const OutputDirectory> directory) : directory_(std::move(directory)) {}
  ~TableFiles();
  TableFiles(const TableFiles&) = delete;
  TableFiles& operator=(const TableFiles&) = delete;

  /// Appends the rows of `table`, after the columns iteration, cycle and time, to `file`. The first call for a file
  /// creates it or, if the directory resumes, continues after its rows before `first`, the first iteration of this run.
  /// If rows are dropped, the old table is kept under the first free name with -v1, -v2, ... Throws Error(file), and
  /// Error(configuration) if the columns differ from those of the file.
  void append(const ResultFormat& format, const std::string& file, const Iteration& iteration, const Table& table,
              const Iteration& first);

  /// The rows before `first` of a table that the directory continues. Throws Error(file).
  [[nodiscard]] std::vector<std::vector<std::string>> earlier_rows(const std::string& file, const Iteration& iteration,
                                                                   const Iteration& first) const;

  /// Writes `provenance.txt` next to the tables, which cannot hold it themselves. A run resumed with another
  /// configuration appends to it.
  void keep_provenance();

 private:
  [[nodiscard]] bool take_over(const std::string& path, const std::vector<std::string>& columns,
                               const ResumeFilter& what) const;
  void write_new(const ResultFormat& format, const std::string& path, const Table& table) const;

  std::shared_ptr<const OutputDirectory> directory_;
  bool provenance_kept_ = false;
  std::map<std::string, std::vector<std::string>> columns_;  ///< columns of the files begun by this run
};

// Tables as data sets, for formats that have only data sets.

/// Makes an array with the axis `row` for each column. The rows of `mine` begin at row `first` of `all` rows. Throws
/// Error(configuration) for columns of texts, naming the file.
[[nodiscard]] DataSet data_set_of(const std::string& file, const Table& mine, Index first, Index all);

/// Adds the rows of all servers as one data set. Collective.
void add_as_data(Results& results, const std::string& file, const Table& mine, Communicator& servers, Pieces how);

}  // namespace sidestream
