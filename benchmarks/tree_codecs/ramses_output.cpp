// The records of RAMSES' files amr_*.out* and hydro_*.out*: Fortran's, with their length before and behind.
#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>

#include "morton.hpp"
#include "tree_data.hpp"

namespace benchmark {

namespace {

constexpr std::size_t variables = 5;

class Records {
 public:
  explicit Records(const std::string& file) : in_(file, std::ios::binary) {
    if (!in_) throw std::runtime_error("cannot open " + file);
  }
  template <class T>
  std::vector<T> take() {
    std::int32_t size = 0;
    in_.read(reinterpret_cast<char*>(&size), sizeof size);
    std::vector<T> record(static_cast<std::size_t>(std::max(size, 0)) / sizeof(T));
    in_.read(reinterpret_cast<char*>(record.data()), size);
    in_.ignore(sizeof size);
    if (!in_) throw std::runtime_error("a file of RAMSES ends early");
    return record;
  }
  template <class T>
  T one() {
    return take<T>().at(0);
  }
  void skip(int records) {
    for (int n = 0; n < records; ++n) (void)take<char>();
  }

 private:
  std::ifstream in_;
};

struct Oct {
  std::array<std::array<double, variables>, 8> values;
  std::array<bool, 8> refined;
};

struct Sizes {
  int domains, levels, boundaries;
};

Sizes skip_heads(Records& tree, Records& gas) {
  Sizes sizes{};
  sizes.domains = tree.one<std::int32_t>();
  tree.skip(2);
  sizes.levels = tree.one<std::int32_t>();
  tree.skip(1);
  sizes.boundaries = tree.one<std::int32_t>();
  // The rest of the head, lists of grids, free memory, ordering, and the coarse cells.
  tree.skip(2 + 10 + 1 + 4 + 1 + 2 + 3);
  gas.skip(6);
  return sizes;
}

void read_octs(Records& tree, Records& gas, int level, std::map<Key, Oct>& octs) {
  gas.skip(1);
  const int count = gas.one<std::int32_t>();
  if (count == 0) return;
  std::vector<Oct> read(static_cast<std::size_t>(count));
  for (std::size_t son = 0; son < 8; ++son) {
    for (std::size_t v = 0; v < variables; ++v) {
      const std::vector<double> values = gas.take<double>();
      for (std::size_t n = 0; n < read.size(); ++n) read[n].values[son][v] = values.at(n);
    }
  }
  tree.skip(3);
  std::array<std::vector<double>, 3> middle;
  for (auto& axis : middle) axis = tree.take<double>();
  tree.skip(1 + 6);
  for (std::size_t son = 0; son < 8; ++son) {
    const std::vector<std::int32_t> below = tree.take<std::int32_t>();
    for (std::size_t n = 0; n < read.size(); ++n) read[n].refined[son] = below.at(n) > 0;
  }
  tree.skip(2 * 8);
  for (std::size_t n = 0; n < read.size(); ++n) {
    std::array<std::int64_t, 3> at;
    for (std::size_t a = 0; a < 3; ++a)
      at[a] = static_cast<std::int64_t>(middle[a].at(n) * static_cast<double>(1 << level));
    octs[key_of(at)] = read[n];
  }
}

TreeData read_domain(const std::string& tree_file, const std::string& gas_file) {
  Records tree(tree_file), gas(gas_file);
  const Sizes sizes = skip_heads(tree, gas);
  TreeData data;
  data.name = "ramses " + tree_file.substr(tree_file.size() - 5);
  declare_gas(data, 1.4);
  data.refined.emplace_back();
  // The file has no values of the one coarse cell; that its sons' mean is nobody's.
  data.refined.back().push_back(1);
  for (TreeVariable& variable : data.variables) variable.levels.push_back({0});
  for (int level = 0; level < sizes.levels; ++level) {
    std::map<Key, Oct> octs;
    for (int n = 0; n < sizes.domains + sizes.boundaries; ++n) read_octs(tree, gas, level, octs);
    if (octs.empty()) break;
    std::vector<std::uint8_t>& refined = data.refined.emplace_back();
    for (TreeVariable& variable : data.variables) variable.levels.emplace_back();
    for (const auto& [key, oct] : octs) {
      for (std::size_t son = 0; son < 8; ++son) {
        refined.push_back(oct.refined[son]);
        for (std::size_t v = 0; v < variables; ++v) data.variables[v].levels.back().push_back(oct.values[son][v]);
      }
    }
  }
  std::fill(data.refined.back().begin(), data.refined.back().end(), std::uint8_t{0});
  return data;
}

}  // namespace

std::vector<TreeData> read_ramses(const std::string& directory) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("amr_") && name.find(".out") != std::string::npos) files.push_back(name);
  }
  if (files.empty()) throw std::runtime_error("no amr_*.out* in " + directory);
  std::sort(files.begin(), files.end());
  std::vector<TreeData> domains;
  for (const std::string& file : files) {
    domains.push_back(read_domain(directory + "/" + file, directory + "/hydro_" + file.substr(4)));
  }
  return domains;
}

}  // namespace benchmark
