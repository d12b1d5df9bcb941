#include "server/local_values.hpp"

#include <algorithm>
#include <cstring>
#include <map>

#include "base/checked.hpp"
#include "base/fail.hpp"

namespace sidestream {

namespace {

/// Values in messages begin at multiples of it, so that they can be read in place.
constexpr std::uint64_t alignment = 8;

/// What an array without values points to, so that it is told from one that is not there.
constexpr std::byte nothing{};

}  // namespace

LocalValues::LocalValues(const Metadata& metadata, std::span<const Wanted> wanted,
                         std::span<const std::int32_t> holders, Communicator& servers)
    : metadata_(metadata) {
  std::map<int, std::vector<std::size_t>> asked;
  for (std::size_t n = 0; n < wanted.size(); ++n) {
    wanted_.push_back({wanted[n].block.id, wanted[n].variable, 0, wanted[n].points});
    if (holders[n] == servers.rank()) {
      mine_.push_back(n);
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
      const auto bytes = std::as_bytes(std::span(orders));
      questions.push_back({server, Bytes(bytes.begin(), bytes.end())});
    }
    for (const MemberMessage& message : servers.exchange(std::move(questions))) {
      std::vector<Order>& orders = orders_.emplace_back(message.member, std::vector<Order>()).second;
      orders.resize(message.bytes.size() / sizeof(Order));
      std::memcpy(static_cast<void*>(orders.data()), message.bytes.data(), orders.size() * sizeof(Order));
      for (const Order& order : orders) keys_.emplace_back(order.variable, order.block);
    }
  }
  std::sort(keys_.begin(), keys_.end());
  keys_.erase(std::unique(keys_.begin(), keys_.end()), keys_.end());
}

/// The position of a key; that of the end if nobody looks for it.
std::size_t LocalValues::slot(const Key& key) const {
  const auto at = std::lower_bound(keys_.begin(), keys_.end(), key);
  return at == keys_.end() || *at != key ? keys_.size() : static_cast<std::size_t>(at - keys_.begin());
}

/// By key what was published.
std::vector<ArrayView> LocalValues::find(std::span<const Arrival> arrivals, std::span<const Arrival> persistent) const {
  std::vector<ArrayView> there(keys_.size());
  for (const std::span<const Arrival> some : {persistent, arrivals}) {
    for (const Arrival& arrival : some) {
      const std::size_t n = slot({arrival.record.variable, arrival.record.block.id});
      if (n < keys_.size()) there[n] = arrival.record.view(arrival.data ? arrival.data : &nothing);
    }
  }
  return there;
}

/// What was published of an order, or null. An array that was kept may be of a block that has changed.
const ArrayView* LocalValues::here(const std::vector<ArrayView>& there, const Order& order) const {
  const std::size_t n = slot({order.variable, order.block});
  return there[n].data && there[n].box.contains(order.points) ? &there[n] : nullptr;
}

/// A byte for each order, 1 if its values follow.
Bytes LocalValues::answer(const std::vector<Order>& orders, const std::vector<ArrayView>& there) const {
  std::uint64_t size = round_up(orders.size(), alignment);
  for (const Order& order : orders) {
    const ArrayView* array = here(there, order);
    if (array) size += round_up(packed_bytes(order.points, array->components, array->type), alignment);
  }
  Bytes message(size);
  std::uint64_t at = round_up(orders.size(), alignment);
  for (std::size_t n = 0; n < orders.size(); ++n) {
    const ArrayView* array = here(there, orders[n]);
    if (!array) continue;
    message[n] = std::byte{1};
    const std::uint64_t bytes = packed_bytes(orders[n].points, array->components, array->type);
    const Variable& variable = metadata_.variables[static_cast<std::size_t>(orders[n].variable)];
    pack(*array, orders[n].points, variable.order, std::span(message).subspan(at, bytes));
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

LocalValues::Got LocalValues::get(std::span<const Arrival> arrivals, std::span<const Arrival> persistent,
                                  Communicator& servers) const {
  Got got;
  got.values.resize(wanted_.size());
  const std::vector<ArrayView> there = find(arrivals, persistent);
  for (const std::size_t n : mine_) {
    if (const ArrayView* array = here(there, wanted_[n])) got.values[n] = *array;
  }
  if (!any_) return got;
  std::vector<MemberMessage> answers;
  for (const auto& [server, orders] : orders_) answers.push_back({server, answer(orders, there)});
  got.messages = servers.exchange(std::move(answers));
  for (const MemberMessage& message : got.messages) take(message, got.values);
  return got;
}

}  // namespace sidestream
