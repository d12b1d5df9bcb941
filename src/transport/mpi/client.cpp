#include "transport/mpi/client.hpp"

#include <time.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/fail.hpp"
#include "base/timer.hpp"

namespace sidestream::mpi {

Client::Client(std::shared_ptr<MpiCommunicator> comm, Routes routes, std::uint64_t limit, WhenFull when_full,
               int max_in_flight)
    : comm_(std::move(comm)),
      routes_(std::move(routes)),
      uses_(limit),
      when_full_(when_full),
      max_in_flight_(max_in_flight) {}

std::int64_t Client::in_flight() const noexcept { return static_cast<std::int64_t>(flights_.size()); }

void Client::settle(const Verdict& verdict) {
  const auto found = flights_.find(verdict.index);
  if (found == flights_.end()) return;
  Flight& flight = found->second;
  ++flight.verdicts;
  flight.outcome = std::max(flight.outcome, static_cast<Outcome>(verdict.outcome));
}

/// Takes in verdicts, tests sends, frees what no one needs: all the communication of this client happens here.
void Client::move() {
  Bytes bytes;
  int source = 0;
  while (take_message(comm_->comm(), verdict_tag, bytes, source)) {
    Verdict verdict;
    std::memcpy(&verdict, bytes.data(), std::min(bytes.size(), sizeof verdict));
    settle(verdict);
  }
  while (take_message(comm_->comm(), failure_tag, bytes, source)) {
    failure_.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  outbox_.sweep();
  for (auto it = flights_.begin(); it != flights_.end();) {
    Flight& flight = it->second;
    const bool sent = test_all(flight.requests);
    // Servers answer in the order of iterations: later ones cannot be settled before this one.
    if (!sent || flight.verdicts < routes_.servers.size()) break;
    for (std::byte* data : flight.regions) uses_.release(data);
    outcomes_[it->first] = flight.outcome;
    it = flights_.erase(it);
  }
}

void Client::pause() {
  const double start = now();
  move();
  const timespec rest{0, 20'000};
  nanosleep(&rest, nullptr);
  waited_ += now() - start;
}

bool Client::begin() {
  move();
  while (in_flight() >= max_in_flight_) {
    if (when_full_ == WhenFull::skip) return false;
    pause();
  }
  return true;
}

std::optional<Region> Client::reserve(std::uint64_t bytes, bool) {
  for (;;) {
    if (std::byte* data = uses_.reserve(bytes)) return Region{data, bytes, 0};
    move();
    if (std::byte* data = uses_.reserve(bytes)) return Region{data, bytes, 0};
    const bool never = bytes > uses_.pool().limit() || (when_full_ == WhenFull::wait && flights_.empty());
    if (never) {
      fail(
          Code::full,
          "no room for a block of {} bytes and there never will be: this rank's share of placement.buffer, {} bytes, is "
          "smaller than one iteration; raise placement.buffer",
          bytes, uses_.pool().limit());
    }
    if (when_full_ == WhenFull::skip) return std::nullopt;
    pause();
  }
}

void Client::commit(const BlockRecord& record, const Region& region, bool hold) {
  Message message;
  message.kind = MessageKind::block;
  message.block = record;
  const int server = routes_.server_of(record.block.mesh, record.block.id);
  manifests_[server].push_back(message);
  values_.push_back({server, record.persistent ? persistent_tag : value_tag, region.data, record.bytes});
  uses_.commit(region.data, hold);
}

void Client::declare(const Block& block, bool removed) {
  Message message;
  message.kind = removed ? MessageKind::remove : MessageKind::declare;
  message.block.block = block;
  manifests_[routes_.server_of(block.mesh, block.id)].push_back(message);
}

void Client::end(const EndRecord& record) {
  Message last;
  last.kind = MessageKind::end;
  last.end = record;
  Flight& flight = flights_[current_];
  for (const int server : routes_.servers) {
    std::vector<Message>& messages = manifests_[server];
    messages.push_back(last);
    outbox_.send(comm_->comm(), server, manifest_tag, encode_manifest(messages));
    last.end.absent = 0;  // counted by one server
  }
  for (const Value& value : values_) {
    post_send(comm_->comm(), value.server, value.tag, value.data, value.bytes, flight.requests);
    flight.regions.push_back(value.data);
  }
  manifests_.clear();
  values_.clear();
  ++current_;
  move();
}

Outcome Client::outcome(std::int64_t index) {
  const auto found = outcomes_.find(index);
  if (found == outcomes_.end()) return Outcome::pending;
  const Outcome outcome = found->second;
  outcomes_.erase(found);
  return outcome;
}

std::string Client::failure() { return std::exchange(failure_, {}); }

void Client::tell_all(MessageKind kind) {
  Message message;
  message.kind = kind;
  for (const int server : routes_.servers) {
    outbox_.send(comm_->comm(), server, manifest_tag, encode_manifest(std::span(&message, 1)));
  }
}

bool Client::drain(std::chrono::milliseconds limit) {
  tell_all(MessageKind::close);
  const auto deadline = Clock::now() + limit;
  for (;;) {
    move();
    if (flights_.empty() && outbox_.sweep()) return true;
    if (Clock::now() >= deadline) break;
    const timespec rest{0, 100'000};
    nanosleep(&rest, nullptr);
  }
  tell_all(MessageKind::abandon);
  move();
  return flights_.empty();
}

}  // namespace sidestream::mpi
