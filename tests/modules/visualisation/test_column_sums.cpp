// Sums of columns on levels with odd ratios, dealt out to servers in any way, compared with sums over each cell.
#include <doctest/doctest.h>
#include <mpi.h>

#include <map>
#include <random>

#include "base/mpi/communicator.hpp"
#include "support/message_of.hpp"
#include "support/ranks.hpp"
#include "visualisation/projection/column_sums.hpp"

using namespace sidestream;

namespace {

struct Case {
  GridShape shape;
  std::vector<std::array<Index, 2>> ratios;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  all.push_back({GridShape({7, 5}), {{1, 1}}});
  all.push_back({GridShape({3 * 8, 2 * 8}), {{1, 1}, {2, 2}, {4, 4}, {8, 8}}});
  all.push_back({GridShape({2 * 12, 5 * 6}), {{1, 1}, {3, 2}, {12, 6}}});
  all.push_back({GridShape({4 * 6}), {{1, 1}, {2, 1}, {6, 1}}});
  return all;
}

LevelColumn random_column(const Case& one, std::mt19937& engine) {
  LevelColumn column;
  column.level = static_cast<std::int32_t>(engine() % one.ratios.size());
  const auto& ratio = one.ratios[static_cast<std::size_t>(column.level)];
  const auto along = [&](Index all, std::size_t n) {
    return static_cast<Index>(engine() % static_cast<unsigned>(all / one.ratios.back()[n] * ratio[n]));
  };
  column.row = along(one.shape.rows(), 0);
  column.cell = along(one.shape.row_cells(), 1);
  return column;
}

using Expected = std::map<std::pair<Index, Index>, std::array<ExactSum, 2>>;

void add_to(Expected& expected, const ColumnLevels& levels, const LevelColumn& column,
            const std::array<ExactSum, 2>& sums) {
  const auto [rows, cells] = levels.fill(column.level);
  for (Index row = column.row * rows; row < (column.row + 1) * rows; ++row) {
    for (Index cell = column.cell * cells; cell < (column.cell + 1) * cells; ++cell) {
      for (std::size_t n = 0; n < 2; ++n) expected[{row, cell}][n].add(sums[n]);
    }
  }
}

void check(const Case& one, unsigned seed, std::size_t columns, Communicator& servers) {
  const ColumnLevels levels(one.shape, one.ratios);
  std::mt19937 engine(seed);
  Expected expected;
  std::vector<ColumnSums> sums(3, ColumnSums(levels, 2));
  for (std::size_t n = 0; n < columns; ++n) {
    const LevelColumn column = random_column(one, engine);
    std::array<ExactSum, 2> numbers;
    numbers[0].add(1.0 / (1 + static_cast<double>(engine() % 1000)));
    numbers[1].add(static_cast<double>(engine()) - 1e9);
    add_to(expected, levels, column, numbers);
    if (static_cast<int>(engine() % static_cast<unsigned>(servers.size())) == servers.rank()) {
      sums[engine() % 3].add(column, numbers);
    } else {
      engine();
    }
  }
  std::vector<Bytes> bytes;
  for (ColumnSums& each : sums) {
    each.add_up();
    bytes.push_back(each.take());
  }
  std::size_t found = 0;
  const Index first = one.shape.first_row(servers.rank(), servers.size()),
              end = one.shape.first_row(servers.rank() + 1, servers.size());
  for_each_sum(levels, 2, std::vector<BytesView>(bytes.begin(), bytes.end()), servers,
               [&](const Places& places, const std::array<double, 3>& values) {
                 REQUIRE(places.first_row >= first);
                 REQUIRE(places.end_row <= end);
                 for (Index row = places.first_row; row < places.end_row; ++row) {
                   for (Index cell = places.first_cell; cell < places.end_cell; ++cell) {
                     ++found;
                     const auto at = expected.find({row, cell});
                     REQUIRE(at != expected.end());
                     for (std::size_t n = 0; n < 2; ++n) CHECK(values[n] == at->second[n].value());
                   }
                 }
               });
  std::size_t mine = 0;
  for (const auto& [place, unused] : expected) mine += place.first >= first && place.first < end ? 1 : 0;
  CHECK(found == mine);
}

}  // namespace

TEST_CASE("each place has the sums of all columns that it is in, once") {
  MpiCommunicator world(testing::test_ranks());
  unsigned seed = 0;
  for (const Case& one : cases()) {
    for (const std::size_t columns : {0, 1, 3, 40, 400}) check(one, ++seed, columns, world);
  }
}

TEST_CASE("what is added often stays small") {
  const Case one = cases()[1];
  const ColumnLevels levels(one.shape, one.ratios);
  ColumnSums sums(levels, 1);
  std::array<ExactSum, 1> number;
  number[0].add(0.1);
  for (int n = 0; n < 500'000; ++n) {
    sums.add({2, n % 5, 3}, number);
    sums.add_up();
  }
  CHECK(sums.take().size() < std::size_t{6} << 20);
}

TEST_CASE("keys are in the order of descent") {
  const Case one = cases()[2];
  const ColumnLevels levels(one.shape, one.ratios);
  CHECK(levels.keys(0) == 72);
  CHECK(levels.key({0, 1, 4}) == 9 * 72);
  CHECK(levels.key({1, 1, 0}) == 2 * levels.keys(1));
  CHECK(levels.key({2, 5, 1}) == 2 * levels.keys(1) + 3 * 1 + 1);
}

TEST_CASE("words that are no columns of the projection") {
  const Case one = cases()[0];
  const ColumnLevels levels(one.shape, one.ratios);
  MpiCommunicator self(MPI_COMM_SELF);
  ColumnSums sums(levels, 1);
  sums.add({0, 7, 0}, std::array<ExactSum, 1>{});
  const Bytes beyond = sums.take();
  const auto run = [&](BytesView bytes) {
    for_each_sum(levels, 1, std::vector<BytesView>{bytes}, self, [](const Places&, const std::array<double, 3>&) {});
  };
  CHECK(testing::message_of([&] { run(beyond); }).find("is none of the projection") != std::string::npos);
  CHECK(testing::message_of([&] { run(BytesView(beyond).first(8)); }).find("end in the number") != std::string::npos);
}
