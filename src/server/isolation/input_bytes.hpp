// Encoding of the input of `local` for another process, with the places where it finds the values of blocks.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <tuple>
#include <vector>

#include "sidestream/data/array.hpp"
#include "sidestream/extend/task.hpp"
#include "sidestream/extend/transport.hpp"

namespace sidestream {

/// A place in the memory object number `object`. Object 0 takes copied values; -1 means that there are no values.
struct ValuePlace {
  std::int32_t object = -1;
  std::int32_t reserved = 0;
  std::uint64_t offset = 0;
  std::array<Index, 4> strides{};  ///< strides at that place
};

/// Finds a place for each array. Arrays in a memory object stay where they are; all others will be copied, once each.
class PlacedValues {
 public:
  static constexpr std::uint64_t alignment = 64;  ///< of each array's place, in bytes
  /// Object n + 1 is `objects[n]`.
  explicit PlacedValues(std::span<const SharedObject> objects) : objects_(objects) {}
  [[nodiscard]] ValuePlace place(const ArrayView& array);
  /// The size of all arrays that will be copied.
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  /// Copies values. `to` has `bytes()` bytes, aligned to `alignment`.
  void copy(std::byte* to) const;

 private:
  struct Copy {
    ArrayView array;
    bool packed;
    std::uint64_t offset, bytes;
  };
  using Key = std::tuple<const void*, std::uint64_t, std::uint64_t, std::array<Index, 4>>;
  std::span<const SharedObject> objects_;
  std::vector<Copy> copies_;
  std::map<Key, std::size_t> known_;
  std::uint64_t bytes_ = 0;
};

/// Encodes the input, with only the blocks that the entries of the selection ask for.
[[nodiscard]] Bytes bytes_of(const LocalInput& input, PlacedValues& values);

/// An input that another process wrote. Values lie in memory that must outlive this object: object n begins at
/// `objects[n]`.
class ReceivedInput {
 public:
  /// Throws Error(internal) if the bytes end too early.
  ReceivedInput(BytesView bytes, const Metadata& metadata, std::span<const std::byte* const> objects);
  [[nodiscard]] const LocalInput& input() const noexcept { return *input_; }

 private:
  Iteration iteration_;
  Bytes feedback_;
  Catalogue catalogue_;
  std::vector<std::vector<BlockView>> blocks_;  ///< by variable
  std::vector<std::vector<BlockView>> pieces_;  ///< of decompositions
  std::vector<EntryViews> entries_;
  std::vector<Event> events_;
  std::unique_ptr<LocalInput> input_;
};

}  // namespace sidestream
