// Runs the `sidestream` command as a user calls it, in a folder that only the test uses.
#pragma once

#include <doctest/doctest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace sidestream::testing {

struct Outcome {
  int status = -1;
  std::string out, err;
};

inline std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A folder that is removed with its files. Every run begins with the subcommand `command`, if there is one.
struct ToolFolder {
  explicit ToolFolder(const std::string& name, const std::string& command = "")
      : path(TEST_DIRECTORY "/" + name), command_(command) {
    std::filesystem::create_directories(path);
  }
  ~ToolFolder() { std::filesystem::remove_all(path); }
  ToolFolder(const ToolFolder&) = delete;
  ToolFolder& operator=(const ToolFolder&) = delete;

  /// Writes a file and returns its name.
  std::string file(const std::string& text, const std::string& name = "run.yaml") const {
    std::ofstream(path + "/" + name, std::ios::binary) << text;
    return name;
  }
  Outcome run(const std::string& arguments) const { return shell("", arguments, "</dev/null"); }
  /// The same, with a part of a shell's line before the command (`cat run.yaml |`) and one behind it (`3<&0`).
  Outcome shell(const std::string& before, const std::string& arguments, const std::string& behind = "") const {
    const std::string line = "cd '" + path + "' && { " + before + " '" SIDESTREAM_TOOL "' " + command_ + " " +
                             arguments + " >out 2>err " + behind + "; }";
    const int status = std::system(line.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, contents(path + "/out"), contents(path + "/err")};
  }

  std::string path;

 private:
  std::string command_;
};

inline bool contains(const std::string& text, const std::string& part) {
  CAPTURE(text);
  CAPTURE(part);
  return text.find(part) != std::string::npos;
}

}  // namespace sidestream::testing
