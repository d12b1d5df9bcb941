// Images as PNG.
#pragma once

#include "sidestream/extend/writer.hpp"

namespace sidestream {

/// `.png` (ISO/IEC 15948): 8 bits per channel, sRGB, the alpha channel only if it says anything. The
/// provenance goes into an international text chunk `Description`. The same image and provenance give the
/// same bytes with the same libpng and zlib.
[[nodiscard]] ResultFormat png_format();

}  // namespace sidestream
