// Cinema databases: pictures, and the table that lists them.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "sidestream/extend/writer.hpp"
#include "sidestream/kit/storage/files/file_names.hpp"
#include "storage/results/table_files.hpp"

namespace sidestream {

/// Writes Cinema databases of specification D. The directory `NAME.cdb` has pictures in `image/`, and `data.csv` with a
/// row for each. The rows are appended when all pictures of the iteration have their names. Readers ignore a picture
/// without a row, left by a crash.
class PictureFiles {
 public:
  /// Keeps references to `formats` and `tables`.
  PictureFiles(std::shared_ptr<const OutputDirectory> directory, const std::map<std::string, ResultFormat>& formats,
               TableFiles& tables)
      : directory_(directory), formats_(&formats), tables_(&tables), names_(std::move(directory)) {}

  /// See ResultServices.
  [[nodiscard]] std::string add(const std::string& database, const std::string& name, const Iteration& iteration,
                                const Image& picture);
  /// Appends the rows of an iteration. `first`: the first iteration of this run.
  void list(const std::string& database, const Iteration& iteration, const Table& rows, const Iteration& first);

 private:
  std::shared_ptr<const OutputDirectory> directory_;
  const std::map<std::string, ResultFormat>* formats_;
  TableFiles* tables_;
  FileNames names_;
};

/// Removes the pictures that a database of an earlier run lists, and its table. Other files in it stay.
void remove_pictures(const std::string& database);

}  // namespace sidestream
