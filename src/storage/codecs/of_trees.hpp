// The codec for values in cells of octrees, which a module has.
#pragma once

#include <memory>
#include <string>

#include "sidestream/extend/tree_codec.hpp"

namespace sidestream {

struct FoundTreeCodec {
  std::shared_ptr<const TreeCodec> codec;  ///< null if there is none
  std::string missing;                     ///< then a sentence that says what to do
};

/// Makes the codec of that name: that of `kinds`, otherwise of a module, which is loaded for it. `base`: as
/// find_modules(). Throws Error(configuration) if the module was not built with this library.
[[nodiscard]] FoundTreeCodec find_tree_codec(const std::string& name, CodecKinds kinds, const std::string& base);

/// Collective. Throws Error(configuration) on all servers if only some of them have found the codec: nodes have
/// different modules, and chunks of one variable would go through different lists of codecs.
void agree_on_tree_codec(Communicator& servers, bool found);

}  // namespace sidestream
