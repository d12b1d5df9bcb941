// `sidestream check` of configurations that can be read once: pipes, as <(...) of a shell.
#include <doctest/doctest.h>

#include <filesystem>
#include <string>

#include "config/tool_folder.hpp"

using sidestream::testing::contains;
using sidestream::testing::Outcome;
using sidestream::testing::ToolFolder;

namespace {

/// The folder of this file's tests.
struct Folder : ToolFolder {
  Folder() : ToolFolder("tool_pipes") {}
};

const std::string good =
    "meshes: {grid: {size: [$nx, $nx], spacing: 1}}\n"
    "variables: {temperature: {mesh: grid, unit: K}}\n"
    "output: {directory: results}\noutputs: [hdf5: {}]\n";

}  // namespace

TEST_CASE("a configuration may come through a pipe, which can be read once") {
  const Folder folder;
  folder.file(good);
  const std::string values = " --set nx=64";
  const std::string summary = folder.run("check run.yaml" + values).out;
  CHECK(contains(summary, "run.yaml: correct"));
  struct Way {
    const char *before, *name, *behind;
  };
  for (const Way& way : {Way{"cat run.yaml |", "/dev/stdin", ""}, Way{"", "/dev/stdin", "<run.yaml"},
                         Way{"cat run.yaml |", "/dev/fd/3", "3<&0"},  // as <(cat run.yaml) of bash
                         Way{"mkfifo pipe; cat run.yaml >pipe &", "pipe", "</dev/null"}}) {
    CAPTURE(way.before);
    CAPTURE(way.name);
    const Outcome outcome = folder.shell(way.before, "check " + std::string(way.name) + values, way.behind);
    CHECK(outcome.status == 0);
    CHECK(outcome.err == "");
    CHECK(outcome.out == way.name + summary.substr(std::string("run.yaml").size()));
  }
  folder.file("placement: {mode: cars}\n");
  const Outcome wrong = folder.shell("cat run.yaml |", "check /dev/stdin");
  CHECK(wrong.status == 1);
  CHECK(contains(wrong.err, "/dev/stdin:1:"));
}

TEST_CASE("a configuration from a pipe is compared with an earlier run, too") {
  const Folder folder;
  folder.file("output: {directory: results}\n");
  std::filesystem::create_directories(folder.path + "/results");
  folder.file("", "results/run.yaml");
  const Outcome outcome = folder.shell("cat run.yaml |", "check /dev/stdin");
  CHECK(outcome.status == 0);
  CHECK(contains(outcome.err, "results"));
}
