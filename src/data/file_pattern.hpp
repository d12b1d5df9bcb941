// File names with the iteration in them: "surface-{cycle:06}.vtp".
#pragma once

#include <string>
#include <vector>

#include "sidestream/data/iteration.hpp"

namespace sidestream {

/// Replaces {index}, {cycle}, {time} and {server}, each with an optional width as in {index:05} (zeros in front; for
/// time digits after the point, as in {time:.4}). `{{` and `}}` stand for braces. Throws Error(configuration) naming
/// the field and the known ones.
[[nodiscard]] std::string expand_pattern(const std::string& pattern, const Iteration& iteration, int server);

/// Whether files of different iterations get different names.
[[nodiscard]] bool names_iteration(const std::string& pattern);

/// Whether `field` ("cycle", say) is in it.
[[nodiscard]] bool names_field(const std::string& pattern, const std::string& field);

/// The name that the files of a pattern have in common, without ending: "a/surface-{cycle:06}.vtp" gives
/// "a/surface". Directories that name the iteration are left as well: "run/{cycle}/surface.vtp" gives
/// "run/surface".
[[nodiscard]] std::string series_stem(const std::string& pattern);

/// Throws as expand_pattern would, and for a name without fields that has one of printf, such as `%05d`.
void check_pattern(const std::string& pattern);

// What results know of tables that an earlier run has left and this one goes on with.

/// Beside Results, where it is at hand.
class EarlierTables {
 public:
  virtual ~EarlierTables() = default;
  /// The rows of a table that grows, with their columns of the iteration, of iterations before the first one of this
  /// run; none if nothing is gone on with. On the server that writes the table. Throws Error(file).
  [[nodiscard]] virtual std::vector<std::vector<std::string>> earlier_rows(const std::string& file) const = 0;
};

}  // namespace sidestream
