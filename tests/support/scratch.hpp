// A folder of a test's own.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>

namespace sidestream::testing {

/// Made among temporary files, removed with all that is in it at the end.
class Scratch {
 public:
  Scratch() {
    std::string pattern = std::filesystem::temp_directory_path() / "sidestream-test-XXXXXX";
    path = ::mkdtemp(pattern.data());
  }
  ~Scratch() { std::filesystem::remove_all(path); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  std::string path;
};

}  // namespace sidestream::testing
