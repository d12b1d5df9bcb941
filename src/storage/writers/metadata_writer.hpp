// The writer `metadata`.
#pragma once

#include "sidestream/extend/writer.hpp"

namespace sidestream {

/// One file an iteration that says what exists and where, for `sidestream plan`.
[[nodiscard]] WriterKind metadata_writer();

}  // namespace sidestream
