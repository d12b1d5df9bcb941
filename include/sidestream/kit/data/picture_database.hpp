// Databases of pictures, in which they are found by camera and time.
#pragma once

#include <string>

#include "sidestream/data/result.hpp"

namespace sidestream {

/// Implemented next to Results, where Cinema databases can be written (specification D, "Dietrich"): a directory
/// `NAME.cdb` with pictures, and the table `data.csv` of their parameters. Only what rank 0 gives is kept.
class PictureDatabases {
 public:
  virtual ~PictureDatabases() = default;
  /// Writes a picture of this iteration and returns its path relative to the database. `name` distinguishes it from the
  /// others of the iteration; empty if there is only one. Throws Error(file).
  [[nodiscard]] virtual std::string add_picture(const std::string& database, const std::string& name,
                                                const Image& picture) = 0;
  /// Enters the pictures of this iteration, all or none: a row each, after the columns iteration, cycle and time. The
  /// last column is `FILE`, the path of the picture. Throws Error(file).
  virtual void list_pictures(const std::string& database, const Table& rows) = 0;
};

}  // namespace sidestream
