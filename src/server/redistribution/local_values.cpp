#include "server/redistribution/local_values.hpp"

#include <algorithm>
#include <map>

#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/records.hpp"

namespace sidestream {

namespace {

/// Alignment of values in messages, so that they can be read in place.
constexpr std::uint64_t alignment = 8;

/// Address of arrays without values, which distinguishes them from missing ones.
constexpr std::byte nothing{};

}  // namespace

LocalValues::LocalValues(const Metadata& metadata, std::span<const Wanted> wanted,
                         std::span<const std::int32_t> holders, Communicator& servers)
    : metadata_(metadata) {
  std::map<int, std::vector<std::size_t>> asked;
  for (std::size_t n = 0; n < wanted.size(); ++n) {
    wanted_.push_back({wanted[n].block.id, wanted[n].variable, 0, wanted[n].points});
    if (holders[n] == servers.rank()) {
      mine_.emplace_back(n, 0);
      keys_.emplace_back(wanted[n].variable, wanted[n].block.id);
    } else {
      asked[holders[n]].push_back(n);
    }
  }
  asked_.assign(asked.begin(), asked.end());
  std::int64_t any = asked_.empty() ? 0 : 1;
  if (servers.size() > 1) servers.maximum(std::span(&any, 1));
  any_ = any != 0;
  if (any_) {
    std::vector<MemberMessage> questions;
    for (const auto& [server, positions] : asked_) {
      std::vector<Order> orders;
      for (const std::size_t n : positions) orders.push_back(wanted_[n]);
      questions.push_back({server, bytes_of(orders)});
    }
    for (const MemberMessage& message : servers.exchange(std::move(questions))) {
      std::vector<Order>& orders =
          orders_.emplace_back(Orders{message.member, records_of<Order>(message.bytes), {}}).orders;
      for (const Order& order : orders) keys_.emplace_back(order.variable, order.block);
    }
  }
  std::sort(keys_.begin(), keys_.end());
  keys_.erase(std::unique(keys_.begin(), keys_.end()), keys_.end());
  for (auto& [n, slot_of_n] : mine_) slot_of_n = slot(wanted_[n]);
  for (Orders& one : orders_) {
    for (const Order& order : one.orders) one.slots.push_back(slot(order));
  }
}

/// Position of a key, or keys_.size() if it is not needed here.
std::size_t LocalValues::slot(const Key& key) const {
  const auto at = std::lower_bound(keys_.begin(), keys_.end(), key);
  return at == keys_.end() || *at != key ? keys_.size() : static_cast<std::size_t>(at - keys_.begin());
}

/// Finds the published arrays, by slot.
std::vector<ArrayView> LocalValues::find(std::span<const Arrival> arrivals, std::span<const Arrival> persistent) const {
  std::vector<ArrayView> there(keys_.size());
  guesses_.resize(arrivals.size() + persistent.size(), keys_.size());
  auto guess = guesses_.begin();
  for (const std::span<const Arrival> some : {persistent, arrivals}) {
    for (const Arrival& arrival : some) {
      const Key key(arrival.record.variable, arrival.record.block.id);
      if (*guess >= keys_.size() || keys_[*guess] != key) *guess = slot(key);
      if (*guess < keys_.size()) there[*guess] = arrival.record.view(arrival.data ? arrival.data : &nothing);
      ++guess;
    }
  }
  return there;
}

namespace {

/// True if `points` were published. A persistent array may date from an earlier shape of the block.
bool has(const ArrayView& there, const Box& points) { return there.data && there.box.contains(points); }

}  // namespace

/// Builds the answer to orders: one byte for each, 1 if its values follow.
Bytes LocalValues::answer(const Orders& asked, const std::vector<ArrayView>& there) const {
  const std::vector<Order>& orders = asked.orders;
  std::uint64_t size = round_up(orders.size(), alignment);
  for (std::size_t n = 0; n < orders.size(); ++n) {
    const ArrayView& array = there[asked.slots[n]];
    if (!has(array, orders[n].points)) continue;
    size += round_up(packed_bytes(orders[n].points, array.components, array.type), alignment);
  }
  Bytes message(size);
  std::uint64_t at = round_up(orders.size(), alignment);
  for (std::size_t n = 0; n < orders.size(); ++n) {
    const ArrayView& array = there[asked.slots[n]];
    if (!has(array, orders[n].points)) continue;
    message[n] = std::byte{1};
    const std::uint64_t bytes = packed_bytes(orders[n].points, array.components, array.type);
    const Variable& variable = metadata_.variables[static_cast<std::size_t>(orders[n].variable)];
    pack(array, orders[n].points, variable.order, std::span(message).subspan(at, bytes));
    at += round_up(bytes, alignment);
  }
  return message;
}

void LocalValues::take(const MemberMessage& message, std::vector<ArrayView>& values) const {
  const auto asked = std::lower_bound(asked_.begin(), asked_.end(), message.member,
                                      [](const auto& one, int server) { return one.first < server; });
  if (asked == asked_.end() || asked->first != message.member) {
    fail(Code::internal, "server {} sent values that nobody asked it for", message.member);
  }
  std::uint64_t at = round_up(asked->second.size(), alignment);
  for (std::size_t n = 0; n < asked->second.size(); ++n) {
    if (message.bytes.at(n) == std::byte{0}) continue;
    const Order& order = wanted_[asked->second[n]];
    const Variable& variable = metadata_.variables[static_cast<std::size_t>(order.variable)];
    ArrayView& array = values[asked->second[n]];
    array.data = message.bytes.data() + at;
    array.type = variable.type;
    array.box = order.points;
    array.components = variable.components;
    array.strides = packed_strides(order.points, variable.components, variable.order);
    at += round_up(packed_bytes(order.points, variable.components, variable.type), alignment);
  }
  if (at != message.bytes.size()) {
    fail(Code::internal, "server {} sent {} bytes of values, expected {}", message.member, message.bytes.size(), at);
  }
}

LocalValues::Result LocalValues::get(std::span<const Arrival> arrivals, std::span<const Arrival> persistent,
                                     Communicator& servers) const {
  Result result;
  result.values.resize(wanted_.size());
  const std::vector<ArrayView> there = find(arrivals, persistent);
  for (const auto& [n, at] : mine_) {
    if (has(there[at], wanted_[n].points)) result.values[n] = there[at];
  }
  if (!any_) return result;
  std::vector<MemberMessage> answers;
  for (const Orders& asked : orders_) answers.push_back({asked.server, answer(asked, there)});
  result.messages = servers.exchange(std::move(answers));
  for (const MemberMessage& message : result.messages) take(message, result.values);
  return result;
}

}  // namespace sidestream
