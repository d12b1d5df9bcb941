// Compares the coders of octrees' values with the paper's coder and zstd, in size and speed:
//   benchmark_tree_codecs [--finest N] [--chunk CELLS] [--raw DIRECTORY] [--speed-only] [--blast FILE]... [--ramses
//   DIRECTORY]...
// FILE is what `blast turbulence --dump FILE` wrote. With --raw the values go to files; codecs.py runs this and puts
// them through other codecs.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <map>
#include <stdexcept>

#include "compare.hpp"
#include "speed.hpp"
#include "tree_data.hpp"

using namespace benchmark;

namespace {

void write_raw(const std::string& directory, const TreeData& tree) {
  for (const TreeVariable& variable : tree.variables) {
    std::string name = tree.name + "." + variable.name;
    std::replace(name.begin(), name.end(), ' ', '_');
    std::ofstream out(directory + "/" + name + ".f64", std::ios::binary);
    for (const auto& level : variable.levels) {
      out.write(reinterpret_cast<const char*>(level.data()),
                static_cast<std::streamsize>(level.size() * sizeof(double)));
    }
  }
}

int run(int argc, char** argv) {
  CLI::App app("Measures the coders of octrees' values.");
  int finest = 7;
  std::size_t chunk = 65536;
  std::string raw, name_of_kind = "magnetised";
  bool speed_only = false, kinds = false;
  std::vector<std::string> blasts, outputs;
  app.add_option("--finest", finest, "Level of the finest cells of the magnetised gas")->check(CLI::Range(3, 9));
  app.add_option("--chunk", chunk, "Cells of a chunk")->check(CLI::Range(std::size_t{8}, std::size_t{1} << 30));
  app.add_option("--raw", raw, "Directory to write the values to");
  app.add_flag("--speed-only", speed_only, "Leave out how small");
  app.add_flag("--kinds", kinds, "Sizes of several kinds of magnetised gas, and nothing else");
  app.add_option("--kind", name_of_kind, "Which of these kinds to take for all else");
  app.add_option("--blast", blasts, "What blast --dump wrote");
  app.add_option("--ramses", outputs, "Output of RAMSES");
  CLI11_PARSE(app, argc, argv);
  if (kinds) {
    compare_kinds(magnetised_kinds(finest), chunk);
    return 0;
  }
  std::map<std::string, std::vector<TreeData>> sets;
  for (const MagnetisedKind& kind : magnetised_kinds(finest)) {
    if (kind.name == name_of_kind) sets["magnetised gas, synthetic"].push_back(make_magnetised(kind));
  }
  if (sets.empty()) throw std::runtime_error("no kind of magnetised gas is named " + name_of_kind);
  for (const std::string& file : blasts) sets[file].push_back(read_blast(file, 1.4));
  for (const std::string& directory : outputs) sets[directory] = read_ramses(directory);
  for (const auto& [name, trees] : sets) {
    if (!speed_only) compare_sizes(name, trees, chunk);
    for (const TreeData& tree : trees) {
      if (!raw.empty()) write_raw(raw, tree);
    }
  }
  for (const auto& [name, trees] : sets) compare_speed(name, trees.front(), chunk);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
