#include "transport/shared_memory/copy.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace sidestream::shared_memory {

#if defined(__x86_64__)
namespace {

constexpr std::uint64_t line = 64;

__attribute__((target("avx512f"))) void stream_512(std::byte* to, const std::byte* from, std::uint64_t lines) noexcept {
  for (std::uint64_t n = 0; n < lines; ++n) {
    _mm512_stream_si512(reinterpret_cast<__m512i*>(to + n * line), _mm512_loadu_si512(from + n * line));
  }
}

__attribute__((target("avx"))) void stream_256(std::byte* to, const std::byte* from, std::uint64_t lines) noexcept {
  for (std::uint64_t n = 0; n < 2 * lines; ++n) {
    const __m256i half = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + n * 32));
    _mm256_stream_si256(reinterpret_cast<__m256i*>(to + n * 32), half);
  }
}

void stream_128(std::byte* to, const std::byte* from, std::uint64_t lines) noexcept {
  for (std::uint64_t n = 0; n < 4 * lines; ++n) {
    const __m128i quarter = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + n * 16));
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + n * 16), quarter);
  }
}

using Stream = void (*)(std::byte*, const std::byte*, std::uint64_t);

Stream fastest() noexcept {
  if (__builtin_cpu_supports("avx512f")) return stream_512;
  if (__builtin_cpu_supports("avx")) return stream_256;
  return stream_128;
}

}  // namespace

void stream_to_shared(void* to, const void* from, std::uint64_t bytes) noexcept {
  static const Stream stream = fastest();
  auto* target = static_cast<std::byte*>(to);
  const auto* source = static_cast<const std::byte*>(from);
  const std::uint64_t head = std::min<std::uint64_t>(bytes, -reinterpret_cast<std::uintptr_t>(target) & (line - 1));
  const std::uint64_t lines = (bytes - head) / line;
  const std::uint64_t tail = bytes - head - lines * line;
  std::memcpy(target, source, head);
  stream(target + head, source + head, lines);
  std::memcpy(target + bytes - tail, source + bytes - tail, tail);
  _mm_sfence();  // streaming stores are not ordered by the release store that will announce them
}

#else

void stream_to_shared(void* to, const void* from, std::uint64_t bytes) noexcept { std::memcpy(to, from, bytes); }

#endif

void copy_to_shared(void* to, const void* from, std::uint64_t bytes) noexcept {
  if (bytes < streamed_from || bytes > streamed_to) {
    if (bytes > 0) std::memcpy(to, from, bytes);
  } else {
    stream_to_shared(to, from, bytes);
  }
}

}  // namespace sidestream::shared_memory
