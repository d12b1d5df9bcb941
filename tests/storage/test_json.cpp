// JSON: what is read, what is refused, and the bytes that are written.
#include <doctest/doctest.h>
#include <fenv.h>
#include <stdlib.h>

#include <array>
#include <clocale>
#include <cmath>
#include <filesystem>
#include <limits>
#include <new>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "storage/files/json.hpp"
#include "support/faults.hpp"
#include "support/message_of.hpp"
#include "support/scratch.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

/// The sentence with which a text is refused.
std::string refusal(const std::string& text) {
  return message_of([&] { static_cast<void>(parse_json(text)); });
}

std::string nested(int depth) {
  return std::string(static_cast<std::size_t>(depth), '[') + "1" + std::string(static_cast<std::size_t>(depth), ']');
}

/// Rounds upwards while it lives.
struct Upwards {
  Upwards() {
    fegetenv(&before);
    fesetround(FE_UPWARD);
  }
  ~Upwards() { fesetenv(&before); }
  fenv_t before{};
};

}  // namespace

TEST_CASE("damaged and made up texts are refused in a sentence that names the place") {
  for (const std::string text : {"",
                                 "{",
                                 "[1,",
                                 "[1 2]",
                                 "{\"a\"}",
                                 "{\"a\": }",
                                 "{a: 1}",
                                 "[1,]",
                                 "1 2",
                                 "[] x",
                                 "nul",
                                 "nan",
                                 "-inf",
                                 "+1",
                                 "007",
                                 ".5",
                                 "1.",
                                 "0x10",
                                 "\"a",
                                 "\"\\x\"",
                                 "\"\\u12\"",
                                 "\"\\ud800\"",
                                 "\"\\udc00\\ud800\"",
                                 "\"\n\"",
                                 "\"\xff\"",
                                 "1e999",
                                 "-1e999"}) {
    CAPTURE(text);
    const std::string sentence = refusal(text);
    CHECK(sentence.starts_with("no JSON: "));
    CHECK(nlohmann::json(sentence).dump().size() > sentence.size());  // is UTF-8
  }
  CHECK(refusal("{\"a\": 1,\n 2}").find("line 2, column 2") != std::string::npos);
  CHECK(refusal("\"" + std::string(1 << 20, 'x')).size() < 400);
}

TEST_CASE("no text nests lists and objects without end") {
  CHECK_NOTHROW(static_cast<void>(parse_json(nested(16))));
  CHECK(refusal(nested(17)) == "no JSON: lists and objects are nested more than 16 deep");
  CHECK(refusal(std::string(1 << 22, '[')) == "no JSON: lists and objects are nested more than 16 deep");
}

TEST_CASE("brackets in texts do not count, and nothing follows a zero byte") {
  const std::string text = "[\"" + std::string(40, '[') + "\\\"{\", 1]";
  CHECK(parse_json(text)->size() == 2);
  CHECK(refusal(std::string("[1]\0x", 5)) == "no JSON: byte 3 is zero");
}

TEST_CASE("a list of very many objects takes no more than its length") {
  std::string text = "[{}";
  for (int n = 1; n < 400'000; ++n) text += ",{}";
  CHECK(parse_json(text + "]")->size() == 400'000);  // with the square of that, it would run into the time limit
}

TEST_CASE("numbers and texts come as they are") {
  const JsonDocument document = parse_json(
      R"( {"a": [9223372036854775807, -9223372036854775808, 18446744073709551615], "b": "\u00e9\ud83d\ude00\n\"",
          "c": [0.1, 1e-320, 5e-324, 1.7976931348623157e308], "a b": null} )");
  const nlohmann::json& all = *document;
  CHECK(all["a"][0].get<std::int64_t>() == std::numeric_limits<std::int64_t>::max());
  CHECK(all["a"][1].get<std::int64_t>() == std::numeric_limits<std::int64_t>::min());
  CHECK(all["a"][2].get<std::uint64_t>() == std::numeric_limits<std::uint64_t>::max());
  CHECK(all["b"].get<std::string>() == "\xc3\xa9\xf0\x9f\x98\x80\n\"");
  CHECK(all["c"] == nlohmann::json{0.1, 1e-320, 5e-324, 1.7976931348623157e308});
  CHECK(all["a b"].is_null());
}

TEST_CASE("numbers do not depend on the program's rounding mode") {
  const Upwards upwards;
  CHECK(*parse_json("[0.3, 123456789.123456789e-7]") == nlohmann::json{0.3, 12.3456789123456789});
  CHECK(fegetround() == FE_UPWARD);
}

TEST_CASE("numbers do not depend on the program's locale, whose decimal sign may have two bytes") {
  const Scratch scratch;
  const std::string made = scratch.path + "/ps_AF.UTF-8";
  const std::string command = "localedef --no-archive -i ps_AF -f UTF-8 '" + made + "' > /dev/null 2>&1";
  static_cast<void>(std::system(command.c_str()));
  ::setenv("LOCPATH", scratch.path.c_str(), 1);
  const bool is_set = std::setlocale(LC_ALL, "ps_AF.UTF-8") != nullptr;
  if (is_set) CHECK(std::string(std::localeconv()->decimal_point).size() == 2);
  if (!is_set) MESSAGE("no such locale can be made: NOT TESTED");
  CHECK(*parse_json("[0.25, -1.5e3]") == nlohmann::json{0.25, -1500.0});
  CHECK(JsonObject().add("a", 0.25).text() == "{\"a\": 0.25}");
  if (is_set) CHECK(std::string(std::localeconv()->decimal_point).size() == 2);
  std::setlocale(LC_ALL, "C");
  ::unsetenv("LOCPATH");
}

TEST_CASE("an object is written on one line, with numbers in their shortest form") {
  JsonObject all;
  all.add("z", std::array{1.0, 0.1, -0.0, 1e16, 1e-7, 1.0 / 3, 5e-324, 1.7976931348623157e308});
  all.add("least", std::numeric_limits<std::int64_t>::min()).add("most", std::numeric_limits<std::uint64_t>::max());
  all.add("truths", std::vector<bool>{true, false}).add("n", std::vector{std::nan(""), HUGE_VAL});
  all.add("none", JsonObject())
      .add("empty", std::vector<std::string>())
      .add("objects", std::array{JsonObject().add("a", "b")});
  all.add("\"quoted\"\\\n\t\x01\x7f", "\xc3\xa9\xff");
  const std::string written = all.text();
  CHECK(written ==
        "{\"z\": [1, 0.1, -0, 1e+16, 1e-07, 0.3333333333333333, 5e-324, 1.7976931348623157e+308], "
        "\"least\": -9223372036854775808, \"most\": 18446744073709551615, \"truths\": [true, false], "
        "\"n\": [null, null], \"none\": {}, \"empty\": [], \"objects\": [{\"a\": \"b\"}], "
        "\"\\\"quoted\\\"\\\\\\u000a\\u0009\\u0001\\u007f\": \"\xc3\xa9\\\\xff\"}");
  CHECK(parse_json(written)->at("objects")[0]["a"] == "b");
}

/// Lets each allocation of `work` fail in turn. Ends the program if a destructor needs one.
template <class Work>
void check_without_memory(const Work& work) {
  for (long n = 1, failed = 1; failed != 0; ++n) {
    const FailingAllocation fault(n);
    try {
      work();
    } catch (const std::bad_alloc&) {
    }
    failed = sidestream_test_allocation_failed();
  }
}

TEST_CASE("memory that runs out while JSON is written, read or forgotten is an exception and not the end") {
  check_without_memory([] {
    JsonObject inner;
    inner.add("names", std::vector<std::string>{"a text that is longer than a short one", "b"});
    static_cast<void>(JsonObject().add("a", std::array{inner, inner}).add("time", 0.1).text());
  });
  check_without_memory([] { static_cast<void>(parse_json(R"({"a": [{"b": [1, [2, {"c": "d"}]]}, {}], "e": [[]]})")); });
}
