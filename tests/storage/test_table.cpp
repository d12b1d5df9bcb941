// Tables with columns of one type each, made at once or row by row.
#include <doctest/doctest.h>

#include <functional>

#include "sidestream/data/result.hpp"
#include "sidestream/error.hpp"
#include "support/message_of.hpp"

using namespace sidestream;
using namespace sidestream::testing;

TEST_CASE("a table has the columns that it is made of") {
  const Table table({{"n", std::vector<std::int64_t>{1, 2}}, {"x", std::vector<double>{0.5, 1.5}}});
  CHECK(table.rows() == 2);
  CHECK(table.names() == std::vector<std::string>{"n", "x"});
  CHECK(table.at(1, 0) == Table::Cell(std::int64_t{2}));
  CHECK(table.at(0, 1) == Table::Cell(0.5));
  CHECK(message_of([] {
          Table({{"n", std::vector<std::int64_t>{1, 2}}, {"x", std::vector<double>{0.5}}});
        }) == "the column 'x' of a table has 1 values, but the column 'n' has 2; give all the same length");
}

TEST_CASE("rows give columns their types") {
  Table table{{"n", "x", "t"}, {}};
  CHECK(table.rows() == 0);
  table.add_row({std::int64_t{7}, 0.25, std::string("a")});
  table.add_row({std::int64_t{8}, std::int64_t{3}, std::string("b")});  // a whole number may go into a column of reals
  CHECK(std::get<std::vector<std::int64_t>>(table.columns()[0].values) == std::vector<std::int64_t>{7, 8});
  CHECK(std::get<std::vector<double>>(table.columns()[1].values) == std::vector<double>{0.25, 3});
  CHECK(std::get<std::vector<std::string>>(table.columns()[2].values) == std::vector<std::string>{"a", "b"});
  CHECK(message_of([&] {
          table.add_row({0.5, 0.5, std::string()});
        }) ==
        "the column 'n' of a table has whole numbers, but a row has real numbers there; give all rows the same type");
  CHECK(message_of([&] { table.add_row({std::int64_t{1}}); }) ==
        "a table has 3 columns but a row of 1 cells; fill every column");
}
