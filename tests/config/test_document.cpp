// Which YAML is accepted, and the places that errors of syntax name.
#include "config/options/document.hpp"
#include "config/support.hpp"

using namespace sidestream;
using namespace sidestream::testing;

TEST_CASE("a document keeps the places of keys and values") {
  const auto document = parse_document("a: 1\nlist:\n  - x\n  -\n  - {k: [2, 3]}\nempty:\nlast: 'q'\n", "f");
  const Node& root = document->root();
  REQUIRE(root.entries.size() == 4);
  CHECK(root.entries[0].value.where.text() == "f:1:4");
  CHECK(root.entries[1].where.text() == "f:2:1");
  const Node& list = root.entries[1].value;
  REQUIRE(list.items.size() == 3);
  CHECK(list.items[1].kind == Node::Kind::null);
  CHECK(list.items[1].where.text() == "f:4:3");
  CHECK(list.items[2].entries[0].value.items[1].where.text() == "f:5:13");
  CHECK(root.entries[2].value.kind == Node::Kind::null);
  CHECK(root.entries[2].value.where.text() == "f:6:1");
  CHECK(root.entries[3].value.quoted);
}

TEST_CASE("columns count characters, not bytes") {
  const auto document = parse_document("{é: 1, b: 2}", "f");
  CHECK(document->root().entries[1].where.column == 8);
}

TEST_CASE("a byte order mark, Windows line ends and references are taken") {
  CHECK(parse_document("\xef\xbb\xbf"
                       "a: 1\r\nb: 2\r\n",
                       "f")
            ->root()
            .entries[1]
            .value.text == "2");
  CHECK(parse_document("\xef\xbb\xbf"
                       "a: 1\r\nb: 2\r\n",
                       "f")
            ->root()
            .entries[1]
            .where.text() == "f:2:1");
  const auto document = parse_document("a: &x {k: 1}\nb: *x\n", "f");
  CHECK(document->root().entries[1].value.entries[0].value.text == "1");
  CHECK(document->root().entries[1].value.where.text() == "f:2:4");
}

TEST_CASE("null, quoted null and texts that YAML 1.1 takes for booleans") {
  const auto document = parse_document("a: ~\nb: null\nc: 'null'\nd: off\ne: 'it''s'\nf: \"\\\"\"\n", "f");
  const auto& entries = document->root().entries;
  CHECK(entries[0].value.kind == Node::Kind::null);
  CHECK(entries[1].value.kind == Node::Kind::null);
  CHECK(entries[2].value.kind == Node::Kind::scalar);
  CHECK(entries[3].value.text == "off");
  CHECK(entries[4].value.text == "it's");
  CHECK(entries[5].value.text == "\"");
}

TEST_CASE("errors of syntax name the place and the remedy") {
  const std::vector<BadCase> cases{
      {"", "1:1", "found an empty configuration", "write 'placement: off'"},
      {"# nothing\n\n", "1:1", "found an empty configuration", "write 'placement: off'"},
      {"- a\n", "1:1", "found a list at the top", "begin each with its name"},
      {"text\n", "1:1", "found 'text", "begin each with its name"},
      {"a: b: c\n", "1:5", "found a ':' where no value can start", "put a text that contains ':' in quotes"},
      {"a: 1\n b: 2\n", "2:3", "found a ':' where no value can start", "check the indentation"},
      {"placement: {mode: cores\n", "1:12", "found a '{' without its '}'", "add the '}'"},
      {"x: 1\ny: [1, 2\n", "2:4", "found a '['", "add it"},
      {"a: ]\n", "1:4", "found a ']'", "remove it"},
      {"a:\n  - 1\n  b: 2\n", "3:3", "found a line that does not fit the map", "indent it like"},
      {"a: \"open\n", "1:4", "found a quote (\") that is never closed", "close it"},
      {"a: 'it''s\n", "1:4", "found a quote (') that is never closed", "close it"},
      {"placement:\n\tmode: cores\n", "2:1", "found a tab in the indentation", "replace the tab by spaces"},
      {"placement:\n  mode: cores\n  \tper_node: 1\n", "3:3", "found a tab in the indentation", "replace the tab"},
      {"a: *b\n", "1:4", "found a reference", "define it first"},
      {"a: &x [*x]\n", "1:8", "found a reference (*) to a value that contains it", "write the value out"},
      {"a: @x\n", "1:4", "found a character that cannot start a value", "put it in quotes"},
      {"a: \"\\q\"\n", "1:7", "found an unknown escape", "use single quotes"},
      {"a: !!str x\n", "1:4", "found the YAML tag", "remove the tag"},
      {"a: 1\n---\nb: 2\n", "3:1", "found a second YAML document", "remove the '---'"},
      {"a: 1\nb: 2\na: 3\n", "3:1", "found the key 'a' a second time (first in line 1)", "remove one"},
      {"m: {b: {k: 1, k: 2}}\n", "1:15", "found the key 'k' a second time", "remove one"},
      {"[a]: 1\n", "1:1", "found a list as a key", "put a name"},
      {"a: caf\xe9\n", "1:7", "found the byte 0xe9, which is not UTF-8", "save the file in that encoding"},
      {"a: \xc0\x80\n", "1:4", "found the byte 0xc0", "save the file"},
      {"a: \xed\xa0\x80\n", "1:4", "found the byte 0xed", "save the file"},
      {std::string("a: 1\nb\0c: 2\n", 12), "2:2", "found the control character 0x00", "remove it"},
      {"file: \"a\\0b.csv\"\n", "1:7", "found the character 0", "remove it"},
      {"\"a\\0b\": 1\n", "1:1", "found the character 0", "remove it"},
  };
  for (const BadCase& bad : cases) check_bad(bad);
}

TEST_CASE("a small file that expands or nests without bound is an error") {
  std::string bomb = "a: &a [1,1,1,1,1,1,1,1,1,1]\n";
  for (char c = 'b'; c < 'j'; ++c) {
    const char before = static_cast<char>(c - 1);
    bomb += std::string(1, c) + ": &" + c + " [";
    for (int n = 0; n < 10; ++n) bomb += (n ? ",*" : "*") + std::string(1, before);
    bomb += "]\n";
  }
  CHECK(error_of(bomb).find("found references (*) that expand to more than 100000 values") != std::string::npos);
  CHECK(error_of("a: " + std::string(100000, '[')).find("nested too deeply") != std::string::npos);
}
