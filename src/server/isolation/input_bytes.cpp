#include "server/isolation/input_bytes.hpp"

#include <algorithm>
#include <cstddef>

#include "data/event_bytes.hpp"
#include "sidestream/kit/base/records.hpp"

namespace sidestream {

namespace {

using BlockViews = std::vector<BlockView>;

/// An array but for its values.
struct ArrayHead {
  ValuePlace place;
  Box box;
  Type type;
  MemorySpace space;
  std::int32_t components;
  std::int32_t reserved = 0;
};

void put(ByteWriter& out, const ArrayView& array, PlacedValues& values) {
  out.put(ArrayHead{values.place(array), array.box, array.type, array.space, array.components});
}

ArrayView get_array(ByteReader& in, std::span<const std::byte* const> objects) {
  const auto head = in.get<ArrayHead>();
  ArrayView array{nullptr, head.type, head.space, head.box, head.components, head.place.strides};
  if (head.place.object >= 0) {
    array.data = objects[static_cast<std::size_t>(head.place.object)] + head.place.offset;
  }
  return array;
}

void put(ByteWriter& out, const BlockView& view, PlacedValues& values) {
  out.put(view.block);
  out.put(view.points);
  out.put(view.owned);
  put(out, view.array, values);
  out.put(view.copy);
  out.put(view.halo.size());
  for (const HaloPiece& piece : view.halo) {
    out.put(piece.box);
    put(out, piece.array, values);
  }
  out.put(view.covered);
  put(out, view.ghosts, values);
  out.put(view.absent);
}

void get(ByteReader& in, BlockView& view, std::span<const std::byte* const> objects) {
  in.get(view.block);
  in.get(view.points);
  in.get(view.owned);
  view.array = get_array(in, objects);
  in.get(view.copy);
  for (auto left = in.get<std::size_t>(); left > 0; --left) {
    HaloPiece& piece = view.halo.emplace_back();
    in.get(piece.box);
    piece.array = get_array(in, objects);
  }
  in.get(view.covered);
  view.ghosts = get_array(in, objects);
  in.get(view.absent);
}

void put(ByteWriter& out, const BlockViews& views, PlacedValues& values) {
  out.put(views.size());
  for (const BlockView& view : views) put(out, view, values);
}

void get(ByteReader& in, BlockViews& views, std::span<const std::byte* const> objects) {
  for (auto left = in.get<std::size_t>(); left > 0; --left) get(in, views.emplace_back(), objects);
}

/// The lists that entries point at: those of `blocks` by variable, then others, by number.
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
  ByteWriter out;
  out.put(input.iteration);
  out.put(input.pass);
  out.put(input.server);
  out.put(input.servers);
  out.put(Bytes(input.feedback.begin(), input.feedback.end()));
  out.put(input.catalogue != nullptr);
  if (input.catalogue) {
    out.put(input.catalogue->global);
    out.put(input.catalogue->blocks);
    out.put(input.catalogue->ranges);
  }
  const Lists lists(input);
  static const BlockViews none;
  for (std::size_t v = 0; v < input.blocks.size(); ++v) put(out, lists.used(v) ? input.blocks[v] : none, values);
  out.put(lists.others().size());
  for (const BlockViews* views : lists.others()) put(out, *views, values);
  out.put(input.entries.size());
  for (const EntryViews& entry : input.entries) {
    out.put(entry.variable);
    out.put(entry.views.size());
    for (const BlockViews* views : entry.views) out.put(lists.number(views));
  }
  out.put(input.events.size());
  for (const Event& event : input.events) put_event(out, event);
  return out.take();
}

ReceivedInput::ReceivedInput(BytesView bytes, const Metadata& metadata, std::span<const std::byte* const> objects) {
  ByteReader in(bytes);
  in.get(iteration_);
  const auto pass = in.get<int>(), server = in.get<int>(), servers = in.get<int>();
  in.get(feedback_);
  in.get(has_catalogue_);
  if (has_catalogue_) {
    in.get(catalogue_.global);
    in.get(catalogue_.blocks);
    in.get(catalogue_.ranges);
  }
  blocks_.resize(metadata.variables.size());
  for (BlockViews& views : blocks_) get(in, views, objects);
  pieces_.resize(in.get<std::size_t>());
  for (BlockViews& views : pieces_) get(in, views, objects);
  entries_.resize(in.get<std::size_t>());
  for (EntryViews& entry : entries_) {
    in.get(entry.variable);
    entry.views.resize(in.get<std::size_t>(), nullptr);
    for (const BlockViews*& views : entry.views) {
      const auto number = in.get<std::int64_t>();
      if (number < 0) continue;
      const auto n = static_cast<std::size_t>(number);
      views = n < blocks_.size() ? &blocks_[n] : &pieces_.at(n - blocks_.size());
    }
  }
  events_.resize(in.get<std::size_t>());
  for (Event& event : events_) event = get_event(in);
  input_ = std::make_unique<LocalInput>(LocalInput{iteration_, metadata, blocks_, pass, feedback_,
                                                   has_catalogue_ ? &catalogue_ : nullptr, entries_, server, servers,
                                                   events_});
}

}  // namespace sidestream
