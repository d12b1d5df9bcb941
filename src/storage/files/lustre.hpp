// Stripes on Lustre.
#pragma once

#include <memory>

#include "storage/files/striping.hpp"

namespace sidestream {

/// The back end of Lustre, through the library liblustreapi of this machine; null if there is none.
[[nodiscard]] std::unique_ptr<StripingBackEnd> find_lustre();

}  // namespace sidestream
