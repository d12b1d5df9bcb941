// Large files, which show steps that take quadratic time. With such a step each of these tests takes many minutes in
// `make test-all`, and the time limit ends it.
#include <fmt/format.h>

#include "config/options/document.hpp"
#include "config/support.hpp"
#include "support/test_all.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

const int many = test_all() ? 400'000 : 100'000;
const int meshes_and_tasks = test_all() ? 20'000 : 5'000;

/// `text(0)text(1)...`
template <class Text>
std::string lines_of(int count, Text text) {
  std::string all;
  for (int n = 0; n < count; ++n) all += text(n);
  return all;
}

}  // namespace

TEST_CASE("hundreds of thousands of keys in one map") {
  const auto document =
      parse_document("parameters:\n" + lines_of(many, [](int n) { return fmt::format("  p{}: {}\n", n, n); }), "f");
  const auto& entries = document->root().entries.at(0).value.entries;
  REQUIRE(entries.size() == static_cast<std::size_t>(many));
  CHECK(entries.back().value.text == std::to_string(many - 1));
  CHECK(entries.back().where.text() == fmt::format("f:{}:3", many + 1));
}

TEST_CASE("hundreds of thousands of numbers in one line, each with its place") {
  const std::string numbers = lines_of(many, [](int n) { return fmt::format("{:07}, ", n); });
  const auto document = parse_document("{x: [" + numbers + "400000]}", "f");
  const auto& items = document->root().entries.at(0).value.items;
  REQUIRE(items.size() == static_cast<std::size_t>(many) + 1);
  CHECK(items[0].where.text() == "f:1:6");
  CHECK(items.at(static_cast<std::size_t>(many)).where.text() == fmt::format("f:1:{}", 6 + 9 * many));
}

TEST_CASE("many meshes, each with a variable") {
  const std::string meshes = lines_of(meshes_and_tasks, [](int n) { return fmt::format("  m{}: {{size: 4}}\n", n); });
  const std::string variables =
      lines_of(meshes_and_tasks, [](int n) { return fmt::format("  v{}: {{mesh: m{}}}\n", n, n); });
  const Config config = read("meshes:\n" + meshes + "variables:\n" + variables);
  REQUIRE(config.metadata.variables.size() == static_cast<std::size_t>(meshes_and_tasks));
  CHECK(config.metadata.mesh_of(config.metadata.variables.back()).name == fmt::format("m{}", meshes_and_tasks - 1));
}

TEST_CASE("many tasks of one kind get names") {
  const std::string tasks = lines_of(meshes_and_tasks, [](int) { return "  - volume: {}\n"; });
  const Config config = read("meshes: {grid: {size: 4}}\nvariables: {u: {mesh: grid}}\nanalyses:\n" + tasks);
  REQUIRE(config.tasks.size() == static_cast<std::size_t>(meshes_and_tasks));
  CHECK(config.tasks.back().name == fmt::format("volume-{}", meshes_and_tasks));
}
