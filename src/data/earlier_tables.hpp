// What results know of tables that an earlier run has left and this one goes on with.
#pragma once

#include <string>
#include <vector>

namespace sidestream {

/// Beside Results, where it is at hand.
class EarlierTables {
 public:
  virtual ~EarlierTables() = default;
  /// The rows of a table that grows, with their columns of the iteration, of iterations before the first one of this
  /// run; none if nothing is gone on with. On the server that writes the table. Throws Error(file).
  [[nodiscard]] virtual std::vector<std::vector<std::string>> earlier_rows(const std::string& file) const = 0;
};

}  // namespace sidestream
