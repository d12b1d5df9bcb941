#include "storage/results/table_data.hpp"

#include <cstring>
#include <span>

#include "base/fail.hpp"
#include "base/mpi/agree.hpp"

namespace sidestream {
namespace {

template <class T>
std::vector<std::byte> bytes_of_values(const std::vector<T>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}

}  // namespace

DataSet data_set_of(const std::string& file, const Table& mine, Index first, Index all) {
  DataSet data;
  for (const Column& column : mine.columns()) {
    DataSet::Array array{column.name, Type::float64, {"row"}, {all}, {first}, {static_cast<Index>(mine.rows())}};
    if (const auto* reals = std::get_if<std::vector<double>>(&column.values)) {
      array.values = bytes_of_values(*reals);
    } else if (const auto* numbers = std::get_if<std::vector<std::int64_t>>(&column.values)) {
      array.type = Type::int64;
      array.values = bytes_of_values(*numbers);
    } else {
      fail(Code::configuration,
           "the table for '{}' has texts in its column '{}', and '.h5' takes numbers alone; write "
           "it to a file that ends in .csv",
           file, column.name);
    }
    data.arrays.push_back(std::move(array));
  }
  return data;
}

void add_as_data(Results& results, const std::string& file, const Table& mine, Communicator& servers, Pieces how) {
  const auto rows = static_cast<Index>(mine.rows());
  std::int64_t all = rows;
  servers.sum({&all, 1});
  const Index first = servers.exclusive_sum(rows);
  DataSet data;
  run_collectively(servers, [&] { data = data_set_of(file, mine, first, all); });
  results.add_parts(file, data, servers, how);
}

}  // namespace sidestream
