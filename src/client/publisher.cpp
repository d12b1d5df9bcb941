#include "client/publisher.hpp"

#include <algorithm>
#include <cmath>

#include "base/checked.hpp"
#include "base/fail.hpp"
#include "base/timer.hpp"
#include "client/publisher_timed.hpp"
#include "client/sentences.hpp"
#include "transport/shared_memory/copy.hpp"

namespace sidestream {

Publisher::Publisher(const Metadata& metadata, const std::vector<std::string>& events, const Options& options)
    : metadata_(metadata),
      events_(events),
      options_(options),
      blocks_(metadata.meshes.size()),
      slots_(metadata.variables.size()),
      published_(metadata.variables.size(), 0),
      iteration_start_(options.origin) {
  for (const Variable& variable : metadata.variables) variable_ids_.emplace(variable.name, variable.id);
}

Publisher::Found Publisher::find(std::string_view name, std::int64_t id, const char* call) {
  const auto number = variable_ids_.find(name);
  if (number == variable_ids_.end()) {
    fail(Code::usage, "{}: the variable '{}' is not declared{}; declare it in the configuration or by a call", call,
         name, near_to(name, names_of(metadata_.variables)));
  }
  const Variable& variable = metadata_.variables[static_cast<std::size_t>(number->second)];
  Slots& slots = slots_[static_cast<std::size_t>(number->second)];
  const auto slot = slots.find(id);
  if (slot == slots.end()) {
    fail(Code::usage, "{}: block {} of the mesh '{}' is not declared on this client; call set_block first", call, id,
         metadata_.mesh_of(variable).name);
  }
  return {variable, *slot->second.block, slot->second};
}

std::vector<BlockBytes> Publisher::sizes() const {
  std::vector<BlockBytes> all;
  for (const Variable& variable : metadata_.variables) {
    for (const auto& [id, slot] : slots_[static_cast<std::size_t>(variable.id)]) {
      all.push_back({blocks_[static_cast<std::size_t>(variable.mesh)].at(id),
                     packed_bytes(slot.box, variable.components, variable.type), !variable.time_varying});
    }
  }
  return all;
}

void Publisher::attach(ClientTransport& transport) {
  transport_ = &transport;
  if (options_.off) return;
  // Declarations are part of iteration 0, before which nothing is in flight.
  begun_ = transport_->begin();
  for (const auto& blocks : blocks_) {
    for (const auto& [id, block] : blocks) transport_->declare(block, false);
  }
  iteration_start_ = now();
}

bool Publisher::begin() {
  if (begun_) return !refused_;
  begun_ = true;
  refused_ |= !transport_->begin();
  return !refused_;
}

void Publisher::check_first(const Found& found, const char* call) const {
  if (found.slot.published_in == account_.iterations) {
    fail(Code::usage,
         "{}: block {} of '{}' was published already in iteration {}; publish each block once, then end the "
         "iteration",
         call, found.block.id, found.variable.name, account_.iterations);
  }
  if (found.slot.state != Slot::State::none) {
    fail(Code::usage, "{}: block {} of '{}' is {} and was not cleared; call {} first", call, found.block.id,
         found.variable.name, found.slot.state == Slot::State::allocated ? "allocated" : "committed",
         found.slot.state == Slot::State::allocated ? "commit or clear" : "clear");
  }
}

BlockRecord Publisher::record_of(const Found& found) const {
  BlockRecord record;
  record.block = found.block;
  record.variable = found.variable.id;
  record.components = found.variable.components;
  record.type = found.variable.type;
  record.order = found.variable.order;
  record.box = found.slot.box;
  record.bytes = packed_bytes(record.box, record.components, record.type);
  record.persistent = found.variable.time_varying ? 0 : 1;
  record.centering = found.variable.centering;
  return record;
}

void Publisher::handed_over(Found& found, std::uint64_t bytes) {
  found.slot.published_in = account_.iterations;
  ++published_[static_cast<std::size_t>(found.variable.id)];
  account_.bytes_published += bytes;
}

Taken Publisher::publish(std::string_view name, std::int64_t id, const void* data,
                         const std::array<Index, 4>* strides) {
  return timed(&IterationTiming::publish, [&] {
    Found found = find(name, id, "publish");
    check_first(found, "publish");
    const BlockRecord record = record_of(found);
    if (!data && record.bytes > 0) {
      fail(Code::usage, "publish: the data of '{}' on block {} is a null pointer; expected {} bytes", name, id,
           record.bytes);
    }
    if (options_.off) return Taken::yes;
    if (!begin() && !(record.persistent && transport_->keeps_persistent())) return Taken::refused;
    const std::optional<Region> region = transport_->reserve(record.bytes, record.persistent);
    if (!region) {
      refused_ = true;
      return Taken::refused;
    }
    if (strides) {
      const ArrayView view{sizeof(ArrayView), data,    record.type, MemorySpace::host, record.box,
                           record.components, *strides};
      pack(view, record.box, record.order, {region->data, record.bytes});
    } else {
      shared_memory::copy_to_shared(region->data, data, record.bytes);
    }
    transport_->commit(record, *region, false);
    handed_over(found, record.bytes);
    return refused_ ? Taken::refused : Taken::yes;
  });
}

void* Publisher::alloc(std::string_view name, std::int64_t id) {
  return timed(&IterationTiming::publish, [&]() -> void* {
    Found found = find(name, id, "alloc");
    check_first(found, "alloc");
    const BlockRecord record = record_of(found);
    const bool kept = record.persistent && transport_->keeps_persistent();
    if (!options_.off && !begin() && !kept) return nullptr;
    const std::optional<Region> region = transport_->reserve(record.bytes, record.persistent);
    if (!region) {
      refused_ = true;
      return nullptr;
    }
    found.slot.region = *region;
    found.slot.state = Slot::State::allocated;
    return region->data;
  });
}

void Publisher::commit(std::string_view name, std::int64_t id) {
  timed(&IterationTiming::publish, [&] {
    Found found = find(name, id, "commit");
    if (found.slot.state != Slot::State::allocated) {
      fail(Code::usage, "commit: block {} of '{}' is not allocated; call alloc first", id, name);
    }
    found.slot.state = Slot::State::committed;
    // The values belong to the current iteration, also if the memory was allocated in an earlier one.
    const BlockRecord record = record_of(found);
    if (options_.off || (!begin() && !(record.persistent && transport_->keeps_persistent()))) return;
    transport_->commit(record, found.slot.region, true);
    handed_over(found, record.bytes);
  });
}

void Publisher::clear(std::string_view name, std::int64_t id) {
  timed(&IterationTiming::publish, [&] {
    Found found = find(name, id, "clear");
    if (found.slot.state == Slot::State::none) {
      fail(Code::usage, "clear: block {} of '{}' is neither allocated nor committed; call alloc first", id, name);
    }
    found.slot.state = Slot::State::none;
    transport_->clear(found.slot.region);
  });
}

void Publisher::signal(std::string_view event) {
  if (options_.off) return;
  const auto found = std::find(events_.begin(), events_.end(), event);
  if (found == events_.end()) {
    fail(Code::usage,
         "signal: the event '{}' is unknown{}; name it in the configuration, in `on:` of an analysis or under "
         "`events:`",
         event, near_to(event, events_));
  }
  end_.events |= std::uint64_t{1} << (found - events_.begin());
}

/// Blocks that this client declared and did not deliver, of variables of which it delivered some.
std::uint64_t Publisher::count_absent() const {
  std::uint64_t absent = 0;
  for (const Variable& variable : metadata_.variables) {
    const auto n = static_cast<std::size_t>(variable.id);
    const bool all = published_[n] == static_cast<std::int64_t>(slots_[n].size());
    if (!variable.time_varying || published_[n] == 0 || all) continue;
    for (const auto& [id, slot] : slots_[n]) absent += !slot.box.empty() && slot.published_in != account_.iterations;
  }
  return absent;
}

/// Closes the books of the iteration, whether it could be handed over or not: the transport has counted it too.
void Publisher::next_iteration(double end_began) {
  timing_.iteration = account_.iterations++;
  timing_.start = iteration_start_ - options_.origin;
  timing_.compute = std::max(0.0, end_began - iteration_start_ - timing_.publish - timing_.wait);
  if (options_.timings) timings_.push_back(timing_);
  timing_ = {};
  iteration_start_ = now();
  std::fill(published_.begin(), published_.end(), 0);
  end_ = {};
  begun_ = refused_ = false;
}

Taken Publisher::end(std::int64_t cycle, double time, const std::function<void()>& inline_step) {
  const double start = now();
  if (!std::isfinite(time)) {
    fail(Code::usage, "end_iteration: the time is {}, expected a finite number; the iteration is not ended", time);
  }
  const auto hand_over = [&] {
    if (options_.off) return false;
    refused_ |= !begin();
    end_.iteration = {account_.iterations, cycle, time};
    end_.absent = count_absent();
    end_.refused = refused_;
    transport_->end(end_);
    in_doubt_.push_back(refused_);
    account_.absent_blocks += static_cast<std::int64_t>(end_.absent);
    if (inline_step) inline_step();
    settle();
    return refused_;
  };
  bool refused = false;
  try {
    refused = timed(&IterationTiming::end, hand_over);
  } catch (...) {
    next_iteration(start);
    throw;
  }
  next_iteration(start);
  if (options_.off) return Taken::yes;
  const std::string failure = transport_->failure();
  if (!failure.empty() && options_.stop_on_error) throw Error(Code::analysis, failure);
  return refused ? Taken::refused : Taken::yes;
}

void Publisher::count(Outcome outcome) {
  switch (outcome) {
    case Outcome::refused:
      ++account_.refused;
      break;
    case Outcome::failed:
      ++account_.failed;
      [[fallthrough]];
    case Outcome::delivered:
      ++account_.delivered;
      break;
    case Outcome::pending:
    case Outcome::lost:
      ++account_.unknown;
  }
}

void Publisher::close_account(std::int64_t absent_blocks) {
  if (!options_.off && transport_) settle();
  // What this client refused nobody can have taken, whether the servers have said so or not.
  const auto refused = std::count(in_doubt_.begin(), in_doubt_.end(), true);
  account_.refused += refused;
  account_.unknown += options_.off ? 0 : static_cast<std::int64_t>(in_doubt_.size()) - refused;
  account_.absent_blocks = absent_blocks;
}

/// Asks for outcomes of its own iterations only: other clients may have ended more.
void Publisher::settle() {
  while (!in_doubt_.empty()) {
    const Outcome outcome = transport_->outcome(settled_);
    if (outcome == Outcome::pending) return;
    // What this client refused nobody can have taken.
    count(outcome == Outcome::lost && in_doubt_.front() ? Outcome::refused : outcome);
    in_doubt_.pop_front();
    ++settled_;
  }
}

void Publisher::drain(double limit_seconds) {
  if (options_.off || !transport_) return;
  transport_->drain(std::chrono::milliseconds(static_cast<std::int64_t>(limit_seconds * 1000)));
  settle();
}

}  // namespace sidestream
