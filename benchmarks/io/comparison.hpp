// Steps in which every method writes once, in alternation, with their times.
#pragma once

#include <string>
#include <vector>

#include "method.hpp"

namespace io {

/// One step of one method, over all ranks; seconds.
struct Sample {
  std::string method;
  Sync sync = Sync::no;
  int step = 0;
  std::uint64_t bytes = 0;
  double mean = 0, slowest = 0;                  ///< until the values were in the files
  double visible_mean = 0, visible_slowest = 0;  ///< until the simulation could go on
  double behind = 0;                             ///< the longest time between the two on a rank; 0: it waits for the
                                                 ///< files
  int files = 0;                                 ///< files added by the step
};

struct Contender {
  std::string name;
  std::string folder;
  std::unique_ptr<Method> method;
};

struct Course {
  int steps = 1;
  std::vector<Sync> modes{};
  bool keep = false;  ///< keeps all files; otherwise those that do not grow are removed after each step
};

/// Collective. The order changes from step to step, so that no method always follows the same one. The files of a step
/// are on the disk or removed before the next method starts. Samples are the first rank's.
[[nodiscard]] std::vector<Sample> compare(Fields& fields, std::vector<Contender>& contenders, const Course& course);

/// Prints a line for each method, with the ratio to `raw`. Writes a line for each sample to the file `csv` unless its
/// name is empty.
void report(const std::vector<Sample>& samples, const std::string& csv, const std::string& what);

}  // namespace io
