// The record of a run can be read back, whatever its configuration and its messages contain.
#include <doctest/doctest.h>
#include <yaml-cpp/yaml.h>

#include <filesystem>
#include <string>

#include "session/serving/record.hpp"
#include "sidestream/kit/storage/files/output_file.hpp"
#include "storage/formats/csv.hpp"
#include "support/scratch.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

YAML::Node written(const RunFacts& facts, const Ledger& ledger) {
  const Scratch scratch;
  const Account account = account_of(ledger);
  write_record(scratch.path, facts, &account, &ledger);
  return YAML::Load(read_file(scratch.path + "/run.yaml"));
}

}  // namespace

TEST_CASE("run.yaml is YAML whatever the configuration's text, its name and the messages are") {
  RunFacts facts;
  facts.placement = "cores";
  const char* texts[] = {"a: 1\n", "    # a comment far to the right\na: 1\nb:\n  - c", "\n\n  # later\na: 'x'\n", "",
                         "a:\t1\n\n"};
  const char* files[] = {"run.yaml", "it's/a run.yaml", "a\"b\\c\nd: e", "# no comment"};
  const char* messages[] = {
      "one line",     "several\nlines: of it\n  - and\nmore", "  begins further in\nthan it goes on",
      "# no comment", "a bell \a and a return\r\n",           "'\"{["};
  for (const char* text : texts) {
    for (const char* file : files) {
      facts.text = text;
      facts.file = file;
      Ledger ledger({}, true);
      std::int64_t iteration = 3;
      for (const char* message : messages) ledger.failure(iteration++, message);
      CAPTURE(text);
      CAPTURE(file);
      const YAML::Node record = written(facts, ledger);
      CHECK(record["placement"].as<std::string>() == "cores");
      CHECK(record["configuration_file"].as<std::string>() == file);
      const auto trimmed = [](std::string some) {
        while (some.ends_with('\n')) some.pop_back();
        return some;
      };
      CHECK(trimmed(record["configuration"].as<std::string>()) == trimmed(text));
      CHECK(record["account"]["iterations"].as<int>() == 0);
      REQUIRE(record["failures"].size() == std::size(messages));
      for (std::size_t n = 0; n < std::size(messages); ++n) {
        CHECK(record["failures"][n]["first_iteration"].as<std::size_t>() == 3 + n);
        const std::string read = trimmed(record["failures"][n]["message"].as<std::string>());
        CHECK(read == (n == 4 ? "a bell  and a return" : messages[n]));
      }
    }
  }
}

TEST_CASE("names of tasks with commas, quotes and line ends are one field of the tables") {
  const std::string name = "a, \"b\"\nc";
  Ledger ledger({name}, true);
  ledger.work(7, 0, 0.5, 0.25);
  const std::string rows = timings_table.header + server_rows(2, ledger);
  const auto timings = parse_csv(rows);
  REQUIRE(timings.size() == 2);
  REQUIRE(timings[1].fields.size() == timings[0].fields.size());
  CHECK(timings[1].fields[8] == name);
  IterationRow row;
  row.outcome = Outcome::failed;
  row.failed = name;
  const std::string lines = iterations_table.header + iteration_rows({row});
  const auto iterations = parse_csv(lines);
  REQUIRE(iterations.size() == 2);
  REQUIRE(iterations[1].fields.size() == iterations[0].fields.size());
  CHECK(iterations[1].fields[4] == name);
}
