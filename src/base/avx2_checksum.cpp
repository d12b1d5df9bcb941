// XXH3 compiled with -mavx2, called where the processor supports it; nothing if the compiler has no such option. It
// takes half the time of the portable build. Values are hashed while they are written, and a core that writes into the
// system's memory has little time to spare.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/checksum.hpp"

namespace sidestream {

#ifdef __AVX2__

namespace {

uint64_t by_avx2(const void* bytes, size_t size) { return XXH3_64bits(bytes, size); }

}  // namespace

Checksum wide_checksum() noexcept { return __builtin_cpu_supports("avx2") ? by_avx2 : nullptr; }

#else

Checksum wide_checksum() noexcept { return nullptr; }

#endif

}  // namespace sidestream
