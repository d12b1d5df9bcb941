// A writer on all ranks of a test, and the files that it leaves.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sidestream/kit/storage/files/output_file.hpp"
#include "storage/support/sample.hpp"
#include "support/ranks.hpp"

namespace sidestream::testing {

/// Servers that write a sample into one directory.
struct WritingServers {
  std::unique_ptr<Task> writer(const WriterKind& kind, const std::string& yaml,
                               Continuation what = Continuation::nothing) {
    const auto output = open_output_directory(directory.path(), "test", what, true, rules);
    return kind.create(writer_settings(kind, yaml, sample.metadata), sample.metadata, output);
  }
  std::vector<std::string> files() {
    world.barrier();
    const auto names = files_under(directory.path());
    world.barrier();
    return names;
  }
  /// All files under the directory by name, on every server.
  std::map<std::string, std::string> contents() {
    std::map<std::string, std::string> all;
    for (const std::string& name : files()) all[name] = read_file(directory / name);
    world.barrier();
    return all;
  }
  MpiCommunicator world{test_ranks()};
  SharedDirectory directory{world};
  Sample sample;
  FileRules rules;
};

}  // namespace sidestream::testing
