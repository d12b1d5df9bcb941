#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "importers/ramses/domain_tree.hpp"
#include "tree_data.hpp"

namespace benchmark {

namespace {

using namespace sidestream;

/// One component of the values of all cells of a tree.
std::vector<double> component_of(const std::vector<std::byte>& values, std::size_t components, std::size_t component) {
  std::vector<double> all(values.size() / (components * sizeof(double)));
  for (std::size_t n = 0; n < all.size(); ++n) {
    std::memcpy(&all[n], values.data() + (n * components + component) * sizeof(double), sizeof(double));
  }
  return all;
}

TreeData read_domain(const ramses::Output& output, const ramses::CellColumns& columns, int domain, const Box& coarse) {
  const ramses::DomainTree tree = ramses::read_tree(output, domain, coarse);
  const auto values = ramses::read_cell_values(output, columns, domain, tree);
  TreeData data;
  data.name = "ramses " + std::to_string(domain);
  data.dimensions = output.info().dimensions;
  for (std::size_t a = 0; a < 3; ++a) data.roots[a] = coarse.extent(static_cast<int>(a));
  declare_gas(data, columns.gamma > 0 ? columns.gamma : 1.4);
  std::vector<std::vector<double>> gas;
  for (const char* name : {"density", "velocity", "pressure"}) {
    const auto one = std::find_if(columns.variables.begin(), columns.variables.end(),
                                  [&](const ramses::JoinedColumns& joined) { return joined.name == name; });
    if (one == columns.variables.end()) throw std::runtime_error(std::string("an output without ") + name);
    const std::size_t components = one->columns.size();
    for (std::size_t c = 0; c < components; ++c) {
      gas.push_back(component_of(values[static_cast<std::size_t>(one - columns.variables.begin())], components, c));
    }
  }
  if (gas.size() != data.variables.size()) throw std::runtime_error("an output of other than three dimensions");
  for (std::size_t level = 0; level + 1 < tree.first.size(); ++level) {
    const auto cut = [&](const auto& all) {
      return std::vector(all.begin() + tree.first[level], all.begin() + tree.first[level + 1]);
    };
    data.refined.push_back(cut(tree.refined));
    for (std::size_t v = 0; v < gas.size(); ++v) data.variables[v].levels.push_back(cut(gas[v]));
  }
  return data;
}

}  // namespace

std::vector<TreeData> read_ramses(const std::string& directory) {
  const ramses::Output output(directory);
  const ramses::CellColumns columns = ramses::cell_columns(output, ramses::FileKind::hydro);
  if (columns.type != Type::float64) throw std::runtime_error("an output in single precision");
  const Box coarse = ramses::inner_coarse_cells(output);
  std::vector<TreeData> domains;
  for (int domain = 1; domain <= output.info().domains; ++domain) {
    domains.push_back(read_domain(output, columns, domain, coarse));
  }
  return domains;
}

}  // namespace benchmark
