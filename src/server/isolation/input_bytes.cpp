// Encoding of a task's input for a worker process. Values are not part of the bytes; a view has the place of its array.
//
// 1. PlacedValues: an array in the node's buffer has its offset there; any other gets a place in the memory that server
//    and worker share, packed if its strides leave gaps. An array that occurs twice has one place.
// 2. bytes_of: views of variables that entries use, then other lists, then the entries as numbers of lists.
// 3. ReceivedInput: reads all of this, and points its views into the two memories.
// Both ends are the same build, which the worker checks before.
#include "server/isolation/input_bytes.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/fields.hpp"

namespace sidestream {

template <>
inline constexpr std::size_t field_count<BlockView> = 9;
template <>
inline constexpr std::size_t field_count<HaloPiece> = 2;
template <>
inline constexpr std::size_t field_count<Catalogue> = 4;
template <>
inline constexpr std::size_t field_count<Event> = 6;

namespace {

using BlockViews = std::vector<BlockView>;

/// The plain values at the beginning of an encoded input.
struct Head {
  Iteration iteration;
  std::int32_t pass = 0, server = 0, servers = 1;
  std::int32_t has_catalogue = 0;
};

/// An array without its values.
struct ArrayHead {
  ValuePlace place;
  Box box;
  Type type;
  MemorySpace space;
  std::int32_t components;
  std::int32_t reserved = 0;
};

/// Writes views. Instead of values, an array has the place of its values.
class ViewWriter {
 public:
  ViewWriter(ByteWriter& out, PlacedValues& values) : out_(out), values_(values) {}
  void put(const ArrayView& view) {
    const auto& [data, type, space, box, components, strides] = view;
    out_.put(ArrayHead{values_.place(view), box, type, space, components});
  }
  template <HasFields T>
  void put(const T& all) {
    std::apply([&](const auto&... field) { (put(field), ...); }, fields_of(all));
  }
  template <HasFields T>
  void put(const std::vector<T>& list) {
    out_.put(list.size());
    for (const T& one : list) put(one);
  }
  void put(const auto& value) { out_.put(value); }

 private:
  ByteWriter& out_;
  PlacedValues& values_;
};

/// Reads the output of `ViewWriter`.
class ViewReader {
 public:
  ViewReader(ByteReader& in, std::span<const std::byte* const> objects) : in_(in), objects_(objects) {}
  void get(ArrayView& view) {
    const auto head = in_.get<ArrayHead>();
    view = {nullptr, head.type, head.space, head.box, head.components, head.place.strides};
    if (head.place.object < 0) return;
    view.data = objects_[static_cast<std::size_t>(head.place.object)] + head.place.offset;
  }
  template <HasFields T>
  void get(T& all) {
    std::apply([&](auto&... field) { (get(field), ...); }, fields_of(all));
  }
  template <HasFields T>
  void get(std::vector<T>& list) {
    for (auto left = in_.get<std::size_t>(); left > 0; --left) get(list.emplace_back());
  }
  void get(auto& value) { in_.get(value); }

 private:
  ByteReader& in_;
  std::span<const std::byte* const> objects_;
};

/// Numbers the lists that entries point at: first the lists of `blocks`, by variable, then all others.
class Lists {
 public:
  explicit Lists(const LocalInput& input) : first_(input.blocks.data()), used_(input.blocks.size(), false) {
    for (const EntryViews& entry : input.entries) {
      for (const BlockViews* views : entry.views) add(views);
    }
  }
  [[nodiscard]] std::int64_t number(const BlockViews* views) const {
    if (!views) return -1;
    if (is_published(views)) return views - first_;
    const auto found = std::find(others_.begin(), others_.end(), views);
    return static_cast<std::int64_t>(used_.size()) + (found - others_.begin());
  }
  [[nodiscard]] bool used(std::size_t variable) const { return used_[variable]; }
  [[nodiscard]] const std::vector<const BlockViews*>& others() const noexcept { return others_; }

 private:
  [[nodiscard]] bool is_published(const BlockViews* views) const noexcept {
    return views >= first_ && views < first_ + used_.size();
  }
  void add(const BlockViews* views) {
    if (!views) return;
    if (is_published(views)) {
      used_[static_cast<std::size_t>(views - first_)] = true;
    } else if (std::find(others_.begin(), others_.end(), views) == others_.end()) {
      others_.push_back(views);
    }
  }
  const BlockViews* first_;
  std::vector<bool> used_;
  std::vector<const BlockViews*> others_;
};

}  // namespace

Bytes bytes_of(const LocalInput& input, PlacedValues& values) {
  // Binds all members, so that a new one is not forgotten. The worker has the metadata, and its result never stays.
  const auto& [iteration, metadata, blocks, pass, feedback, catalogue, entries, server, servers, events, stays] = input;
  ByteWriter out;
  ViewWriter views(out, values);
  out.put(Head{iteration, pass, server, servers, catalogue != nullptr});
  out.put(Bytes(feedback.begin(), feedback.end()));
  if (catalogue) views.put(*catalogue);
  const Lists lists(input);
  static const BlockViews none;
  out.put(blocks.size());  // the server may have more variables than the worker, from requests
  for (std::size_t v = 0; v < blocks.size(); ++v) views.put(lists.used(v) ? blocks[v] : none);
  out.put(lists.others().size());
  for (const BlockViews* list : lists.others()) views.put(*list);
  out.put(entries.size());
  for (const EntryViews& entry : entries) {
    out.put(entry.variable);
    out.put(entry.views.size());
    for (const BlockViews* list : entry.views) out.put(lists.number(list));
  }
  views.put(std::vector<Event>(events.begin(), events.end()));
  return out.take();
}

ReceivedInput::ReceivedInput(BytesView bytes, const Metadata& metadata, std::span<const std::byte* const> objects) {
  ByteReader in(bytes);
  ViewReader views(in, objects);
  const auto head = in.get<Head>();
  iteration_ = head.iteration;
  in.get(feedback_);
  if (head.has_catalogue != 0) views.get(catalogue_);
  blocks_.resize(in.get<std::size_t>());
  for (BlockViews& list : blocks_) views.get(list);
  pieces_.resize(in.get<std::size_t>());
  for (BlockViews& list : pieces_) views.get(list);
  entries_.resize(in.get<std::size_t>());
  for (EntryViews& entry : entries_) {
    in.get(entry.variable);
    entry.views.resize(in.get<std::size_t>(), nullptr);
    for (const BlockViews*& list : entry.views) {
      const auto number = in.get<std::int64_t>();
      if (number < 0) continue;
      const auto n = static_cast<std::size_t>(number);
      list = n < blocks_.size() ? &blocks_[n] : &pieces_.at(n - blocks_.size());
    }
  }
  views.get(events_);
  input_ = std::make_unique<LocalInput>(LocalInput{iteration_, metadata, blocks_, head.pass, feedback_,
                                                   head.has_catalogue != 0 ? &catalogue_ : nullptr, entries_,
                                                   head.server, head.servers, events_});
}

namespace {

/// The memory of an array: `bytes`, which begin `first` bytes (0 or less) after its data.
struct Span {
  std::int64_t first = 0;
  std::uint64_t bytes = 0;
};

Span span_of(const ArrayView& array) {
  std::int64_t low = 0, high = 0;
  for (std::size_t a = 0; a < 4; ++a) {
    const Index count = a < 3 ? array.box.hi[a] - array.box.lo[a] : array.components;
    if (count <= 0) return {};
    const Index far = (count - 1) * array.strides[a];
    (far < 0 ? low : high) += far;
  }
  const auto size = static_cast<std::int64_t>(size_of(array.type));
  return {low * size, static_cast<std::uint64_t>((high - low + 1) * size)};
}

/// The order in which an array is packed.
Order packing_order(const ArrayView& array) {
  return std::abs(array.strides[0]) <= std::abs(array.strides[2]) ? Order::column : Order::row;
}

}  // namespace

ValuePlace PlacedValues::place(const ArrayView& array) {
  const Span span = span_of(array);
  if (!array.data || span.bytes == 0) return {-1, 0, 0, array.strides};
  const std::byte* const data = static_cast<const std::byte*>(array.data);
  const std::byte* const first = data + span.first;
  for (std::size_t n = 0; n < objects_.size(); ++n) {
    const SharedObject& object = objects_[n];
    const bool inside = first >= object.data && first + span.bytes <= object.data + object.bytes;
    if (inside)
      return {static_cast<std::int32_t>(n) + 1, 0, static_cast<std::uint64_t>(data - object.data), array.strides};
  }
  const std::uint64_t dense = packed_bytes(array.box, array.components, array.type);
  const bool packed = dense < span.bytes;
  const auto [known, is_new] = known_.try_emplace(Key(first, span.bytes, dense, array.strides), copies_.size());
  if (is_new) {
    copies_.push_back({array, packed, bytes_, packed ? dense : span.bytes});
    bytes_ += round_up(copies_.back().bytes, PlacedValues::alignment);
  }
  const Copy& copy = copies_[known->second];
  if (packed) return {0, 0, copy.offset, packed_strides(array.box, array.components, packing_order(array))};
  return {0, 0, copy.offset + static_cast<std::uint64_t>(-span.first), array.strides};
}

void PlacedValues::copy(std::byte* to) const {
  for (const Copy& copy : copies_) {
    if (copy.packed) {
      pack(copy.array, copy.array.box, packing_order(copy.array), {to + copy.offset, copy.bytes});
    } else {
      const std::byte* const first = static_cast<const std::byte*>(copy.array.data) + span_of(copy.array).first;
      std::memcpy(to + copy.offset, first, copy.bytes);
    }
  }
}

}  // namespace sidestream
