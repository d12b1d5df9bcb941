// Services next to Results that not every implementation has: charts, databases of pictures, earlier tables, remarks.
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

/// Implemented next to Results by receivers that write files.
class ResultServices {
 public:
  virtual ~ResultServices() = default;
  /// Requests the picture without waiting for it. Only the first server draws. Throws Error(configuration) if two
  /// pictures of an iteration go to one file.
  virtual void draw(const ChartOrder& order) = 0;

  // Cinema databases (specification D, "Dietrich"): a directory `NAME.cdb` with pictures, and the table `data.csv` of
  // their parameters. Only what rank 0 gives is kept.

  /// Writes a picture of this iteration and returns its path relative to the database. `name` distinguishes it from the
  /// others of the iteration; empty if there is only one. Throws Error(file).
  [[nodiscard]] virtual std::string add_picture(const std::string& database, const std::string& name,
                                                const Image& picture) = 0;
  /// Adds the rows of this iteration's pictures, all or none: a row each, after the columns iteration, cycle and time.
  /// The last column is `FILE`, the path of the picture. Throws Error(file).
  virtual void list_pictures(const std::string& database, const Table& rows) = 0;

  /// The rows of a growing table, with their columns of the iteration, for iterations before this run. None if nothing
  /// is continued. Called on the server that writes the table. Throws Error(file).
  [[nodiscard]] virtual std::vector<std::vector<std::string>> earlier_rows(const std::string& file) const = 0;

  /// Keeps a sentence that continues `delivered: iteration 7, but `, for people who wait for the results.
  virtual void remark(const std::string& sentence) = 0;
  /// Returns the sentences since the last call, as one.
  [[nodiscard]] virtual std::string take_remarks() = 0;
};

}  // namespace sidestream
