// Steps in which every method writes once, in turn, and what they took.
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
  double behind = 0;                             ///< the longest on a rank between the two; 0: it waits for the files
  int files = 0;                                 ///< that the step added
};

struct Contender {
  std::string name;
  std::string folder;
  std::unique_ptr<Method> method;
};

struct Course {
  int steps = 1;
  std::vector<Sync> modes{};
  bool keep = false;  ///< all files; otherwise those that do not grow are removed after each step
};

/// Collective. The order changes from step to step, so that none always comes after the same one; what a step has
/// written is on the disk or removed before the next method starts. Samples are the first rank's.
[[nodiscard]] std::vector<Sample> compare(Fields& fields, std::vector<Contender>& contenders, const Course& course);

/// Prints a line for each method, with the ratio to `raw`, and writes `csv`, a line for each sample, if it has a name.
void report(const std::vector<Sample>& samples, const std::string& csv, const std::string& what);

}  // namespace io
