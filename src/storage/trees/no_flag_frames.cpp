#include "sidestream/kit/base/fail.hpp"
#include "storage/trees/flag_frames.hpp"

namespace sidestream {

bool append_frame(BytesView, Bytes&) { return false; }

std::size_t read_frame(BytesView, std::span<std::byte>) {
  fail(Code::file,
       "flags of a tree were packed with zstd, which this build of Sidestream lacks; read them with one that has it");
}

}  // namespace sidestream
