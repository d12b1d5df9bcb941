// In place of src/storage/codecs/for_readers.cpp: what the environment names is not loaded into a fuzzer.
#include "storage/codecs/pipeline.hpp"

namespace sidestream {

CodecKinds codecs_for_readers() { return built_in_codecs(); }

}  // namespace sidestream
