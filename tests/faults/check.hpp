// Checks what a session leaves behind in which memory ran out.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "faults/run.hpp"

namespace sidestream::testing {

/// The contents of a folder of results by file. For tables these are the rows by iteration, for others the bytes, or
/// only that they exist.
struct Results {
  std::map<std::string, std::multimap<int, std::string>> rows;
  std::map<std::string, std::string> files;
  std::map<int, std::string> outcomes;  ///< from the table of iterations; empty if there is none
};

[[nodiscard]] Results read_results(const Case& one, const std::string& folder);

/// Sentences about all that is wrong with a session. `reference` has the results of a session without a fault.
[[nodiscard]] std::vector<std::string> mistakes(const Case& one, const Fault& fault, const std::vector<Ending>& endings,
                                                const Results& results, const Results& reference);

}  // namespace sidestream::testing
