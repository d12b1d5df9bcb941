// Tests how plug-ins are loaded from shared libraries.
#include "config/support.hpp"
#include "config/tasks/module_files.hpp"
#include "session/c/c_analysis.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

std::string path_of(const std::string& plugin) { return TEST_PLUGIN_DIRECTORY "/libtest_plugin_" + plugin + ".so"; }

std::string load_error(const std::string& path) {
  Registry registry;
  try {
    load_plugin(path, {"run.yaml", 7, 3}, registry, register_c_plugin);
  } catch (const Error& error) {
    CHECK(error.code() == Code::configuration);
    CHECK(registry.analyses().empty());
    return error.what();
  }
  return "no error";
}

bool mentions(const std::string& message, const std::string& part) {
  CAPTURE(message);
  CHECK(message.rfind("run.yaml:7:3: found ", 0) == 0);
  return message.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a plug-in registers kinds that the configuration can use") {
  Registry registry = fake_registry();
  load_plugin(path_of("good"), {}, registry);
  const auto document = parse_document("analyses: [{from_plugin: {strength: 2}}]", "run.yaml");
  const Config config = read_config(*document, registry, {}, {});
  CHECK(config.tasks.at(0).settings.real("strength") == 2);
}

TEST_CASE("errors of plug-ins name the place in the file") {
  CHECK(mentions(load_error("/nowhere/libx.so"), "'/nowhere/libx.so', which cannot be loaded"));
  CHECK(mentions(load_error("libx.so"), "./libx.so: cannot open shared object file"));
  CHECK(mentions(load_error(path_of("no_entry")), "no function sidestream_plugin; define it with SIDESTREAM_PLUGIN"));
  CHECK(mentions(load_error(path_of("wrong_magic")), "does not return a plug-in header"));
  CHECK(mentions(load_error(path_of("wrong_version")), "for version 3 of the plug-in interface, expected version 2"));
  CHECK(mentions(load_error(path_of("wrong_layout")), "build it again with the headers"));
  CHECK(mentions(load_error(path_of("throwing")), "could not register itself: the licence has run out"));
  CHECK(mentions(load_error(path_of("throwing_entry")), "it threw something that is no std::exception"));
}

TEST_CASE("tables in C of which something is wrong are refused") {
  CHECK(load_error(path_of("c_nothing")) == "no error");
  CHECK(
      mentions(load_error(path_of("c_magic")), "does not return a plug-in header; define it with SIDESTREAM_C_PLUGIN"));
  CHECK(
      mentions(load_error(path_of("c_none")), "does not return a plug-in header; define it with SIDESTREAM_C_PLUGIN"));
  CHECK(
      mentions(load_error(path_of("c_version")), "built for version 2 of the C interface, expected 1; build it again"));
  CHECK(mentions(load_error(path_of("c_size")), "an analysis has struct_size 8, expected at least"));
  CHECK(mentions(load_error(path_of("c_name")), "an analysis has no name; give it one"));
  CHECK(mentions(load_error(path_of("c_no_local")), "'local' of the analysis 'from_c' is NULL; expected a function"));
  CHECK(mentions(load_error(path_of("c_options")), "the analysis 'from_c' has 3 options at NULL"));
  CHECK(mentions(load_error(path_of("c_throws")), "could not register itself: the licence has run out"));
  CHECK(mentions(load_error(path_of("c_null_table")), "number 0 of its analyses is NULL; expected a table"));
}

TEST_CASE("a plug-in that was built with other headers is refused, though every size is the same") {
  CHECK(load_error(path_of("same_headers")) == "no error");
  CHECK(mentions(load_error(path_of("other_headers")), "it was built with headers that differ from those of this"));
}

TEST_CASE("a plug-in whose kind exists already is an error") {
  Registry registry;
  load_plugin(path_of("good"), {}, registry);
  CHECK_THROWS_WITH_AS(load_plugin(path_of("good"), {"run.yaml", 7, 3}, registry),
                       doctest::Contains("'from_plugin' is registered twice"), Error);
}
