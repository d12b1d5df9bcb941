// Whole iterations in a database.
#pragma once

#include "sidestream/extend/writer.hpp"

namespace sidestream {

/// The output `database`; docs/database.md describes it.
[[nodiscard]] WriterKind database_writer();

}  // namespace sidestream
