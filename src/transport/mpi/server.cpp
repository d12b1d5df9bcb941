#include "transport/mpi/server.hpp"

#include <time.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/polite_wait.hpp"
#include "base/timer.hpp"

namespace sidestream::mpi {

Server::Server(std::shared_ptr<MpiCommunicator> comm, std::vector<int> clients)
    : comm_(std::move(comm)),
      ranks_(std::move(clients)),
      store_(static_cast<int>(ranks_.size())),
      pool_(std::numeric_limits<std::uint64_t>::max()) {}

void Server::take_block(int client, const BlockRecord& record) {
  const std::int64_t iteration = store_.current(client);
  const int source = ranks_[static_cast<std::size_t>(client)];
  if (!record.persistent) {
    values_[iteration].push_back({source, record.bytes, nullptr, store_.inbox(iteration).blocks.size()});
    return store_.add(client, Arrival{record, nullptr});
  }
  std::byte* data = pool_.take(record.bytes);
  persistent_values_[iteration].push_back({source, record.bytes, data, 0});
  std::byte*& kept = persistent_data_[{record.variable, record.block.id}];
  if (kept) replaced_.emplace(iteration, kept);
  kept = data;
  store_.add(client, Arrival{record, data});
}

void Server::take(int client, const Message& message) {
  if (!store_.take(client, message)) take_block(client, message.block);
}

bool Server::take_manifests() {
  bool any = false;
  Bytes bytes;
  int source = 0;
  while (take_message(comm_->comm(), manifest_tag, bytes, source)) {
    const auto client = std::lower_bound(ranks_.begin(), ranks_.end(), source) - ranks_.begin();
    for (const Message& message : decode_manifest(bytes)) take(static_cast<int>(client), message);
    any = true;
  }
  outbox_.sweep();
  return any;
}

bool Server::receive(std::chrono::microseconds limit) {
  const auto deadline = Clock::now() + limit;
  long pause_ns = 5'000;
  for (;;) {
    if (take_manifests()) return true;
    if (Clock::now() >= deadline) return false;
    const timespec pause{0, pause_ns};
    nanosleep(&pause, nullptr);
    pause_ns = std::min(200'000L, pause_ns * 2);
  }
}

void Server::receive_values(const std::vector<Expected>& expected, int tag) {
  std::vector<MPI_Request> requests;
  for (const Expected& value : expected) {
    post_receive(comm_->comm(), value.source, tag, value.data, value.bytes, requests);
  }
  for (MPI_Request& request : requests) polite_wait(request);
}

bool Server::advance(std::int64_t index) {
  const auto last = persistent_values_.upper_bound(index);
  for (auto it = persistent_values_.begin(); it != last; ++it) receive_values(it->second, persistent_tag);
  persistent_values_.erase(persistent_values_.begin(), last);
  return store_.advance(index);
}

std::vector<Arrival> Server::fetch(std::int64_t index, std::span<const Wanted>) {
  fetch_all(index);
  return {};
}

void Server::fetch_all(std::int64_t index) {
  const auto found = values_.find(index);
  if (found == values_.end()) return;
  std::vector<Arrival>& arrivals = store_.inbox(index).blocks;
  for (Expected& value : found->second) {
    value.data = pool_.take(value.bytes);
    arrivals[value.place].data = value.data;
  }
  receive_values(found->second, value_tag);
  values_.erase(found);
}

void Server::release(std::int64_t index, Outcome outcome) {
  // Messages of one sender arrive in order: values nobody asked for must be taken out of the way of later ones.
  fetch_all(index);
  for (const Arrival& arrival : store_.inbox(index).blocks) pool_.give_back(const_cast<std::byte*>(arrival.data));
  store_.drop(index);
  const auto last = replaced_.upper_bound(index);
  for (auto it = replaced_.begin(); it != last; ++it) pool_.give_back(it->second);
  replaced_.erase(replaced_.begin(), last);
  const Verdict verdict{index, static_cast<std::int32_t>(outcome), comm_->rank()};
  Bytes bytes(sizeof verdict);
  std::memcpy(bytes.data(), &verdict, sizeof verdict);
  for (const int client : ranks_) outbox_.send(comm_->comm(), client, verdict_tag, bytes);
  outbox_.sweep();
}

void Server::post_failure(const std::string& message) {
  const auto* at = reinterpret_cast<const std::byte*>(message.data());
  for (const int client : ranks_) outbox_.send(comm_->comm(), client, failure_tag, Bytes(at, at + message.size()));
}

}  // namespace sidestream::mpi
