// Tables that grow by some rows each iteration.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sidestream/extend/results.hpp"
#include "storage/results/earlier_results.hpp"

namespace sidestream {

/// After a crash a table may end in some of the rows of one iteration. How far it is whole stands in a hidden file
/// beside it, `.<table>.committed`, from where a run that resumes cuts the table; a run that ends removes that file.
class TableFiles {
 public:
  explicit TableFiles(std::shared_ptr<const OutputDirectory> directory) : directory_(std::move(directory)) {}
  ~TableFiles();
  TableFiles(const TableFiles&) = delete;
  TableFiles& operator=(const TableFiles&) = delete;

  /// Adds the rows of `table`, after the columns iteration, cycle and time, to `file`. The first call for a
  /// file starts it anew, or, where the directory resumes, goes on after its rows from before `first`, the first
  /// iteration of this run; if others are dropped, the table with them is kept under the first free name with -v1, -v2,
  /// ... Throws Error(file), and Error(configuration) if the columns are not those of the file.
  void append(const ResultFormat& format, const std::string& file, const Iteration& iteration, const Table& table,
              const Iteration& first);

  /// The rows from before `first` of a table that the directory goes on with. Throws Error(file).
  [[nodiscard]] std::vector<std::vector<std::string>> earlier_rows(const std::string& file, const Iteration& iteration,
                                                                   const Iteration& first) const;

  /// Leaves `provenance.txt` beside the tables, which have no place for it in them. A run that is resumed
  /// with another configuration adds to it.
  void keep_provenance();

 private:
  [[nodiscard]] bool take_over(const std::string& path, const std::vector<std::string>& columns,
                               const ResumeFilter& what) const;
  void write_new(const ResultFormat& format, const std::string& path, const Table& table) const;

  std::shared_ptr<const OutputDirectory> directory_;
  bool provenance_kept_ = false;
  std::map<std::string, std::vector<std::string>> columns_;  ///< of the files begun by this run
};

// Tables as data sets, for formats that have those.

/// An array of one axis, `row`, for each column, with the rows of `mine` at `first` of `all`. Throws
/// Error(configuration) for columns of texts, naming the file.
[[nodiscard]] DataSet data_set_of(const std::string& file, const Table& mine, Index first, Index all);

/// Collective: gives the rows of all servers away as one data set.
void add_as_data(Results& results, const std::string& file, const Table& mine, Communicator& servers, Pieces how);

}  // namespace sidestream
