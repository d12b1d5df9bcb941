// To read an option that was not declared, or as another type, is a bug, and the error says so.
#include "config/support.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

template <class Read>
bool is_internal(const Read& read) {
  try {
    read();
  } catch (const Error& error) {
    return error.code() == Code::internal;
  }
  return false;
}

}  // namespace

TEST_CASE("undeclared options and wrong types are internal errors") {
  const Settings settings = first_task(probe("size: [1, 2], level: 0.5, shape: {plane: {}}"));
  CHECK(is_internal([&] { static_cast<void>(settings.has("nothing")); }));
  CHECK(is_internal([&] { static_cast<void>(settings.integer("nothing")); }));
  CHECK(is_internal([&] { static_cast<void>(settings.integer("level")); }));
  CHECK(is_internal([&] { static_cast<void>(settings.real("count")); }));
  CHECK(is_internal([&] { static_cast<void>(settings.text("count")); }));
  CHECK(is_internal([&] { static_cast<void>(settings.boolean("tone")); }));
  CHECK(is_internal([&] { static_cast<void>(settings.integer("size")); }));
  CHECK(is_internal([&] { static_cast<void>(settings.integers("count")); }));
  CHECK(is_internal([&] { static_cast<void>(settings.reals("size")); }));
  CHECK(is_internal([&] { static_cast<void>(settings.map("count")); }));
  CHECK(is_internal([&] { static_cast<void>(settings.one_of("camera")); }));
  CHECK(is_internal([&] { static_cast<void>(settings.where("nothing")); }));
  CHECK(is_internal([&] { settings.fail("nothing", "x"); }));
}

TEST_CASE("an option without value cannot be read as number, flag or map") {
  const Settings settings = first_task(probe(""));
  CHECK(is_internal([&] { static_cast<void>(settings.real("level")); }));
  CHECK(is_internal([&] { static_cast<void>(settings.one_of("shape")); }));
}

TEST_CASE("empty settings and places") {
  CHECK(is_internal([] { static_cast<void>(Settings().has("x")); }));
  CHECK(Settings().where().text().empty());
  CHECK(Location{"f", 2, 3}.text() == "f:2:3");
  CHECK(Location{"f", 0, 0}.text() == "f");
  CHECK(Location{}.text().empty());
}

TEST_CASE("a wrong default is a bug of the kind and not of the file") {
  Registry registry;
  AnalysisKind kind;
  kind.name = "broken";
  kind.options = {{.name = "count", .type = OptionType::integer, .default_value = "many"}};
  registry.add(kind);
  const auto document = parse_document("analyses: [broken]", "run.yaml");
  CHECK(is_internal([&] { static_cast<void>(read_config(*document, registry, {}, {})); }));
}

TEST_CASE("the registry refuses what would hide something") {
  Registry registry = fake_registry();
  const auto refused = [&](auto kind) {
    try {
      registry.add(kind);
    } catch (const Error& error) {
      return error.code() == Code::usage;
    }
    return false;
  };
  CHECK(refused(AnalysisKind{"probe", "", {}, {}}));
  CHECK(refused(AnalysisKind{"", "", {}, {}}));
  CHECK(refused(AnalysisKind{"new", "", {{.name = "every"}}, {}}));
  CHECK(refused(WriterKind{"hdf5", "", {}, {}}));
  CHECK(refused(WriterKind{"new", "", {{.name = "name"}}, {}}));
  CHECK(refused(ResultFormat{.ending = ".csv"}));
  CHECK(refused(ResultFormat{.ending = "csv"}));
  CHECK(refused(PartitionerKind{"block", "", {}, {}, {}, {}}));
  CHECK(!refused(AnalysisKind{"new", "", {}, {}}));
}
