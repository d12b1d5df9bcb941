// Packing of one variable's chunks: through one list of codecs, or through the best of several.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "storage/codecs/pipeline.hpp"

namespace sidestream {

/// Timing of a server, for the choice among lists of codecs.
struct PackingPace {
  bool hurries = false;  ///< true if the server is late; then time counts instead of size
  double writing = 0;    ///< seconds to write a byte
  double threads = 1;    ///< threads that encode concurrently
};

/// Packs and unpacks the chunks of one variable. Thread-safe.
class Packing {
 public:
  Packing() = default;
  /// With one list, all chunks go through it; with several, each chunk goes through one of them. Throws as Pipeline.
  Packing(std::vector<std::vector<std::string>> lists, Type type, const CodecKinds& kinds);
  /// Makes the packing for a writer. `names` are from the configuration: a list of codecs, or only `auto`. `precision`,
  /// unless empty, is a codec that precedes them; if it packs by itself, `names` are not used.
  [[nodiscard]] static Packing chosen(const std::vector<std::string>& names, Type type, const CodecKinds& kinds,
                                      const std::string& precision = {});

  /// True if values are stored unchanged.
  [[nodiscard]] bool empty() const noexcept { return lists_.empty() || lists_.front().empty(); }
  [[nodiscard]] bool lossless() const;
  [[nodiscard]] const std::vector<std::vector<std::string>>& lists() const noexcept { return lists_; }
  /// Returns the number of the list, from 1, that made `out`; 0 if the chunk is stored unchanged.
  [[nodiscard]] std::uint32_t encode(BytesView raw, Bytes& out, const PackingPace& pace = {},
                                     const ChunkPlace& place = {}) const;
  /// Throws Error(file) if the bytes are not the output of list number `list`.
  void decode(std::uint32_t list, BytesView in, std::span<std::byte> raw) const;

 private:
  [[nodiscard]] std::size_t best(BytesView raw, const PackingPace& pace) const;
  std::vector<std::vector<std::string>> lists_;
  std::vector<Pipeline> pipelines_;
  bool samples_ = false;
};

}  // namespace sidestream
