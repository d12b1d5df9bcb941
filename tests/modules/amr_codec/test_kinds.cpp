// The module as a plug-in: what it registers, and that it is loaded by need.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "config/tasks/module_files.hpp"
#include "session/opening/modules.hpp"
#include "storage/codecs/pipeline.hpp"
#include "storage/database/context.hpp"
#include "storage/database/journal.hpp"
#include "support/message_of.hpp"
#include "support/scratch.hpp"

using namespace sidestream;

namespace {

/// Names another folder of modules for the time of a test.
class ModulesIn {
 public:
  explicit ModulesIn(const std::string& folder) { setenv("SIDESTREAM_MODULES", folder.c_str(), 1); }
  ~ModulesIn() { unsetenv("SIDESTREAM_MODULES"); }
  ModulesIn(const ModulesIn&) = delete;
  ModulesIn& operator=(const ModulesIn&) = delete;
};

const std::string module_folder = std::filesystem::path(SIDESTREAM_AMR_CODEC_MODULE).parent_path().string();

/// Reads all values of a database whose chunks went through the codec.
void read_golden() {
  const std::string folder = SIDESTREAM_TREES_GOLDEN;
  for (const database::Entry& entry : database::read_journal(folder).contexts) {
    database::Context context(folder, entry);
    for (std::size_t group = 0; group < context.groups().size(); ++group) {
      for (const database::PieceRow& piece : context.pieces(group).pieces) context.verify(group, piece);
    }
  }
}

}  // namespace

TEST_CASE("the kind is that of a codec") {
  const ModuleKind* const known = module_with(KindOf::codec, "tree");
  REQUIRE(known != nullptr);
  CHECK(known->module == std::string("amr_codec"));
  CHECK(module_with(KindOf::task, "tree") == nullptr);
}

TEST_CASE("the codec is loaded when it is needed, and only it") {
  CHECK_FALSE(built_in_codecs().contains("tree"));
  const ModulesIn there(module_folder);
  const FoundTreeCodec found = find_tree_codec("tree", built_in_codecs(), {});
  REQUIRE(found.codec != nullptr);
  CHECK(found.codec->name() == "tree");
  CodecKinds kinds;
  CHECK(add_codec_of_module("of nobody", {}, kinds).empty());
  CHECK(kinds.empty());
}

TEST_CASE("values of a list go to other codecs") {
  const ModulesIn there(module_folder);
  const FoundTreeCodec found = find_tree_codec("tree", {}, {});
  REQUIRE(found.codec != nullptr);
  Bytes out, values(64);
  CHECK_FALSE(found.codec->encode(values, Type::float64, out));
  CHECK(testing::message_of([&] { found.codec->decode(out, Type::float64, values); }).find("without the tree") !=
        std::string::npos);
}

TEST_CASE("a plug-in's codec of the same name that is none for trees is refused") {
  CodecKinds kinds;
  CodecKind plain = built_in_codecs().at("gzip");
  plain.name = "tree";
  kinds.emplace("tree", plain);
  const FoundTreeCodec found = find_tree_codec("tree", kinds, {});
  CHECK(found.codec == nullptr);
  CHECK(found.missing.find("expected one for values in cells of octrees") != std::string::npos);
}

TEST_CASE("readers load the module, or say which one is missing") {
  if (!built_in_codecs().contains("zstd")) {
    MESSAGE("NOT TESTED: the golden files need zstd, which this build is without");
    return;
  }
  {
    const ModulesIn there(module_folder);
    CHECK_NOTHROW(read_golden());
  }
  const testing::Scratch nothing;
  const ModulesIn empty(nothing.path);
  const std::string message = testing::message_of(read_golden);
  CAPTURE(message);
  CHECK(message.find("found 'tree', which the module sidestream_amr_codec has") != std::string::npos);
  CHECK(message.find("SIDESTREAM_WITH_AMR_CODEC=ON") != std::string::npos);
}
