// How the chunks of one variable are packed: through one list of codecs, or through that of several which suits best.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "storage/codecs/pipeline.hpp"

namespace sidestream {

/// What a server knows of its time, for choices among lists of codecs.
struct PackingPace {
  bool hurries = false;  ///< it is behind: time counts, not size
  double writing = 0;    ///< seconds that a byte takes to be written
  double threads = 1;    ///< that encode at a time
};

/// Used by several threads at once.
class Packing {
 public:
  Packing() = default;
  /// With one list all chunks go through it, with several each through one of them. Throws as Pipeline.
  Packing(std::vector<std::vector<std::string>> lists, Type type, const CodecKinds& kinds);
  /// For a writer: `names` as in a configuration, a list of codecs or `auto` alone.
  [[nodiscard]] static Packing chosen(const std::vector<std::string>& names, Type type, const CodecKinds& kinds);

  /// Values are kept as they are.
  [[nodiscard]] bool empty() const noexcept { return lists_.empty() || lists_.front().empty(); }
  [[nodiscard]] bool lossless() const;
  [[nodiscard]] const std::vector<std::vector<std::string>>& lists() const noexcept { return lists_; }
  /// The number of the list, from 1, that `out` was made through; 0: the chunk is kept as it is.
  [[nodiscard]] std::uint32_t encode(BytesView raw, Bytes& out, const PackingPace& pace = {}) const;
  /// Throws Error(file) where the bytes are not what list number `list` makes.
  void decode(std::uint32_t list, BytesView in, std::span<std::byte> raw) const;

 private:
  [[nodiscard]] std::size_t best(BytesView raw, const PackingPace& pace) const;
  std::vector<std::vector<std::string>> lists_;
  std::vector<Pipeline> pipelines_;
  bool samples_ = false;
};

}  // namespace sidestream
