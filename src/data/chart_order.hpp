// Charts of tables that results have: they are drawn by a program of its own, after the table is committed.
#pragma once

#include <string>
#include <vector>

namespace sidestream {

/// What is to be drawn.
struct ChartOrder {
  std::string table;                     ///< the file, as it was given to the results of the same iteration before
  std::string image;                     ///< the picture, .png, .pdf or .svg
  std::vector<std::string> arguments{};  ///< as `sidestream plot` takes them
  bool of_all = false;                   ///< the table of all iterations so far
};

/// Beside Results, where charts can be drawn.
class ChartResults {
 public:
  virtual ~ChartResults() = default;
  /// Sees to it that the picture is drawn, and does not wait for it. Of the servers the first one alone does so. Throws
  /// Error(configuration) if two pictures of an iteration go to one file.
  virtual void draw(const ChartOrder& order) = 0;
};

}  // namespace sidestream
