// Answers to requests for values and ranges, and standing orders.
//
// 1. request: requests wait here until their iteration is complete; a new order replaces the same server's previous
//    one.
// 2. prepare: finds the pieces and allocates memory for those that must be packed, before anything is promised. Small
//    pieces go together in one message, whole arrays from their place, others packed.
// 3. An answer has a byte for each piece: sent, absent, or no memory. The values follow.
// 4. follow_orders: sends ordered iterations as they become complete, at most `standing_window` beyond the last freed
//    one. It skips refused ones. After the last iteration it tells the server so.
// 5. move: performs all of this without waiting, and frees packed memory when its messages have left.
#include "transport/mpi/source.hpp"

#include <limits>

#include "data/region_ranges.hpp"
#include "sidestream/error.hpp"
#include "sidestream/kit/base/waiting.hpp"
#include "transport/mpi/packet.hpp"
#include "transport/mpi/standing_fetch.hpp"

namespace sidestream::mpi {

std::uint64_t piece_bytes(const BlockRecord& record, const Box& points) {
  return packed_bytes(points, record.components, record.type);
}

void pack_piece(const Arrival& arrival, const Box& points, std::byte* out) {
  pack(arrival.record.view(arrival.data), points, arrival.record.order, {out, piece_bytes(arrival.record, points)});
}

Source::Source(std::shared_ptr<MpiCommunicator> comm, ValueStore& value_store)
    : comm_(std::move(comm)), value_store_(value_store), packs_(std::numeric_limits<std::uint64_t>::max()) {}

Source::~Source() {
  if (mpi_is_finalized()) return;
  for (Sending& sending : sending_) {
    for (MPI_Request& request : sending.requests) MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

void Source::request(Packet& packet) {
  if (packet.header.kind == PacketKind::order) return take_order(packet);
  if (packet.header.kind == PacketKind::ranges) remember(packet);
  waiting_.emplace_back();
  waiting_.back() = std::move(packet);
}

/// Keeps a server's question, or restores it: a server sends an unchanged question as an empty body.
void Source::remember(Packet& packet) {
  if (packet.body.empty()) {
    packet.body = asked_.at(packet.from);
  } else {
    asked_[packet.from] = packet.body;
  }
}

/// Takes a server's newest order, which replaces its previous one.
void Source::take_order(const Packet& packet) {
  orders_.reserve(orders_.size() + 1);  // reserved first, because the server sends its order only once
  std::erase_if(orders_, [&](const Order& order) { return order.peer == packet.from; });
  Order order{packet.from, packet.header.number, packet.header.index, packet.records<WantedItem>()};
  tell(order, PacketKind::order_taken);
  if (!order.items.empty()) orders_.push_back(std::move(order));
}

void Source::tell(const Order& order, PacketKind kind) {
  send_queue_.send(comm_->comm(), order.peer, packet_tag, write_packet(kind, order.next, order.number, BytesView{}));
}

/// Sends ordered iterations one by one, as far as servers have memory; see standing_window.
bool Source::follow_orders() {
  bool any = false;
  for (Order& order : orders_) {
    order.next = std::max(order.next, freed_);  // iterations that are free are needed no longer
    for (; order.next < freed_ + standing_window && value_store_.is_complete(order.next); ++order.next) {
      if (value_store_.is_refused(order.next)) continue;
      send_standing(order);
      any = true;
    }
  }
  // Servers wait for this before they stop listening: no later call receives values of a refused iteration.
  std::erase_if(orders_, [&](const Order& order) {
    if (order.next < closed_at_) return false;
    retry_while_out_of_memory([&] { tell(order, PacketKind::last_standing); });
    return true;
  });
  return any;
}

bool Source::busy_with(std::int64_t index) const {
  return std::any_of(sending_.begin(), sending_.end(), [&](const Sending& s) { return s.index == index; }) ||
         std::any_of(waiting_.begin(), waiting_.end(), [&](const Packet& l) { return l.header.index == index; });
}

bool Source::busy_up_to(std::int64_t index) const {
  return std::any_of(sending_.begin(), sending_.end(), [&](const Sending& s) { return s.index <= index; }) ||
         std::any_of(waiting_.begin(), waiting_.end(), [&](const Packet& l) { return l.header.index <= index; });
}

std::uint64_t Source::take_bytes_sent(std::int64_t index) {
  const auto found = bytes_.find(index);
  if (found == bytes_.end()) return 0;
  const std::uint64_t bytes = found->second;
  bytes_.erase(found);
  return bytes;
}

/// Prepares what an answer needs before it can promise values: the place of each piece, and memory for packed ones.
struct Source::Prepared {
  std::vector<std::optional<Arrival>> found;
  std::vector<std::byte*> packed;  ///< by piece; null: sent from its place, or with the other small ones
  std::byte* together = nullptr;
  std::uint64_t together_bytes = 0, bytes = 0;
};

Source::Prepared Source::prepare(std::int64_t index, std::span<const WantedItem> items) {
  Prepared all;
  all.found.resize(items.size());
  all.packed.resize(items.size(), nullptr);
  try {
    for (std::size_t n = 0; n < items.size(); ++n) {
      const auto found = value_store_.find(index, items[n].variable, items[n].block);
      if (!found || !found->record.box.contains(items[n].points)) continue;
      const std::uint64_t bytes = piece_bytes(found->record, items[n].points);
      all.bytes += bytes;
      if (is_small(bytes)) {
        all.together_bytes += bytes;
      } else if (!(found->record.box == items[n].points)) {
        all.packed[n] = packs_.take(bytes);
      }
      all.found[n] = found;
    }
    if (all.together_bytes > 0) all.together = packs_.take(all.together_bytes);
  } catch (...) {
    for (std::byte* data : all.packed) packs_.give_back(data);
    throw;
  }
  return all;
}

void Source::send_pieces(int peer, std::span<const WantedItem> items, const Prepared& all, Sending& sending) {
  std::byte* at = all.together;
  for (std::size_t n = 0; n < items.size(); ++n) {
    const std::uint64_t bytes = all.found[n] ? piece_bytes(all.found[n]->record, items[n].points) : small_piece;
    if (!is_small(bytes)) continue;
    pack_piece(*all.found[n], items[n].points, at);
    at += bytes;
  }
  if (all.together) {
    sending.packed.push_back(all.together);
    retry_while_out_of_memory(
        [&] { post_send(comm_->comm(), peer, value_tag, all.together, all.together_bytes, sending.requests); });
  }
  send_large(peer, items, all, sending);
}

void Source::send_large(int peer, std::span<const WantedItem> items, const Prepared& all, Sending& sending) {
  for (std::size_t n = 0; n < items.size(); ++n) {
    const std::uint64_t bytes = all.found[n] ? piece_bytes(all.found[n]->record, items[n].points) : 0;
    if (is_small(bytes)) continue;
    if (all.packed[n]) {
      sending.packed.push_back(all.packed[n]);
      pack_piece(*all.found[n], items[n].points, all.packed[n]);
    }
    const std::byte* const data = all.packed[n] ? all.packed[n] : all.found[n]->data;
    retry_while_out_of_memory([&] { post_send(comm_->comm(), peer, value_tag, data, bytes, sending.requests); });
  }
}

/// Sends one iteration of an order. Small pieces are part of the packet.
void Source::send_standing(const Order& order) {
  const std::int64_t index = order.next;
  const std::size_t count = order.items.size();
  Bytes body;
  Prepared all;
  bool enough = true;
  retry_while_out_of_memory([&] {
    try {
      all = prepare(index, order.items);
    } catch (const Error&) {
      enough = false;
      all = {};
      all.found.resize(count);
    }
  });
  retry_while_out_of_memory([&] {
    body.assign(count, enough ? std::byte{0} : no_memory);
    for (std::size_t n = 0; n < count; ++n) {
      if (!all.found[n]) continue;
      body[n] = std::byte{1};
      const std::uint64_t bytes = piece_bytes(all.found[n]->record, order.items[n].points);
      if (!is_small(bytes)) continue;
      body.resize(body.size() + bytes);
      pack_piece(*all.found[n], order.items[n].points, body.data() + body.size() - bytes);
    }
  });
  packs_.give_back(all.together);
  retry_while_out_of_memory([&] { bytes_[index]; });
  bytes_[index] += all.bytes;
  retry_while_out_of_memory([&] {
    send_queue_.send(comm_->comm(), order.peer, packet_tag,
                     write_packet(PacketKind::standing, index, order.number, body));
  });
  retry_while_out_of_memory([&] { sending_.emplace_back(); });
  Sending& sending = sending_.back();
  sending.index = index;
  retry_while_out_of_memory([&] { sending.packed.reserve(count + 1); });
  send_large(order.peer, order.items, all, sending);
}

/// Answers a request. Waits while there is no memory for the answer, because the requester waits too.
void Source::answer_fetch(const Packet& packet) {
  std::vector<WantedItem> items;
  Bytes there;
  Prepared all;
  retry_while_out_of_memory([&] {
    items = packet.records<WantedItem>();
    there.assign(items.size(), std::byte{0});
  });
  retry_while_out_of_memory([&] {
    try {
      all = prepare(packet.header.index, items);
    } catch (const Error&) {
      there.assign(items.size(), no_memory);
      all = {};
      all.found.resize(items.size());
    }
  });
  for (std::size_t n = 0; n < items.size(); ++n) {
    if (all.found[n]) there[n] = std::byte{1};
  }
  retry_while_out_of_memory([&] { bytes_[packet.header.index]; });
  bytes_[packet.header.index] += all.bytes;
  retry_while_out_of_memory([&] {
    send_queue_.send(comm_->comm(), packet.from, packet_tag,
                     write_packet(PacketKind::answer, packet.header.index, packet.header.number, there));
  });
  retry_while_out_of_memory([&] { sending_.emplace_back(); });
  Sending& sending = sending_.back();
  sending.index = packet.header.index;
  retry_while_out_of_memory([&] { sending.packed.reserve(items.size() + 1); });
  send_pieces(packet.from, items, all, sending);
}

void Source::answer_ranges(const Packet& packet) {
  const std::int64_t index = packet.header.index;
  const RangeQuestion question = read_question(packet.body);
  MeasuredRanges measured;
  for (const RangeRequest& request : question.requests) {
    for (const Arrival& arrival : value_store_.of(index, request.variable)) {
      if (arrival.record.block.empty()) continue;
      BlockRange& range = measured.blocks.emplace_back();
      range.block = arrival.record.block.id;
      range.variable = request.variable;
      measure_range(arrival.record.view(arrival.data), arrival.record.points(), request.component, range);
    }
  }
  measured.regions = measure_regions(question.regions, [&](std::int32_t variable, std::int64_t block) {
    const std::optional<Arrival> found = value_store_.find(index, variable, block);
    return found ? found->record.view(found->data) : ArrayView{};
  });
  send_queue_.send(comm_->comm(), packet.from, packet_tag,
                   write_packet(PacketKind::range_answer, index, packet.header.number, write_ranges(measured)));
}

bool Source::move() {
  bool active = false;
  for (auto it = waiting_.begin(); it != waiting_.end();) {
    if (!value_store_.is_complete(it->header.index)) {
      ++it;
      continue;
    }
    if (it->header.kind == PacketKind::fetch) {
      answer_fetch(*it);
    } else {
      retry_while_out_of_memory([&] { answer_ranges(*it); });
    }
    it = waiting_.erase(it);
    active = true;
  }
  active |= follow_orders();
  active |= !send_queue_.sweep();
  sending_.remove_if([&](Sending& sending) {
    active = true;
    if (!test_all(sending.requests)) return false;
    for (std::byte* packed : sending.packed) packs_.give_back(packed);
    return true;
  });
  return active;
}

}  // namespace sidestream::mpi
