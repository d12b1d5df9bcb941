// Replaces src/storage/codecs/for_readers.cpp, because a fuzzer must not load plug-ins that the environment names.
#include "storage/codecs/pipeline.hpp"

namespace sidestream {

CodecKinds codecs_for_readers() { return built_in_codecs(); }

}  // namespace sidestream
