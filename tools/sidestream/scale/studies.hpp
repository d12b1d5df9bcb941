// Curves of the model over ranks, servers and intervals.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "scale/costs.hpp"

namespace sidestream {

struct Curve {
  std::string name;
  std::vector<std::pair<double, double>> points;  ///< in the order of their first values
};

/// Curves of one quantity: a table.
struct Curves {
  std::string name;  ///< of the table's file, without `.csv`
  std::string quantity, unit, over;
  std::vector<Curve> curves;

  /// Adds a point to the curve of this name.
  void add(const std::string& curve, double at, double value);
  [[nodiscard]] std::string table() const;
};

/// Tables, and sentences about them.
struct Study {
  std::vector<Curves> tables;
  std::string report;
};

/// In situ, and in transit with constant total (CT) and with constant simulating ranks (CS), after Friesen et al.,
/// "In situ and in-transit analysis of cosmological simulations" (2016), section 5.
[[nodiscard]] Study study(const StatedScale& scale, const ScaleCosts& costs, const StatedSplits& asked);

/// Ways to write, after Dorier et al., "Damaris: addressing performance variability in data management for
/// post-petascale simulations" (2016), and Ziegeler, Pettey and Koop's report on the BEC code (PETTT, 2013).
[[nodiscard]] Study study(const StatedScale& scale, const ScaleCosts& costs, const StatedOutputs& asked);

/// All blocks or those needed, after Loring et al., "Improving performance of M-to-N processing and data redistribution
/// in in transit analysis and visualization" (2020), section 3.1.
[[nodiscard]] Study study(const StatedScale& scale, const ScaleCosts& costs, const StatedEndpoints& asked);

/// Seconds that all these tasks take one after the other.
[[nodiscard]] double seconds_of_all(const std::vector<StatedPart>& tasks, double cells, int ranks);

}  // namespace sidestream
