// Rules for writing files: the number of servers that write at a time, and stripes on parallel file systems.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sidestream {

/// The stripes of the files whose names match a pattern.
struct StripeRule {
  std::string files = "*";  ///< pattern of names below the output directory, or of absolute ones; `*` also matches '/'
  int count = 0;            ///< number of storage targets; -1: all; 0: the file system's default
  std::uint64_t size = 0;   ///< bytes that go to one target before the next one; 0: the file system's default
};

struct FileRules {
  int writers = 0;                   ///< servers that write at a time; 0: all
  std::vector<StripeRule> striping;  ///< the first one that matches counts
};

}  // namespace sidestream
