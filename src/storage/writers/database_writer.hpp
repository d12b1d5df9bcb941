// Whole iterations in a database.
#pragma once

#include <memory>

#include "sidestream/extend/codec.hpp"
#include "sidestream/extend/writer.hpp"

namespace sidestream {

/// The output `database`; docs/database.md describes it.
[[nodiscard]] WriterKind database_writer(std::shared_ptr<const CodecKinds> codecs);

}  // namespace sidestream
