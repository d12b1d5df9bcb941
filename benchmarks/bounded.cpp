// Packs a raw field of float64 with largest errors: bytes and speeds of `bounded`, and of `zfp` if the build has it, in
// chunks as databases have them. Bounds of each value are compared with rounded bits in `zstd`.
// benchmarks/bounded_fields makes fields and compares with SZ.
//
//   benchmark_bounded FILE NX NY NZ BOUND...    one line for each bound and codec: codec, bound, ratio, MB/s, MB/s back
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "bounded_codec/bounded.hpp"
#include "storage/codecs/packing.hpp"
#include "storage/database/layout.hpp"

using namespace sidestream;

namespace {

/// Seconds of this thread's processor, which other programs disturb least.
double seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

struct Measured {
  double bytes = 0, encoding = 0, decoding = 0, worst = 0;
};

void measure_chunk(const Packing& packing, BytesView raw, const ChunkPlace& place, bool each, Measured& sum) {
  Bytes out, back(raw.size());
  const double start = seconds();
  const std::uint32_t list = packing.encode(raw, out, {}, place);
  const double packed = seconds();
  if (list == 0) out.assign(raw.begin(), raw.end());
  if (list > 0) packing.decode(list, out, back);
  sum.decoding += seconds() - packed;
  sum.encoding += packed - start;
  sum.bytes += static_cast<double>(out.size());
  if (list == 0) return;
  const auto* const a = reinterpret_cast<const double*>(raw.data());
  const auto* const b = reinterpret_cast<const double*>(back.data());
  for (std::size_t n = 0; n < raw.size() / sizeof(double); ++n) {
    const double error = std::fabs(a[n] - b[n]), part = error > 0 ? std::fabs(a[n]) : 1;
    sum.worst = std::max(sum.worst, each ? error / part : error);
  }
}

constexpr const char* each_word = "each:";

/// The codecs that pack with that bound.
std::vector<std::string> list_of(const std::string& codec, const std::string& bound) {
  if (codec != "bit-round") return {codec + ":" + bound};
  const double part = std::strtod(bound.c_str() + std::strlen(each_word), nullptr);
  return {"bit-round:" + std::to_string(static_cast<int>(std::ceil(-std::log2(part))) - 1), "byte-shuffle", "zstd"};
}

void measure(const std::string& codec, const std::string& bound, const std::vector<char>& field, ChunkPlace place) {
  CodecKinds kinds = built_in_codecs();
  kinds.emplace("bounded", bounded::bounded_codec());
  const bool each = bound.starts_with(each_word);
  if (!kinds.contains(codec) || !kinds.contains("zstd")) return;
  const Packing packing({list_of(codec, bound)}, Type::float64, kinds);
  const BytesView all = std::as_bytes(std::span(field));
  double encoding = 1e9, decoding = 1e9;
  Measured sum;
  for (int repeat = 0; repeat < 5; ++repeat) {
    sum = {};
    for (std::size_t at = 0; at < all.size(); at += database::chunk_bytes) {
      place.first = at / sizeof(double);
      measure_chunk(packing, all.subspan(at, std::min<std::size_t>(database::chunk_bytes, all.size() - at)), place,
                    each, sum);
    }
    encoding = std::min(encoding, sum.encoding);
    decoding = std::min(decoding, sum.decoding);
  }
  const double most = std::strtod(bound.c_str() + (each ? std::strlen(each_word) : 0), nullptr);
  if (sum.worst > most * (1 + 1e-15)) std::printf("%s does not keep its bound\n", codec.c_str());
  const auto size = static_cast<double>(all.size());
  std::printf("%s %s %.6g %.1f %.1f\n", codec.c_str(), bound.c_str(), size / sum.bytes, size / encoding / 1e6,
              size / decoding / 1e6);
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 6) {
    std::fprintf(stderr, "usage: benchmark_bounded FILE NX NY NZ BOUND...\n");
    return 1;
  }
  std::ifstream file(arguments[1], std::ios::binary);
  const std::vector<char> field{std::istreambuf_iterator<char>(file), {}};
  ChunkPlace place;
  for (std::size_t n = 0; n < 3; ++n) place.points[n] = std::strtoull(arguments[2 + n], nullptr, 10);
  if (field.size() != place.points[0] * place.points[1] * place.points[2] * sizeof(double)) {
    std::fprintf(stderr, "%s has %zu bytes, expected float64 of these extents\n", arguments[1], field.size());
    return 1;
  }
  for (int n = 5; n < count; ++n) {
    const bool each = std::string(arguments[n]).starts_with(each_word);
    for (const char* const codec : {each ? "bit-round" : "zfp", "bounded"}) measure(codec, arguments[n], field, place);
  }
}
