// JSON: what is read, what is refused, and the bytes that are written.
#include <doctest/doctest.h>
#include <fenv.h>
#include <stdlib.h>

#include <clocale>
#include <cmath>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "storage/files/json.hpp"
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
  CHECK(parse_json(text).size() == 2);
  CHECK(refusal(std::string("[1]\0x", 5)) == "no JSON: byte 3 is zero");
}

TEST_CASE("a list of very many objects takes no more than its length") {
  std::string text = "[{}";
  for (int n = 1; n < 400'000; ++n) text += ",{}";
  CHECK(parse_json(text + "]").size() == 400'000);  // with the square of that, it would run into the time limit
}

TEST_CASE("numbers and texts come as they are") {
  const nlohmann::json all = parse_json(
      R"( {"a": [9223372036854775807, -9223372036854775808, 18446744073709551615], "b": "\u00e9\ud83d\ude00\n\"",
          "c": [0.1, 1e-320, 5e-324, 1.7976931348623157e308], "a b": null} )");
  CHECK(all["a"][0].get<std::int64_t>() == std::numeric_limits<std::int64_t>::max());
  CHECK(all["a"][1].get<std::int64_t>() == std::numeric_limits<std::int64_t>::min());
  CHECK(all["a"][2].get<std::uint64_t>() == std::numeric_limits<std::uint64_t>::max());
  CHECK(all["b"].get<std::string>() == "\xc3\xa9\xf0\x9f\x98\x80\n\"");
  CHECK(all["c"] == nlohmann::json{0.1, 1e-320, 5e-324, 1.7976931348623157e308});
  CHECK(all["a b"].is_null());
}

TEST_CASE("numbers do not depend on the program's rounding mode") {
  const Upwards upwards;
  CHECK(parse_json("[0.3, 123456789.123456789e-7]") == nlohmann::json{0.3, 12.3456789123456789});
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
  CHECK(parse_json("[0.25, -1.5e3]") == nlohmann::json{0.25, -1500.0});
  CHECK(json_line(0.25) == "0.25");
  if (is_set) CHECK(std::string(std::localeconv()->decimal_point).size() == 2);
  std::setlocale(LC_ALL, "C");
  ::unsetenv("LOCPATH");
}

TEST_CASE("a value is written on one line, with numbers in their shortest form") {
  nlohmann::ordered_json all;
  all["z"] = {1.0, 0.1, -0.0, 1e16, 1e-7, 1.0 / 3, 5e-324, 1.7976931348623157e308};
  all["a"] = {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::uint64_t>::max(), true, nullptr};
  all["n"] = {std::nan(""), INFINITY};
  all["none"] = nlohmann::ordered_json::object();
  all["empty"] = nlohmann::ordered_json::array();
  all["\"quoted\"\\\n\t\x01\x7f"] = "\xc3\xa9\xff";
  CHECK(json_line(all) ==
        "{\"z\": [1, 0.1, -0, 1e+16, 1e-07, 0.3333333333333333, 5e-324, 1.7976931348623157e+308], "
        "\"a\": [-9223372036854775808, 18446744073709551615, true, null], \"n\": [null, null], \"none\": {}, "
        "\"empty\": [], \"\\\"quoted\\\"\\\\\\u000a\\u0009\\u0001\\u007f\": \"\xc3\xa9\\\\xff\"}");
}
