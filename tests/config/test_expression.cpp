// Tests of expressions, byte sizes, schedules and suggestions.
#include "config/expressions/expression.hpp"
#include "config/options/option_text.hpp"
#include "config/support.hpp"
#include "config/tasks/schedule_text.hpp"
#include "sidestream/kit/base/names.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

Number value_of(const std::string& text) {
  const Parameters parameters = some_parameters();
  return evaluate(text, {parameters}, "'size'", {"run.yaml", 3, 10});
}

std::string error_in(const std::string& text, Stage stage = Stage::start) {
  const Parameters parameters = some_parameters();
  try {
    static_cast<void>(evaluate(text, {parameters, stage}, "'size'", {"run.yaml", 3, 10}));
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

std::string bytes_error(const std::string& text) {
  try {
    static_cast<void>(parse_byte_size(text, "'buffer'", {"run.yaml", 1, 2}));
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

Schedule schedule_of(const std::string& text) {
  const Parameters parameters = some_parameters();
  return parse_every(text, {parameters}, "'every'", {"run.yaml", 1, 2});
}

std::string schedule_error(const std::string& text) {
  try {
    static_cast<void>(schedule_of(text));
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

bool contains(const std::string& text, const std::string& part) {
  CAPTURE(text);
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("expressions of whole numbers stay whole") {
  const std::vector<std::pair<std::string, std::int64_t>> cases{{"5", 5},
                                                                {"$n", 8},
                                                                {"$n - 1", 7},
                                                                {"2 + 3 * 4", 14},
                                                                {"(2 + 3) * 4", 20},
                                                                {"-$n", -8},
                                                                {"- - 3", 3},
                                                                {"+4", 4},
                                                                {"10 - 3 - 2", 5},
                                                                {"64 / 8 / 2", 4},
                                                                {"$n*$n*$n", 512},
                                                                {"7/7", 1},
                                                                {"-6 / -1", 6},
                                                                {" ( $n ) ", 8},
                                                                {"9223372036854775807", INT64_MAX},
                                                                {"-9223372036854775807 - 1", INT64_MIN},
                                                                {"2 * -3", -6}};
  for (const auto& [text, expected] : cases) {
    CAPTURE(text);
    const Number number = value_of(text);
    REQUIRE(std::holds_alternative<std::int64_t>(number));
    CHECK(std::get<std::int64_t>(number) == expected);
  }
}

TEST_CASE("expressions with a real number are real") {
  const std::vector<std::pair<std::string, double>> cases{
      {"0.5", 0.5},   {"1e-3", 1e-3}, {"1E3", 1000},        {".25", 0.25},         {"5.", 5},
      {"$h * $n", 4}, {"7 / 2", 3.5}, {"1 / 3", 1.0 / 3.0}, {"2 * (1.5 - $h)", 2}, {"-2.5e2", -250}};
  for (const auto& [text, expected] : cases) {
    CAPTURE(text);
    const Number number = value_of(text);
    REQUIRE(std::holds_alternative<double>(number));
    CHECK(std::get<double>(number) == expected);
  }
}

TEST_CASE("errors in expressions name the character") {
  CHECK(
      contains(error_in("5 s"), "run.yaml:3:12: found '5 s' for 'size', where 's' cannot be read; expected a number"));
  CHECK(contains(error_in("2 *"), "run.yaml:3:13: found '2 *' for 'size', which ends too early"));
  CHECK(contains(error_in("(2 + 3"), "run.yaml:3:16: found '(2 + 3'"));
  CHECK(contains(error_in(""), "which ends too early"));
  CHECK(contains(error_in("inf"), "where 'inf' cannot be read"));
  CHECK(contains(error_in("nan"), "where 'nan' cannot be read"));
  CHECK(contains(error_in("0x10"), "where 'x10' cannot be read"));
  CHECK(contains(error_in("3 $n"), "where '$n' cannot be read"));
  CHECK(contains(error_in("$"), "where '$' cannot be read"));
  CHECK(contains(error_in("$2"), "where '$2' cannot be read"));
  CHECK(contains(error_in("2 < 3"), "run.yaml:3:12: found '2 < 3' for 'size', where '< 3' cannot be read"));
  CHECK(contains(error_in("2 ^ 3"), "where '^ 3' cannot be read"));
  CHECK(contains(error_in("max(2, 3)"), "where 'max(2, 3)' cannot be read"));
  CHECK(contains(error_in("1 ? 2 : 3"), "where '? 2 : 3' cannot be read"));
  CHECK(contains(error_in("1 / 0"), "divides by zero"));
  CHECK(contains(error_in("$n / ($h - 0.5)"), "divides by zero"));
  CHECK(contains(error_in("9223372036854775807 + 1"), "does not fit in 64 bits"));
  CHECK(contains(error_in("9223372036854775808"), "does not fit in 64 bits"));
  CHECK(contains(error_in("(-9223372036854775807 - 1) / -1"), "does not fit in 64 bits"));
  CHECK(contains(error_in("1e999"), "does not fit in 64 bits"));
  CHECK(contains(error_in("1e300 * 1e300"), "does not fit in 64 bits"));
  CHECK(contains(error_in(std::string(100000, '(')), "nested parentheses"));
  CHECK(contains(error_in(std::string(100000, '-').append("1")), "nested parentheses"));
}

TEST_CASE("an unknown parameter lists the known ones") {
  CHECK(contains(error_in("2 * $hlf"),
                 "run.yaml:3:14: $hlf has no value for 'size' (set are: $h, $half, $n); did you mean "
                 "'$half'? Otherwise let the program set it"));
  CHECK(!contains(error_in("$m"), "did you mean"));
  CHECK(contains(error_in("$qqqq"), "'sidestream check' give --set qqqq=VALUE"));
  CHECK(contains(error_in("$qqqq", Stage::opening), "needed before the program can set it"));
}

TEST_CASE("byte sizes") {
  const std::vector<std::pair<std::string, std::int64_t>> cases{{"0", 0},
                                                                {"1048576", 1 << 20},
                                                                {"64 MiB", 64 << 20},
                                                                {"64MiB", 64 << 20},
                                                                {"2 GB", 2'000'000'000},
                                                                {"1.5 GiB", 3ll << 29},
                                                                {"4 kB", 4000},
                                                                {"4 KiB", 4096},
                                                                {"1 TiB", 1ll << 40},
                                                                {"1 TB", 1'000'000'000'000},
                                                                {"10 B", 10},
                                                                {"3 MB", 3'000'000}};
  for (const auto& [text, expected] : cases) {
    CAPTURE(text);
    CHECK(parse_byte_size(text, "'buffer'", {}) == expected);
  }
  for (const char* text : {"64 MB/s", "MiB", "-1 MiB", "lots", "", "64 mib", "inf", "nan B", "1 2"}) {
    CHECK(contains(bytes_error(text),
                   "run.yaml:1:2: found '" + std::string(text) + "' for 'buffer', expected an amount"));
  }
  CHECK(contains(bytes_error("1e9 TiB"), "does not fit in 64 bits"));
  CHECK(format_byte_size(512 << 20) == "512 MiB");
  CHECK(format_byte_size(1536) == "1536 B");
  CHECK(format_byte_size(0) == "0 B");
}

TEST_CASE("schedules") {
  using Unit = Schedule::Unit;
  struct Case {
    std::string text;
    Unit unit;
    double every;
  };
  const std::vector<Case> cases{{"5", Unit::iterations, 5},
                                {"10 cycles", Unit::cycles, 10},
                                {"1 cycle", Unit::cycles, 1},
                                {"0.5 time", Unit::time, 0.5},
                                {"30 s", Unit::wall, 30},
                                {"30s", Unit::wall, 30},
                                {"2 iterations", Unit::iterations, 2},
                                {"$n", Unit::iterations, 8},
                                {"$n cycles", Unit::cycles, 8},
                                {"$h time", Unit::time, 0.5},
                                {"(2 * $n) cycles", Unit::cycles, 16},
                                {"1e-3 time", Unit::time, 1e-3}};
  for (const Case& good : cases) {
    CAPTURE(good.text);
    const Schedule schedule = schedule_of(good.text);
    CHECK(schedule.unit == good.unit);
    CHECK(schedule.every == good.every);
    CHECK(!schedule.start);
  }
  CHECK(schedule_of("auto").unit == Unit::automatic);
  CHECK(contains(schedule_error("0"), "expected a whole number of iterations, at least 1"));
  CHECK(contains(schedule_error("-2 cycles"), "expected a whole number of cycles, at least 1"));
  CHECK(contains(schedule_error("2.5"), "expected a whole number of iterations"));
  CHECK(contains(schedule_error("0 s"), "expected an interval above 0"));
  CHECK(contains(schedule_error("5 cylces"), "did you mean 'cycles'?"));
  CHECK(contains(schedule_error("atuo"), "did you mean 'auto'?"));
  CHECK(contains(schedule_error("often"), "expected a schedule such as 5, '10 cycles', '0.5 time', '30 s' or auto"));
  CHECK(contains(schedule_error("cycles"), "expected a schedule such as"));
  CHECK(contains(schedule_error(" cycles"), "expected a schedule such as"));
  CHECK(contains(schedule_error("$missing cycles"), "$missing has no value"));
}

TEST_CASE("schedules in words") {
  Schedule schedule;
  CHECK(describe(schedule) == "every iteration");
  schedule.every = 10;
  schedule.unit = Schedule::Unit::cycles;
  schedule.start = 100;
  schedule.event = "dump";
  CHECK(describe(schedule) == "every 10 cycles, from 100 cycles, on event 'dump'");
  CHECK(describe(schedule_of("30 s")) == "every 30 s");
}

TEST_CASE("suggestions") {
  const std::vector<std::string> known{"histogram", "isosurface", "slice", "render", "at"};
  CHECK(did_you_mean("histgram", known) == "histogram");
  CHECK(did_you_mean("Histogram", known) == "histogram");
  CHECK(did_you_mean("slcie", known) == "slice");
  CHECK(did_you_mean("iso", known) == "isosurface");
  CHECK(did_you_mean("renderer", known) == "render");
  CHECK(did_you_mean("probe", known).empty());
  CHECK(did_you_mean("xy", known).empty());
  CHECK(did_you_mean("", known).empty());
  CHECK(did_you_mean("a", {}).empty());
  CHECK(listed({}) == "none");
}
