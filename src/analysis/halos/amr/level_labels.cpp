#include "analysis/halos/amr/level_labels.hpp"

#include "reduce/sorted_records.hpp"

namespace sidestream::halos {
namespace {

template <class Value>
DataSet::Array list(const std::string& name, Type type, const std::vector<Value>& values, Index first, Index all) {
  return {name, type, {"cell"}, {all}, {first}, {static_cast<Index>(values.size())}, {}, {}, bytes_of(values)};
}

}  // namespace

void write_level_labels(const LabelQuery& query, const AmrGrid& levels, const std::vector<KeptLevelCell>& cells,
                        const CombineInput& input) {
  Communicator& servers = input.communicator;
  const std::vector<KeptLevelCell> sorted = sorted_records(
      cells,
      [](const KeptLevelCell& one) {
        return std::array<Index, 4>{one.cell.level, one.cell.index[2], one.cell.index[1], one.cell.index[0]};
      },
      servers);
  std::vector<std::int32_t> on, halos;
  std::array<std::vector<std::int64_t>, 3> indices;
  for (const KeptLevelCell& one : sorted) {
    const TreeCell cell = levels.in_mesh(one.cell);
    on.push_back(cell.level);
    halos.push_back(static_cast<std::int32_t>(one.halo));
    for (std::size_t a = 0; a < 3; ++a) indices[a].push_back(cell.index[a]);
  }
  std::int64_t all = static_cast<std::int64_t>(sorted.size());
  const Index first = servers.exclusive_sum(all);
  servers.sum({&all, 1});
  DataSet data;
  data.arrays.push_back(list("halo", Type::int32, halos, first, all));
  data.arrays.push_back(list("level", Type::int32, on, first, all));
  for (std::size_t a = 0; a < static_cast<std::size_t>(levels.dimensions()); ++a) {
    data.arrays.push_back(list(std::string(1, "ijk"[a]), Type::int64, indices[a], first, all));
  }
  input.results.add_parts(query.file, data, servers, query.pieces);
}

}  // namespace sidestream::halos
