// Orders for charts of result tables. A separate program draws them, after the table is committed.
#pragma once

#include <string>
#include <vector>

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

}  // namespace sidestream
