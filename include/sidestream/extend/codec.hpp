// The contract of a codec: what a chunk of values goes through on its way to the database.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "sidestream/data/type.hpp"
#include "sidestream/extend/communicator.hpp"

namespace sidestream {

/// One step between values and bytes on disk. Has no state: used by several threads at once.
class Codec {
 public:
  virtual ~Codec() = default;
  [[nodiscard]] virtual std::string name() const = 0;  ///< for messages
  /// Whether `decode` gives back every bit.
  [[nodiscard]] virtual bool lossless() const { return true; }
  /// Whether the length of the outcome depends on the values: such a codec is the last one of a list.
  [[nodiscard]] virtual bool packs() const { return false; }
  /// Whether it takes elements of that type.
  [[nodiscard]] virtual bool takes(Type) const { return true; }
  /// The type of the elements of the outcome, of codecs that do not pack.
  [[nodiscard]] virtual Type after(Type type) const { return type; }
  /// Bytes in front of these elements.
  [[nodiscard]] virtual std::size_t header() const { return 0; }
  /// Puts the outcome into `out`, whatever that held. False: these values are not for it (their error would be larger
  /// than it promises, or nothing is saved) and are kept as they are. Throws only if memory is short.
  [[nodiscard]] virtual bool encode(BytesView in, Type type, Bytes& out) const = 0;
  /// The reverse; `out` has the length of what `encode` was given. Throws Error(file) whatever `in` holds that
  /// `encode` did not make: never reads or writes beyond either.
  virtual void decode(BytesView in, Type type, std::span<std::byte> out) const = 0;
};

/// A codec by its name. What stands in a list of codecs, in configurations and in files alike, is the name, or
/// `name:argument`: readers make the codec from that text alone, so that it may not mean anything else later.
struct CodecKind {
  std::string name;        ///< without spaces and colons
  std::string text;        ///< for the manual: a sentence
  std::string argument{};  ///< what is expected behind `name:`, for messages; empty: nothing
  /// Throws Error(configuration) if the argument makes no sense. It is empty unless one was given.
  std::function<std::shared_ptr<const Codec>(const std::string& argument)> create{};
};

/// By name.
using CodecKinds = std::map<std::string, CodecKind>;

}  // namespace sidestream
