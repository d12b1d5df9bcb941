#include <cstdlib>
#include <sstream>

#include "config/tasks/plugin_loader.hpp"
#include "storage/codecs/pipeline.hpp"

namespace sidestream {

CodecKinds codecs_for_readers() {
  Registry registry;
  for (const auto& [name, kind] : built_in_codecs()) registry.add(CodecKind(kind));
  const char* const paths = std::getenv("SIDESTREAM_CODEC_PLUGINS");
  std::istringstream list(paths != nullptr ? paths : "");
  for (std::string path; std::getline(list, path, ':');) {
    if (!path.empty()) load_plugin(path, {"SIDESTREAM_CODEC_PLUGINS", 1, 1}, registry);
  }
  return *registry.codecs();
}

}  // namespace sidestream
