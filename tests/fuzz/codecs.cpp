// Replaces src/storage/codecs/lookup.cpp, because a fuzzer must not load plug-ins that the environment names. The
// module is in the program.
#include "storage/codecs/pipeline.hpp"

#ifdef SIDESTREAM_FUZZ_TREE_VALUES
#include "amr_codec/values/value_coder.hpp"
#endif

namespace sidestream {

CodecKinds codecs_for_readers() { return built_in_codecs(); }

void add_codecs_of_modules(const std::vector<std::vector<std::string>>&, const std::string&, CodecKinds&) {}

FoundTreeCodec find_tree_codec(const std::string&, CodecKinds, const std::string&) {
#ifdef SIDESTREAM_FUZZ_TREE_VALUES
  return {std::dynamic_pointer_cast<const TreeCodec>(tree_codec_kind().create({})), {}};
#else
  return {nullptr, "without the module amr_codec"};
#endif
}

}  // namespace sidestream
