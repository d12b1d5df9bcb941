#include "client/publisher.hpp"

#include <algorithm>

#include "base/checked.hpp"
#include "base/timer.hpp"
#include "config/config.hpp"
#include "transport/shared_memory/copy.hpp"

namespace sidestream {

namespace {

std::string text_of(const Box& box) {
  return fmt::format("[{}, {}) x [{}, {}) x [{}, {})", box.lo[0], box.hi[0], box.lo[1], box.hi[1], box.lo[2],
                     box.hi[2]);
}

std::string near_to(std::string_view name, const std::vector<std::string>& known) {
  const std::string guess = did_you_mean(std::string(name), known);
  return guess.empty() ? "" : fmt::format(" (did you mean '{}'?)", guess);
}

template <class Named>
std::vector<std::string> names_of(const std::vector<Named>& all) {
  std::vector<std::string> names;
  for (const Named& one : all) names.push_back(one.name);
  return names;
}

}  // namespace

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

/// Runs `work` and adds its time, less what it waited, to one entry of the iteration's timing. If it throws, the
/// iteration is refused: a client cannot tell how much of it is in place.
template <class Work>
auto Publisher::timed(double IterationTiming::*entry, Work&& work) {
  const double start = now();
  const double waited = transport_ ? transport_->waited() : 0;
  const auto finish = [&] {
    const double wait = (transport_ ? transport_->waited() : 0) - waited;
    timing_.wait += wait;
    timing_.*entry += now() - start - wait;
  };
  try {
    if constexpr (std::is_void_v<decltype(work())>) {
      work();
      finish();
    } else {
      auto result = work();
      finish();
      return result;
    }
  } catch (...) {
    refused_ = true;
    finish();
    throw;
  }
}

const Mesh& Publisher::mesh(std::string_view name) const {
  const Mesh* found = metadata_.find_mesh(name);
  if (!found) {
    fail(Code::usage, "the mesh '{}' is not declared{}; declare it in the configuration or by a call", name,
         near_to(name, names_of(metadata_.meshes)));
  }
  return *found;
}

void Publisher::set_block(std::string_view mesh_name, std::int64_t id, const Box& cells) {
  const Mesh& on = mesh(mesh_name);
  if (!on.cells.contains(cells)) {
    fail(Code::usage, "block {} of the mesh '{}' is {}, expected a box inside the mesh, {}; correct lo and hi", id,
         mesh_name, text_of(cells), text_of(on.cells));
  }
  const Block block{id, on.id, 0, options_.client, 0, cells};
  for (const Variable& variable : metadata_.variables) {
    if (variable.mesh != on.id) continue;
    Slot& slot = slots_[static_cast<std::size_t>(variable.id)][id];
    if (slot.published_in == account_.iterations) {
      fail(Code::usage,
           "block {} of the mesh '{}' is changed after '{}' was published on it in this iteration; change it "
           "before the first publication",
           id, mesh_name, variable.name);
    }
    slot.box = variable.points(cells);
    slot.box_given = false;
  }
  blocks_[static_cast<std::size_t>(on.id)][id] = block;
  if (transport_)
    timed(&IterationTiming::publish, [&] {
      if (begin()) transport_->declare(block, false);
    });
}

void Publisher::remove_block(std::string_view mesh_name, std::int64_t id) {
  const Mesh& on = mesh(mesh_name);
  auto& blocks = blocks_[static_cast<std::size_t>(on.id)];
  const auto found = blocks.find(id);
  if (found == blocks.end()) {
    fail(Code::usage,
         "block {} of the mesh '{}' is removed but was not declared by this client; give the id of set_block", id,
         mesh_name);
  }
  for (const Variable& variable : metadata_.variables) {
    if (variable.mesh == on.id) slots_[static_cast<std::size_t>(variable.id)].erase(id);
  }
  if (transport_)
    timed(&IterationTiming::publish, [&] {
      if (begin()) transport_->declare(found->second, true);
    });
  blocks.erase(found);
}

void Publisher::set_allocated(std::string_view variable, std::int64_t id, const Box& box) {
  const Found found = find(variable, id, "set_allocated");
  const Box points = found.variable.points(found.block.cells);
  if (!box.contains(points)) {
    fail(Code::usage, "the allocated box of '{}' on block {} is {}, expected one that contains the block's points, {}",
         variable, id, text_of(box), text_of(points));
  }
  found.slot.box = box;
  found.slot.box_given = true;
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
  return {variable, blocks_[static_cast<std::size_t>(variable.mesh)].at(id), slot->second};
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
    if (!begin()) return Taken::refused;
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
    return Taken::yes;
  });
}

void* Publisher::alloc(std::string_view name, std::int64_t id) {
  return timed(&IterationTiming::publish, [&]() -> void* {
    Found found = find(name, id, "alloc");
    check_first(found, "alloc");
    if (!options_.off && !begin()) return nullptr;
    const BlockRecord record = record_of(found);
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
    if (options_.off) return;
    const BlockRecord record = record_of(found);
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
    if (!variable.time_varying || published_[n] == 0) continue;
    for (const auto& [id, slot] : slots_[n]) absent += !slot.box.empty() && slot.published_in != account_.iterations;
  }
  return absent;
}

Taken Publisher::end(std::int64_t cycle, double time, const std::function<void()>& inline_step) {
  const double start = now();
  const bool refused = timed(&IterationTiming::end, [&] {
    if (!options_.off) {
      refused_ |= !begin();
      end_.iteration = {account_.iterations, cycle, time};
      end_.absent = count_absent();
      end_.refused = refused_;
      transport_->end(end_);
      account_.absent_blocks += static_cast<std::int64_t>(end_.absent);
      if (inline_step) inline_step();
      settle();
    }
    return refused_;
  });
  timing_.iteration = account_.iterations++;
  timing_.start = iteration_start_ - options_.origin;
  timing_.compute = std::max(0.0, start - iteration_start_ - timing_.publish - timing_.wait);
  if (!options_.off) timings_.push_back(timing_);
  timing_ = {};
  iteration_start_ = now();
  std::fill(published_.begin(), published_.end(), 0);
  end_ = {};
  begun_ = refused_ = false;
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
      ++account_.unknown;
  }
}

void Publisher::settle() {
  for (;; ++settled_) {
    const Outcome outcome = transport_->outcome(settled_);
    if (outcome == Outcome::pending) return;
    count(outcome);
  }
}

void Publisher::drain(double limit_seconds) {
  if (options_.off || !transport_) return;
  transport_->drain(std::chrono::milliseconds(static_cast<std::int64_t>(limit_seconds * 1000)));
  settle();
  account_.unknown = account_.iterations - settled_;
}

}  // namespace sidestream
