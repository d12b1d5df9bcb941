// Receiving for standing orders. Each order has memory for `sets` iterations, used in turn.
//
// 1. order: allocates the memory; without it, no order is made and pieces are requested as before. Sends the order to
//    the holders, and an empty one to holders that the new order no longer needs.
// 2. take: small pieces are in a holder's packet; for the others receives are posted. A set is used again only when
//    nothing arrives for its previous iteration any more.
// 3. done, values: for an iteration that all holders have sent.
// 4. finished: nothing of any order can still arrive. Holders report this with `last_standing`.
#include "transport/mpi/standing_fetch.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/waiting.hpp"
#include "transport/mpi/source.hpp"
#include "transport/shared_memory/memory_limit.hpp"

namespace sidestream::mpi {

namespace {

bool equal(const Wanted& a, const Wanted& b) {
  return a.variable == b.variable && a.block == b.block && a.points == b.points;
}

void wait_for_all(std::vector<MPI_Request>& requests) {
  for (MPI_Request& request : requests) MPI_Wait(&request, MPI_STATUS_IGNORE);
  requests.clear();
}

}  // namespace

StandingFetch::~StandingFetch() {
  if (mpi_is_finalized()) return;
  for (auto& [number, order] : orders_) {
    for (Set& set : order->set) wait_for_all(set.requests);
  }
}

std::unique_ptr<StandingFetch::Order> StandingFetch::plan(std::span<const Wanted> wanted,
                                                          std::span<const int> holders) const {
  auto order = std::make_unique<Order>();
  order->wanted.assign(wanted.begin(), wanted.end());
  constexpr std::uint64_t line = 64;
  std::uint64_t together = 0;
  for (std::size_t n = 0; n < wanted.size(); ++n) {
    const ValueShape& shape = shapes_.at(static_cast<std::size_t>(wanted[n].variable));
    order->bytes.push_back(packed_bytes(wanted[n].points, shape.components, shape.type));
    order->at.push_back(together);
    together += (order->bytes.back() + line - 1) / line * line;
    order->holders[holders[n]].push_back(n);
  }
  // A server takes at most this fraction (1/16) of the free memory. A node may have many servers that allocate at the
  // same time, and the kernel would promise all of it to each of them.
  constexpr std::uint64_t part_of_memory = 16;
  if (together > shared_memory::memory_left().bytes / part_of_memory / sets) throw std::bad_alloc();
  for (Set& set : order->set) {
    set.memory.reset(static_cast<std::byte*>(std::aligned_alloc(line, std::max(line, together))));
    if (!set.memory) throw std::bad_alloc();
  }
  return order;
}

void StandingFetch::order(std::int64_t index, std::span<const Wanted> wanted, std::span<const int> holders,
                          SendQueue& send_queue) {
  std::unique_ptr<Order> fresh;
  try {
    fresh = plan(wanted, holders);
  } catch (const std::bad_alloc&) {
    return;
  }
  drop_earlier();
  fresh->first = index + 1;
  ++number_;
  not_taken_ += fresh->holders.size();
  for (const auto& [holder, pieces] : fresh->holders) {
    retry_while_out_of_memory([&, holder = holder, &pieces = pieces] {
      std::vector<WantedItem> items;
      for (const std::size_t n : pieces) {
        items.push_back({wanted[n].block.id, wanted[n].variable, 0, wanted[n].points});
      }
      send_queue.send(comm_->comm(), holder, packet_tag,
                      write_packet(PacketKind::order, fresh->first, number_, std::span<const WantedItem>(items)));
    });
  }
  // Cancels the previous order at holders that the new one no longer needs.
  const auto before = orders_.find(number_ - 1);
  if (before != orders_.end()) {
    for (const auto& [holder, pieces] : before->second->holders) {
      if (fresh->holders.contains(holder)) continue;
      ++not_taken_;
      retry_while_out_of_memory([&, holder = holder] {
        send_queue.send(comm_->comm(), holder, packet_tag,
                        write_packet(PacketKind::order, fresh->first, number_, BytesView{}));
      });
    }
  }
  retry_while_out_of_memory([&] { orders_[number_]; });
  orders_[number_] = std::move(fresh);
}

bool StandingFetch::covers(std::int64_t index, std::span<const Wanted> wanted) const {
  const auto found = orders_.find(number_);
  return found != orders_.end() && index >= found->second->first &&
         std::equal(wanted.begin(), wanted.end(), found->second->wanted.begin(), found->second->wanted.end(), equal);
}

/// Drops orders before the newest: nothing more arrives for them.
void StandingFetch::drop_earlier() {
  std::erase_if(orders_, [&](auto& numbered) {
    if (numbered.first == number_) return false;
    auto& sets_of = numbered.second->set;
    return std::all_of(sets_of.begin(), sets_of.end(), [](Set& set) { return test_all(set.requests); });
  });
}

bool StandingFetch::finished() {
  bool here = taken();
  for (auto& [number, order] : orders_) {
    for (Set& set : order->set) here &= test_all(set.requests);
    if (number == number_) here &= order->parted == order->holders.size();
  }
  return here;
}

void StandingFetch::take(const Packet& packet) {
  if (packet.header.kind == PacketKind::order_taken) {
    --not_taken_;
    return;
  }
  if (packet.header.kind == PacketKind::last_standing) {
    ++orders_.at(packet.header.number)->parted;
    return;
  }
  Order& order = *orders_.at(packet.header.number);
  Set& set = set_of(order, packet.header.index);
  if (set.index != packet.header.index) {
    // Values sent for an iteration that nobody used must be received before their memory is used again.
    wait_for_all(set.requests);
    set.index = packet.header.index;
    retry_while_out_of_memory([&] { set.values.assign(order.wanted.size(), nullptr); });
    set.answers = 0;
    set.failed = -1;
  }
  ++set.answers;
  take_values(packet, order, set);
}

/// Receives one holder's values. The packet begins with a byte for each piece, as an answer does; small pieces follow
/// in it, large ones in messages of their own.
void StandingFetch::take_values(const Packet& packet, Order& order, Set& set) {
  const std::vector<std::size_t>& pieces = order.holders.at(packet.from);
  const std::span there = std::span(packet.body).first(std::min(packet.body.size(), pieces.size()));
  if (std::find(there.begin(), there.end(), no_memory) != there.end()) {
    set.failed = packet.from;
    return;
  }
  std::size_t at = pieces.size();
  for (std::size_t p = 0; p < pieces.size(); ++p) {
    const std::uint64_t bytes = order.bytes[pieces[p]];
    const bool is_there = p < there.size() && there[p] == std::byte{1};
    if (!is_there) continue;
    std::byte* const to = set.memory.get() + order.at[pieces[p]];
    set.values[pieces[p]] = to;
    bytes_ += bytes;
    if (!is_small(bytes)) {
      retry_while_out_of_memory([&] { post_receive(comm_->comm(), packet.from, value_tag, to, bytes, set.requests); });
      continue;
    }
    if (packet.body.size() - at < bytes) {
      fail(Code::system, "rank {} sent {} bytes for an order, which is too few; start all ranks with the same library",
           packet.from, packet.body.size());
    }
    if (bytes > 0) std::memcpy(to, packet.body.data() + at, bytes);
    at += bytes;
  }
}

bool StandingFetch::done(std::int64_t index) {
  Order& order = *orders_.at(number_);
  Set& set = set_of(order, index);
  if (order.holders.empty()) return true;
  return set.index == index && set.answers == order.holders.size() && test_all(set.requests);
}

int StandingFetch::failed(std::int64_t index) const {
  const Order& order = *orders_.at(number_);
  return order.holders.empty() ? -1 : order.set[static_cast<std::size_t>(index) % sets].failed;
}

const std::vector<const std::byte*>& StandingFetch::values(std::int64_t index) const {
  return orders_.at(number_)->set[static_cast<std::size_t>(index) % sets].values;
}

}  // namespace sidestream::mpi
