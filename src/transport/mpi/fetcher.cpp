#include "transport/mpi/fetcher.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>

#include "base/waiting.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "transport/mpi/source.hpp"
#include "transport/shared_memory/memory_limit.hpp"

namespace sidestream::mpi {

Fetcher::Fetcher(std::shared_ptr<MpiCommunicator> comm, std::vector<ValueShape> shapes)
    : comm_(std::move(comm)), shapes_(std::move(shapes)), pool_(std::numeric_limits<std::uint64_t>::max()) {}

Fetcher::~Fetcher() {
  if (mpi_is_finalized()) return;
  for (MPI_Request& request : requests_) MPI_Wait(&request, MPI_STATUS_IGNORE);
}

std::uint64_t Fetcher::bytes_of_piece(std::size_t n) const {
  const ValueShape& shape = shapes_.at(static_cast<std::size_t>(wanted_[n].variable));
  return packed_bytes(wanted_[n].points, shape.components, shape.type);
}

std::byte* Fetcher::memory(std::uint64_t bytes) { return taken_.emplace_back(pool_.take(bytes)); }

/// Takes values that lie in this process: whole arrays are read in place, parts are copied.
void Fetcher::take_own(std::int64_t index, std::size_t n, const ValueStore& own) {
  const auto found = own.find(index, wanted_[n].variable, wanted_[n].block.id);
  if (!found || !found->record.box.contains(wanted_[n].points)) return;
  if (found->record.box == wanted_[n].points) {
    values_[n] = found->data;
    return;
  }
  std::byte* at = memory(bytes_of_piece(n));
  pack_piece(*found, wanted_[n].points, at);
  values_[n] = at;
}

void Fetcher::ask(std::int64_t index, std::span<const Wanted> wanted, std::span<const int> holders,
                  const ValueStore& own, SendQueue& send_queue) {
  forget_round();
  ++number_;
  std::map<int, std::vector<WantedItem>> items;
  const std::size_t before = taken_.size();
  try {
    wanted_.assign(wanted.begin(), wanted.end());
    values_.assign(wanted.size(), nullptr);
    for (std::size_t n = 0; n < wanted.size(); ++n) {
      if (holders[n] == comm_->rank()) {
        take_own(index, n, own);
        continue;
      }
      items[holders[n]].push_back({wanted[n].block.id, wanted[n].variable, 0, wanted[n].points});
      asked_[holders[n]].pieces.push_back(n);
    }
    // Reserves all memory before the first request, because every value that was requested must be received.
    for (auto& [holder, asked] : asked_) reserve(asked);
  } catch (...) {
    give_back_from(before);
    forget_round();
    throw;
  }
  for (const auto& [holder, list] : items) {
    retry_while_out_of_memory([&] {
      send_queue.send(comm_->comm(), holder, packet_tag,
                      write_packet(PacketKind::fetch, index, number_, std::span<const WantedItem>(list)));
    });
  }
}

void Fetcher::reserve(Asked& asked) {
  std::uint64_t together = 0;
  for (const std::size_t n : asked.pieces) {
    const std::uint64_t bytes = bytes_of_piece(n);
    if (is_small(bytes)) {
      together += bytes;
    } else {
      asked.large.push_back(memory(bytes));
    }
  }
  if (together > 0) asked.together = memory(together);
}

bool Fetcher::take(const Packet& answer) {
  if (answer.header.number != number_) return false;
  Asked& asked = asked_.at(answer.from);
  if (answer.body.size() != asked.pieces.size()) {
    fail(Code::system, "rank {} answered {} pieces where {} were asked for", answer.from, answer.body.size(),
         asked.pieces.size());
  }
  asked.answered = true;
  if (std::find(answer.body.begin(), answer.body.end(), no_memory) != answer.body.end()) {
    failed_ = answer.from;
    return true;
  }
  std::uint64_t together = 0;
  for (std::size_t p = 0; p < asked.pieces.size(); ++p) {
    const std::uint64_t bytes = bytes_of_piece(asked.pieces[p]);
    if (answer.body[p] == std::byte{0}) continue;
    bytes_ += bytes;
    if (is_small(bytes)) together += bytes;
  }
  std::byte* at = asked.together;
  // The holder has promised these values, so they must be received.
  if (together > 0)
    retry_while_out_of_memory([&] { post_receive(comm_->comm(), answer.from, value_tag, at, together, requests_); });
  auto next_large = asked.large.begin();
  for (std::size_t p = 0; p < asked.pieces.size(); ++p) {
    const std::size_t n = asked.pieces[p];
    const std::uint64_t bytes = bytes_of_piece(n);
    std::byte* const data = is_small(bytes) ? nullptr : *next_large++;
    if (answer.body[p] == std::byte{0}) continue;
    if (is_small(bytes)) {
      values_[n] = at;
      at += bytes;
      continue;
    }
    retry_while_out_of_memory([&] { post_receive(comm_->comm(), answer.from, value_tag, data, bytes, requests_); });
    values_[n] = data;
  }
  return true;
}

bool Fetcher::done() {
  const bool answered = std::all_of(asked_.begin(), asked_.end(), [](const auto& a) { return a.second.answered; });
  return test_all(requests_) && answered;
}

void Fetcher::give_back_from(std::size_t first) noexcept {
  for (std::size_t n = first; n < taken_.size(); ++n) pool_.give_back(taken_[n]);
  taken_.resize(first);
}

void Fetcher::release() {
  give_back_from(0);
  forget_round();
}

void Fetcher::forget_round() noexcept {
  wanted_.clear();
  values_.clear();
  asked_.clear();
  failed_ = -1;
}

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
  // A node may have many servers, which all allocate at the same time; the kernel would promise each of them
  // everything.
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
