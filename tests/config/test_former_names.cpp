// Former names of keys: their present names, and the warnings about them.
#include "config/options/former_names.hpp"

#include "config/support.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

const std::string front =
    "meshes: {tree: {type: octree, size: 1, refined: split}}\nvariables:\n  split: {mesh: tree, type: uint8}\n";

std::vector<std::string> warnings(const std::string& text) {
  return read_opening(*parse_document(text, "run.yaml")).former_names;
}

}  // namespace

TEST_CASE("a former name of a key means what the new one does, and one warning names that") {
  const std::string old = front + "  a: {mesh: tree, father: mean}\n  b: {mesh: tree, father: sum}\n";
  const Metadata metadata = read(old).metadata;
  CHECK(metadata.variables[1].relations.parent == "mean");
  CHECK(metadata.variables[2].relations.parent == "sum");
  const std::vector<std::string> said = warnings(old);
  REQUIRE(said.size() == 1);
  CHECK(said[0] == "run.yaml:4:19: found the key 'father' (2 times), which is called 'parent' now; write 'parent'");
  CHECK(warnings(front + "  a: {mesh: tree, parent: mean}\n").empty());
}

TEST_CASE("a warning stays with a document that is put together anew") {
  const auto document = parse_document(front + "  a: {mesh: tree, father: mean}\n", "run.yaml");
  CHECK(former_names_in(Document("run.yaml", document->root())).size() == 1);
}

TEST_CASE("the former and the new name of a key exclude each other") {
  CHECK(
      error_of(front + "  a: {mesh: tree, father: mean, parent: mean}\n") ==
      "run.yaml:4:19: found the key 'father', the former name of 'parent', and 'parent' too (line 4), expected one of "
      "them; remove 'father'");
}

TEST_CASE("a name is only a former one where the key was") {
  CHECK(error_of("father: {}\n").find("found the unknown section 'father'") != std::string::npos);
  const Metadata metadata = read(front + "  father: {mesh: tree}\n").metadata;
  CHECK(metadata.variables[1].name == "father");
  CHECK(warnings(front + "  father: {mesh: tree}\n").empty());
}

TEST_CASE("nothing is said of a metadata file, whose format has its own names") {
  const auto document =
      parse_document("sidestream_metadata: 2\n" + front + "  a: {mesh: tree, father: mean}\n", "about.yaml");
  CHECK(former_names_in(*document).empty());
  CHECK(document->root().find("variables")->value.find("a")->value.find("parent") != nullptr);
}

TEST_CASE("attributes by calls have the same former names") {
  CHECK(current_attribute("father") == "parent");
  CHECK(current_attribute("parent") == "parent");
  CHECK(current_attribute("unit") == "unit");
}
