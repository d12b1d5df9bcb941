// A folder that only one test uses.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>

namespace sidestream::testing {

/// A new temporary folder, which is removed with its contents at the end.
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
