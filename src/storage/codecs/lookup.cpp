// Codecs of plug-ins and modules. A fuzzer replaces this file (tests/fuzz/codecs.cpp).
#include "storage/codecs/pipeline.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <sstream>

#include "config/tasks/module_files.hpp"
#include "sidestream/kit/base/fail.hpp"

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

FoundTreeCodec find_tree_codec(const std::string& name, CodecKinds kinds, const std::string& base) {
  FoundTreeCodec found;
  found.missing = add_codec_of_module(name, base, kinds);
  const auto kind = kinds.find(name);
  if (kind == kinds.end()) return found;
  found.codec = std::dynamic_pointer_cast<const TreeCodec>(kind->second.create({}));
  if (!found.codec) {
    found.missing = fmt::format(
        "found a codec '{}' of a plug-in, expected one for values in cells of octrees; give it another name", name);
  }
  return found;
}

void add_codecs_of_modules(const std::vector<std::vector<std::string>>& lists, const std::string& base,
                           CodecKinds& kinds) {
  for (const std::vector<std::string>& list : lists) {
    for (const std::string& text : list) {
      const std::string missing = add_codec_of_module(text.substr(0, text.find(':')), base, kinds);
      if (!missing.empty()) fail(Code::file, "{}", missing);
    }
  }
}

void agree_on_tree_codec(Communicator& servers, bool found) {
  std::array<std::int64_t, 2> has{found ? 1 : 0, found ? -1 : 0};
  servers.minimum(has);
  if (has[0] == -has[1]) return;
  fail(Code::configuration,
       "found the module of the codec for octrees on some nodes and not on others; install the same modules on all of "
       "them, or choose other codecs than 'auto'");
}

}  // namespace sidestream
