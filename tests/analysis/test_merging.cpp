// The shorter ways to write an analysis: values that count, and records that one function merges, on 1 to 8 servers.
#include <doctest/doctest.h>
#include <mpi.h>

#include <cmath>
#include <limits>

#include "base/mpi/communicator.hpp"
#include "sidestream/extend/exact_sum.hpp"
#include "sidestream/extend/merging.hpp"
#include "support/message_of.hpp"
#include "support/no_results.hpp"
#include "support/ranks.hpp"

using namespace sidestream;

namespace {

struct Peak {
  double maximum = -std::numeric_limits<double>::infinity();
  Index3 cell{};
  ExactSum sum;
};

void merge(Peak& total, const Peak& one) {
  if (one.maximum > total.maximum || (one.maximum == total.maximum && one.cell < total.cell)) {
    total.maximum = one.maximum;
    total.cell = one.cell;
  }
  total.sum.add(one.sum);
}

/// A line of cells with two ghosts at each end, whose value is its index.
struct Line {
  std::vector<double> values;
  std::vector<std::uint8_t> flags;
  BlockView view;

  Line(Index from, Index to) {
    view.block.cells = {{from, 0, 0}, {to, 1, 1}};
    view.points = view.block.cells;
    view.owned = {view.points};
    view.array.box = {{from - 2, 0, 0}, {to + 2, 1, 1}};
    view.array.type = Type::float64;
    view.array.strides = packed_strides(view.array.box, 1, Order::column);
    for (Index i = from - 2; i < to + 2; ++i) values.push_back(static_cast<double>(i));
    view.array.data = values.data();
  }
  void flag(Index cell) {
    view.ghosts = view.array;
    view.ghosts.type = Type::uint8;
    flags.assign(values.size(), 0);
    flags[static_cast<std::size_t>(cell - view.array.box.lo[0])] = 1;
    view.ghosts.data = flags.data();
  }
  [[nodiscard]] std::vector<Index> counted() const {
    std::vector<Index> cells;
    for_each_counted(view, 0, [&](const Index3& cell, double value) {
      CHECK(value == static_cast<double>(cell[0]));
      cells.push_back(cell[0]);
    });
    return cells;
  }
};

}  // namespace

TEST_CASE("points that count are owned, not covered, and not flagged") {
  Line line(10, 16);
  CHECK(line.counted() == std::vector<Index>{10, 11, 12, 13, 14, 15});
  line.view.covered = {{{11, 0, 0}, {13, 1, 1}}};
  CHECK(line.counted() == std::vector<Index>{10, 13, 14, 15});
  line.flag(14);
  CHECK(line.counted() == std::vector<Index>{10, 13, 15});
  line.view.covered = line.view.owned;
  CHECK(line.counted().empty());
}

TEST_CASE("records are merged over any number of partials and servers, with the same result on all") {
  MpiCommunicator servers(testing::test_ranks());
  constexpr std::size_t layers = 3;
  constexpr int numbers = 24;  // dealt out to partials and servers
  const auto value = [](int n) { return 1e16 * std::cos(n % 5) + n % 7 + 1e-9; };
  std::vector<Peak> expected(layers);
  std::vector<Bytes> partials(static_cast<std::size_t>((servers.rank() + 1) % 3));  // the third server has none
  for (std::size_t p = 0; p < partials.size(); ++p) partials[p] = partial_of(std::vector<Peak>(layers));
  int taken = 0;
  for (int n = 0; n < numbers; ++n) {
    for (std::size_t layer = 0; layer < layers; ++layer) {
      Peak one{value(n) * static_cast<double>(layer + 1), {n, 0, 0}, {}};
      one.sum.add(one.maximum);
      merge(expected[layer], one);
    }
    std::int64_t places = static_cast<std::int64_t>(partials.size());
    const std::int64_t before = servers.exclusive_sum(places);
    servers.sum(std::span(&places, 1));
    const std::int64_t mine = n % places - before;
    if (mine < 0 || mine >= static_cast<std::int64_t>(partials.size())) continue;
    auto records = records_in<Peak>(partials[static_cast<std::size_t>(mine)], layers);
    for (std::size_t layer = 0; layer < layers; ++layer) {
      Peak one{value(n) * static_cast<double>(layer + 1), {n, 0, 0}, {}};
      one.sum.add(one.maximum);
      merge(records[layer], one);
    }
    partials[static_cast<std::size_t>(mine)] = partial_of(records);
    ++taken;
  }
  testing::NoResults results;
  const Iteration iteration;
  const Metadata metadata;
  const CombineInput input{iteration, metadata, partials, 0, servers, results};
  const std::vector<Peak> found = merged(input, std::vector<Peak>(layers), merge);
  CHECK((taken > 0 || partials.empty()));
  for (std::size_t layer = 0; layer < layers; ++layer) {
    CHECK(found[layer].maximum == expected[layer].maximum);
    CHECK(found[layer].cell == expected[layer].cell);
    CHECK(found[layer].sum.value() == expected[layer].sum.value());
  }
}

TEST_CASE("a partial of another length is an error") {
  const Bytes partial = partial_of(std::vector<double>{1, 2});
  CHECK(records_in<double>(partial, 2) == std::vector<double>{1, 2});
  CHECK(testing::message_of([&] { static_cast<void>(records_in<double>(partial, 3)); }) ==
        "a partial has 16 bytes, expected 3 records of 8");
}

TEST_CASE("without partials the result is neutral") {
  MpiCommunicator servers(testing::test_ranks());
  testing::NoResults results;
  const Iteration iteration;
  const Metadata metadata;
  const CombineInput input{iteration, metadata, {}, 0, servers, results};
  CHECK(merged(input, std::vector<double>{0, 0}, [](double& total, double one) { total += one; }) ==
        std::vector<double>{0, 0});
}
