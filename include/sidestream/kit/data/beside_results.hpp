// Services next to Results that not every implementation has: charts, databases of pictures, remarks.
#pragma once

#include <string>
#include <vector>

#include "sidestream/data/result.hpp"

namespace sidestream {

/// A chart to be drawn.
struct ChartOrder {
  std::string table;                     ///< the file, as it was given earlier to the results of the same iteration
  std::string image;                     ///< the picture, .png, .pdf or .svg
  std::vector<std::string> arguments{};  ///< as for `sidestream plot`
  bool of_all = false;                   ///< draw the table of all iterations so far
};

/// Implemented next to Results, where charts can be drawn.
class ChartResults {
 public:
  virtual ~ChartResults() = default;
  /// Orders the picture and does not wait for it. Only the first server draws. Throws Error(configuration) if two
  /// pictures of an iteration go to one file.
  virtual void draw(const ChartOrder& order) = 0;
};

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

/// Implemented next to Results, where somebody may wait for them.
class ResultRemarks {
 public:
  virtual ~ResultRemarks() = default;
  /// Keeps a sentence that goes on after `delivered: iteration 7, but `.
  virtual void remark(const std::string& sentence) = 0;
  /// Returns the sentences since the last call, as one.
  [[nodiscard]] virtual std::string take_remarks() = 0;
};

}  // namespace sidestream
