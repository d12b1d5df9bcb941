// Partial results that consist of 64-bit integers.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "sidestream/extend/communicator.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/records.hpp"

namespace sidestream {

using Words = std::vector<std::int64_t>;

/// The minimum of no words.
inline constexpr std::int64_t least_of_none = std::numeric_limits<std::int64_t>::max();

[[nodiscard]] inline Bytes to_bytes(const Words& words) { return bytes_of(words); }

/// Throws Error(internal) unless there are `count` words.
[[nodiscard]] inline Words to_words(BytesView bytes, std::size_t count) {
  if (bytes.size() != count * sizeof(std::int64_t)) {
    fail(Code::internal, "a partial result has {} bytes instead of {}", bytes.size(), count * sizeof(std::int64_t));
  }
  return records_of<std::int64_t>(bytes);
}

/// A partial with words that are added up, and words whose minimum is kept.
struct SumsAndLeast {
  Words sums, least;

  [[nodiscard]] Bytes bytes() const {
    Words all = sums;
    all.insert(all.end(), least.begin(), least.end());
    return to_bytes(all);
  }
  /// The total of all servers' partials, which have the given numbers of words. It is the same on all servers. `most`
  /// is the minimum of no words. Collective.
  [[nodiscard]] static SumsAndLeast joined(std::span<const Bytes> partials, std::size_t sums, std::size_t least,
                                           std::int64_t most, Communicator& servers) {
    SumsAndLeast all{Words(sums, 0), Words(least, most)};
    for (const Bytes& partial : partials) {
      const Words words = to_words(partial, sums + least);
      for (std::size_t i = 0; i < sums; ++i) all.sums[i] += words[i];
      for (std::size_t i = 0; i < least; ++i) all.least[i] = std::min(all.least[i], words[sums + i]);
    }
    servers.sum(all.sums);
    servers.minimum(all.least);
    return all;
  }
};

/// An integer that orders like the real numbers, so that one integer minimum serves all types. Not for NaN; both zeros
/// give the same.
[[nodiscard]] inline std::int64_t order_key(double x) noexcept {
  const auto bits = std::bit_cast<std::int64_t>(x + 0.0);
  return bits < 0 ? bits ^ std::numeric_limits<std::int64_t>::max() : bits;
}

[[nodiscard]] inline double from_order_key(std::int64_t key) noexcept {
  return std::bit_cast<double>(key < 0 ? key ^ std::numeric_limits<std::int64_t>::max() : key);
}

}  // namespace sidestream
