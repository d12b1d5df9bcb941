// The contract of a codec, which transforms a chunk of values on its way to the database.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "sidestream/data/type.hpp"
#include "sidestream/extend/communicator.hpp"

namespace sidestream {

/// The place of a chunk's elements in their array.
struct ChunkPlace {
  std::uint64_t first = 0;  ///< number of the chunk's first element in the array
  std::array<std::uint64_t, 3> points{0, 1,
                                      1};  ///< extents of the array, the fastest axis first; first one 0: not known
  std::uint64_t components = 1;            ///< elements of a point, next to each other
};

/// One step between values and bytes on disk. Stateless: used by several threads at once.
class Codec {
 public:
  virtual ~Codec() = default;
  [[nodiscard]] virtual std::string name() const = 0;  ///< for messages
  /// True if `decode` restores every bit.
  [[nodiscard]] virtual bool lossless() const { return true; }
  /// True if the length of the output depends on the values. Such a codec must be the last one of a list.
  [[nodiscard]] virtual bool packs() const { return false; }
  /// True if it accepts elements of that type.
  [[nodiscard]] virtual bool takes(Type) const { return true; }
  /// Type of the elements of the output, for codecs that do not pack.
  [[nodiscard]] virtual Type after(Type type) const { return type; }
  /// Number of bytes in front of these elements.
  [[nodiscard]] virtual std::size_t header() const { return 0; }
  /// Writes the output to `out`, replacing its content. Returns false if the values do not suit the codec: their error
  /// would be larger than promised, or nothing is saved. The values are then stored unchanged. Throws only if memory is
  /// short.
  [[nodiscard]] virtual bool encode(BytesView in, Type type, Bytes& out) const = 0;
  /// Encodes with the chunk's place, for codecs that use neighbours along several axes.
  [[nodiscard]] virtual bool encode_at(BytesView in, Type type, const ChunkPlace& place, Bytes& out) const {
    static_cast<void>(place);
    return encode(in, type, out);
  }
  /// The inverse of both; `out` has the length of the input of `encode`. Throws Error(file) on any input that `encode`
  /// did not make. Never accesses memory beyond input and output.
  virtual void decode(BytesView in, Type type, std::span<std::byte> out) const = 0;
};

/// A codec by its name. In configurations and in files, an entry in a list of codecs is the name, or `name:argument`.
/// Readers make the codec from that text only, so its meaning must never change.
struct CodecKind {
  std::string name;        ///< without spaces and colons
  std::string text;        ///< one sentence for the manual
  std::string argument{};  ///< text expected after `name:`, for messages; empty: nothing
  /// Makes the codec. Throws Error(configuration) if the argument is invalid. The argument is empty unless one was
  /// given.
  std::function<std::shared_ptr<const Codec>(const std::string& argument)> create{};
};

/// Codecs by name.
using CodecKinds = std::map<std::string, CodecKind>;

}  // namespace sidestream
