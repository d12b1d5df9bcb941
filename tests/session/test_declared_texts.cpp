// Texts in calls of a program that are not UTF-8 are refused with a sentence, or converted.
#include <doctest/doctest.h>

#include <functional>
#include <string>

#include "client/declarations.hpp"
#include "config/opening.hpp"
#include "config/options/document.hpp"
#include "support/message_of.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

const std::string degrees =
    "20 \xb0"
    "C";

Variable in_unit(const std::string& unit) {
  Variable variable;
  variable.name = "t";
  variable.unit = unit;
  return variable;
}

}  // namespace

TEST_CASE("units, labels, groups and attributes are refused, with what to do") {
  Declarations all;
  const std::string said = message_of([&] { all.add_variable("grid", in_unit(degrees)); });
  CHECK(contains(said, "found the unit '20 \\xb0C' of 't' with the byte 0xb0, which is not UTF-8"));
  CHECK(contains(said, "encoding: latin-1"));
  Variable labelled = in_unit("K");
  labelled.label = degrees;
  CHECK(contains(message_of([&] { all.add_variable("grid", labelled); }), "the label"));
  CHECK(contains(message_of([&] { all.set_attribute("t", "unit", degrees); }), "the value of an attribute"));
}

TEST_CASE("with latin-1 texts are converted, and UTF-8 stays") {
  Declarations all;
  all.latin_1 = true;
  all.add_variable("grid", in_unit(degrees));
  all.set_attribute("t", "label", degrees);
  all.set_attribute("t", "unit", "20 °C");
  CHECK(all.metadata.variables.front().unit == "20 °C");
  CHECK(all.attributes[0].value == "20 °C");
  CHECK(all.attributes[1].value == "20 °C");
  const Declarations there = Declarations::decode(all.encode());
  CHECK(there.metadata.variables.front().unit == "20 °C");
}

TEST_CASE("a stream of a version before the renaming has attributes by their former names") {
  Declarations all;
  all.set_attribute("t", "unit", "K");
  all.attributes[0].attribute = "father";
  CHECK(Declarations::decode(all.encode()).attributes[0].attribute == "parent");
}

TEST_CASE("names are refused in either case") {
  for (const bool latin_1 : {false, true}) {
    Declarations all;
    all.latin_1 = latin_1;
    const std::string name = "h\xf6he";
    Mesh mesh;
    mesh.name = name;
    Variable variable;
    variable.name = name;
    CHECK(contains(message_of([&] { all.add_mesh(mesh); }), "found the mesh name 'h\\xf6he'"));
    CHECK(contains(message_of([&] { all.add_variable("grid", variable); }), "the variable name"));
    CHECK(contains(message_of([&] { all.set(name, std::int64_t{1}); }), "the parameter name"));
    CHECK(contains(message_of([&] { all.add_array("grid", Role::coordinates, name); }), "the variable name"));
    CHECK(contains(message_of([&] { all.set_attribute(name, "unit", "K"); }), "the variable name"));
  }
}

TEST_CASE("the configuration says what the program's texts are") {
  CHECK(reads_latin_1(*parse_document("encoding: latin-1", "run.yaml")));
  CHECK(!reads_latin_1(*parse_document("encoding: utf-8", "run.yaml")));
  CHECK(!reads_latin_1(*parse_document("on_error: stop", "run.yaml")));
  CHECK(contains(message_of([] { static_cast<void>(reads_latin_1(*parse_document("encoding: ebcdic", "run.yaml"))); }),
                 "expected one of utf-8, latin-1"));
}

TEST_CASE("paths of options begin in the folder of the session") {
  const auto read = [](const std::string& folder) {
    return read_opening(
        *parse_document("output: {directory: ./out}\nplugins: [a.so, /b.so]\n"
                        "placement: {mode: job, stream: {name: s}}",
                        "sub/run.yaml", folder));
  };
  const OpeningConfig opening = read("/home/me");
  CHECK(opening.directory == "/home/me/out");
  CHECK(opening.plugins[0].first == "/home/me/a.so");
  CHECK(opening.plugins[1].first == "/b.so");
  CHECK(opening.placement.stream.text("directory") == "/home/me/streams");
  CHECK(read("").directory == "./out");
}
