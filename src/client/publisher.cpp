#include "client/publisher.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/fail.hpp"
#include "base/retry_while_out_of_memory.hpp"
#include "base/timer.hpp"
#include "client/publisher_debts.hpp"
#include "client/publisher_timed.hpp"
#include "client/sentences.hpp"

// What a publication runs through is [[gnu::hot]], here and in the layers below: the linker puts it side by side, so
// that the first publication after a long step of the simulation finds its code in few pages.

namespace sidestream {

Publisher::Publisher(const Metadata& metadata, const std::vector<std::string>& events,
                     const std::vector<SteeredParameter>& steering, const Options& options)
    : metadata_(metadata),
      events_(events),
      options_(options),
      steered_(steering),
      blocks_(metadata.meshes.size()),
      slots_(metadata.variables.size()),
      published_(metadata.variables.size(), 0),
      iteration_start_(options.origin) {
  for (const Variable& variable : metadata.variables) variable_ids_.emplace(variable.name, variable.id);
}

[[gnu::hot]] const Variable& Publisher::declared(std::string_view name, const char* call) const {
  const auto number = variable_ids_.find(name);
  if (number == variable_ids_.end()) {
    fail(Code::usage, "{}: the variable '{}' is not declared{}; declare it in the configuration or by a call", call,
         name, near_to(name, names_of(metadata_.variables)));
  }
  return metadata_.variables[static_cast<std::size_t>(number->second)];
}

[[gnu::hot]] Publisher::Found Publisher::find(std::string_view name, std::int64_t id, const char* call) {
  const Variable& variable = declared(name, call);
  Slots& slots = slots_[static_cast<std::size_t>(variable.id)];
  const auto slot = slots.find(id);
  if (slot == slots.end()) {
    fail(Code::usage, "{}: block {} of the mesh '{}' is not declared on this client; call set_block first", call, id,
         metadata_.mesh_of(variable).name);
  }
  return {variable, slot->second};
}

std::vector<BlockBytes> Publisher::sizes() const {
  std::vector<BlockBytes> all;
  for (const Variable& variable : metadata_.variables) {
    for (const auto& [id, slot] : slots_[static_cast<std::size_t>(variable.id)]) {
      all.push_back(
          {blocks_[static_cast<std::size_t>(variable.mesh)].at(id), slot.record.bytes, !variable.time_varying});
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

[[gnu::hot]] bool Publisher::begin() {
  if (!begun_) begin_new();
  return refused_ == 0;
}

/// Never further ahead of the servers than changes of parameters: what is in effect at the end of this iteration is
/// known now.
void Publisher::begin_new() {
  begun_ = true;
  if (!transport_->begin()) refuse(Refusal::in_flight);
  if (!steered_.any()) return;
  const std::int64_t known = account_.iterations - options_.steering_ahead;
  if (options_.steering_ahead > 0 && known >= 0) transport_->await(known);
  hear();
}

/// Takes in what the servers told. It has been read: where memory is short, it waits.
void Publisher::hear() {
  std::vector<Notice> notices;
  retry_while_out_of_memory([&] { notices = transport_->notices(); });
  for (const Notice& notice : notices) retry_while_out_of_memory([&] { steered_.take(notice); });
}

/// Without servers that is the reason, whatever the transport could not do.
void Publisher::refuse(Refusal reason) { refused_ |= transport_->connected() ? reason : Refusal::no_servers; }

[[gnu::hot]] void Publisher::check_first(const Slot& slot, const char* call) const {
  if (slot.published_in == account_.iterations) {
    fail(Code::usage,
         "{}: block {} of '{}' was published already in iteration {}; publish each block once, then end the "
         "iteration",
         call, slot.record.block.id, name_of(slot), account_.iterations);
  }
  if (slot.state != Slot::State::none) {
    fail(Code::usage, "{}: block {} of '{}' is {} and was not cleared; call {} first", call, slot.record.block.id,
         name_of(slot), slot.state == Slot::State::allocated ? "allocated" : "committed",
         slot.state == Slot::State::allocated ? "commit or clear" : "clear");
  }
}

[[gnu::hot]] void Publisher::handed_over(Slot& slot) {
  slot.published_in = account_.iterations;
  ++published_[static_cast<std::size_t>(slot.record.variable)];
  account_.bytes_published += slot.record.bytes;
  forget_debt(slot);
}

/// Room for a block; a persistent array may have to go before its successor comes.
[[gnu::hot]] std::optional<Region> Publisher::room_for(const BlockRecord& record) {
  if (!record.persistent) return transport_->reserve(record.bytes, false);
  try {
    const std::optional<Region> region = transport_->reserve(record.bytes, true);
    if (region || !transport_->retire(record)) return region;
  } catch (const Error& e) {
    if (e.code() != Code::full || !transport_->retire(record)) throw;
  }
  return transport_->reserve(record.bytes, true);
}

void Publisher::copy(const BlockRecord& record, const ValuesAt& values, std::byte* to) {
  if (!values.components.empty()) {
    copy_components(record, values, to);
  } else if (values.strides) {
    const ArrayView view{values.data, record.type, MemorySpace::host, record.box, record.components, *values.strides};
    pack(view, record.box, record.order, {to, record.bytes});
  } else if (record.bytes > 0) {
    std::memcpy(to, values.data, record.bytes);
  }
}

/// In a handler: the failure counts, not what becomes of the region.
void Publisher::give_back(const Region& region) noexcept {
  try {
    transport_->clear(region);
  } catch (const std::exception&) {
    // It was handed over, and goes with its iteration.
  }
}

namespace {

/// Whether it says what the mesh is, in whole numbers.
[[gnu::hot]] bool is_of_mesh(const BlockRecord& record) noexcept {
  return record.role != Role::none && record.role != Role::coordinates;
}

/// Of a variable of one component.
ArrayView view_of(const BlockRecord& record, const ValuesAt& values) {
  ArrayView view = record.view(values.components.empty() ? values.data : values.components.front());
  if (values.strides) view.strides = *values.strides;
  return view;
}

}  // namespace

void Publisher::look_at_mesh(const BlockRecord& record, const ArrayView& list) {
  const Mesh& on = metadata_.meshes[static_cast<std::size_t>(record.block.mesh)];
  if (record.role == Role::refined || record.role == Role::owned) {
    tree_bounds_.look(on, record, list, account_.iterations);
  } else {
    lists_.look(on, record, list, account_.iterations);
  }
}

[[gnu::hot]] Taken Publisher::publish(Slot& slot, const ValuesAt& values) {
  check_first(slot, "publish");
  const BlockRecord& record = slot.record;
  if (!values.given() && record.bytes > 0) {
    fail(Code::usage, "publish: the data of '{}' on block {} is a null pointer; expected {} bytes", name_of(slot),
         record.block.id, record.bytes);
  }
  if (options_.off) return Taken::yes;
  if (is_of_mesh(record)) look_at_mesh(record, view_of(record, values));
  if (!begin() && !record.persistent) return Taken::refused;
  const std::optional<Region> region = room_for(record);
  if (!region) {
    refuse(Refusal::no_room);
    if (!record.persistent) return Taken::refused;
    slot.waiting.resize(record.bytes);
    copy(record, values, slot.waiting.data());
    owe(slot);
    return Taken::refused;
  }
  try {
    if (values.strides || !values.components.empty()) {
      copy(record, values, region->data);
    } else {
      transport_->fill(*region, values.data, record.bytes);
    }
    transport_->commit(record, *region, false);
  } catch (...) {
    give_back(*region);
    throw;
  }
  handed_over(slot);
  return refused_ ? Taken::refused : Taken::yes;
}

[[gnu::hot]] Taken Publisher::publish(std::string_view name, std::int64_t id, const void* data,
                                      const std::array<Index, 4>* strides) {
  return timed(&IterationTiming::publish, [&] {
    if (transport_) transport_->prefetch();
    Slot& slot = find(name, id, "publish").slot;
    return or_owe(slot, [&] { return publish(slot, {data, strides}); });
  });
}

std::int64_t Publisher::handle(std::string_view variable, std::int64_t id) {
  Slot& slot = find(variable, id, "handle").slot;
  if (slot.handle < 0) {
    slot.handle = static_cast<std::int64_t>(handles_.size());
    handles_.push_back(&slot);
  }
  return slot.handle;
}

[[gnu::hot]] Publisher::Slot& Publisher::slot_of(std::int64_t handle) {
  const bool known = handle >= 0 && handle < static_cast<std::int64_t>(handles_.size());
  Slot* const slot = known ? handles_[static_cast<std::size_t>(handle)] : nullptr;
  if (!slot) {
    fail(Code::usage, "publish: the handle {} {}; get one for a block that is declared", handle,
         known ? "is of a block that was removed" : "was never given");
  }
  return *slot;
}

[[gnu::hot]] Taken Publisher::publish(std::int64_t handle, const void* data) {
  return timed(&IterationTiming::publish, [&] {
    if (transport_) transport_->prefetch();
    Slot& slot = slot_of(handle);
    return or_owe(slot, [&] { return publish(slot, {data, nullptr}); });
  });
}

[[gnu::hot]] void* Publisher::alloc(Slot& slot) {
  check_first(slot, "alloc");
  if (!options_.off && !begin() && !slot.record.persistent) return nullptr;
  const std::optional<Region> region = room_for(slot.record);
  if (!region) {
    refuse(Refusal::no_room);
    slot.waiting.clear();
    owe(slot);
    return nullptr;
  }
  slot.region = *region;
  slot.state = Slot::State::allocated;
  return region->data;
}

[[gnu::hot]] void* Publisher::alloc(std::string_view name, std::int64_t id) {
  return timed(&IterationTiming::publish, [&]() -> void* {
    if (transport_) transport_->prefetch();
    Slot& slot = find(name, id, "alloc").slot;
    return or_owe(slot, [&] { return alloc(slot); });
  });
}

[[gnu::hot]] void Publisher::commit(Slot& slot) {
  if (!options_.off && is_of_mesh(slot.record)) look_at_mesh(slot.record, slot.record.view(slot.region.data));
  slot.state = Slot::State::committed;
  // The values belong to the current iteration, also if the memory was allocated in an earlier one.
  if (options_.off || (!begin() && !slot.record.persistent)) return;
  transport_->commit(slot.record, slot.region, true);
  handed_over(slot);
}

[[gnu::hot]] void Publisher::commit(std::string_view name, std::int64_t id) {
  timed(&IterationTiming::publish, [&] {
    Slot& slot = find(name, id, "commit").slot;
    if (slot.state != Slot::State::allocated) {
      fail(Code::usage, "commit: block {} of '{}' is not allocated; call alloc first", id, name);
    }
    or_owe(slot, [&] { commit(slot); });
  });
}

void Publisher::clear(std::string_view name, std::int64_t id) {
  timed(&IterationTiming::publish, [&] {
    Slot& slot = find(name, id, "clear").slot;
    if (slot.state == Slot::State::none) {
      fail(Code::usage, "clear: block {} of '{}' is neither allocated nor committed; call alloc first", id, name);
    }
    slot.state = Slot::State::none;
    transport_->clear(slot.region);
  });
}

std::int32_t Publisher::event_number(std::string_view event) const {
  const auto found = std::find(events_.begin(), events_.end(), event);
  if (found == events_.end()) {
    fail(Code::usage,
         "signal: the event '{}' is unknown{}; name it in the configuration, in `on:` of an analysis or under "
         "`events:`",
         event, near_to(event, events_));
  }
  return static_cast<std::int32_t>(found - events_.begin());
}

void Publisher::signal(std::string_view event) {
  if (!options_.off) end_.events |= std::uint64_t{1} << event_number(event);
}

void Publisher::signal(std::string_view event, EventScope scope, Type type, const void* values, std::size_t count) {
  const bool known = scope == EventScope::server || scope == EventScope::node || scope == EventScope::all;
  if (!known || static_cast<int>(type) < 0 || static_cast<int>(type) >= type_count) {
    fail(Code::usage,
         "signal: the event '{}' was given the scope {} and the type {}, expected one of each that there is", event,
         static_cast<int>(scope), static_cast<int>(type));
  }
  if (count > longest_event / size_of(type)) {
    fail(Code::usage,
         "signal: the event '{}' was given {} values of {} bytes, expected at most {} bytes; publish a "
         "variable instead",
         event, count, size_of(type), longest_event);
  }
  if (count > 0 && !values) fail(Code::usage, "signal: the event '{}' was given {} values at NULL", event, count);
  if (options_.off) return;
  const std::int32_t number = event_number(event);
  const auto bytes = count * size_of(type);
  Signal& raised = signals_.emplace_back();
  raised.head = {number, options_.client, scope, options_.node, type, 0, account_.iterations, 0, bytes};
  const auto* const first = static_cast<const std::byte*>(values);
  if (bytes > 0) raised.values.assign(first, first + bytes);
  end_.events |= std::uint64_t{1} << number;
}

void Publisher::signal_barrier(std::string_view event) {
  if (options_.off) return;
  const std::int32_t number = event_number(event);
  signals_.emplace_back().head = {
      number, options_.client, EventScope::all, options_.node, Type::uint8, 1, account_.iterations, 0, 0};
}

/// Before the end of the iteration that they belong to; each once, also where memory is short. Their numbers order
/// those of all clients.
void Publisher::send_signals() {
  constexpr int bits_of_one = 40;
  for (Signal& signal : signals_) {
    signal.head.number = (static_cast<std::uint64_t>(options_.client) << bits_of_one) | signals_sent_++;
    retry_while_out_of_memory([&] { transport_->signal(signal); });
  }
  signals_.clear();
}

/// Blocks that this client declared and did not deliver, of variables of which it delivered some.
std::uint64_t Publisher::count_absent() const {
  std::uint64_t absent = 0;
  for (const Variable& variable : metadata_.variables) {
    const auto n = static_cast<std::size_t>(variable.id);
    const bool all = published_[n] == static_cast<std::int64_t>(slots_[n].size());
    if (!variable.time_varying || published_[n] == 0 || all) continue;
    for (const auto& [id, slot] : slots_[n])
      absent += !slot.record.box.empty() && slot.published_in != account_.iterations;
  }
  return absent;
}

/// Closes the books of the iteration, whether it could be handed over or not: the transport has counted it too.
void Publisher::next_iteration(double end_began) {
  timing_.iteration = account_.iterations++;
  timing_.start = iteration_start_ - options_.origin;
  timing_.compute = std::max(0.0, end_began - iteration_start_ - timing_.publish - timing_.wait);
  if (options_.timings) {
    retry_while_out_of_memory([&] { timings_.push_back(timing_); });
    hand_rows_over();
  }
  timing_ = {};
  iteration_start_ = now();
  std::fill(published_.begin(), published_.end(), 0);
  end_ = {};
  begun_ = false;
  last_refused_ = std::exchange(refused_, 0);
}

/// Whatever fails before it, the iteration ends: servers and other clients count it.
void Publisher::prepare_end(double time, std::exception_ptr& failed) noexcept {
  try {
    static_cast<void>(begin());
    if (debts_ > 0) settle_debts();
    if (!std::isfinite(time)) {
      fail(Code::usage, "end_iteration: the time is {}, expected a finite number; the iteration is refused", time);
    }
  } catch (...) {
    failed = std::current_exception();
    refused_ |= Refusal::call_failed;
  }
}

void Publisher::count_spilled() {
  account_.bytes_spilled = transport_->bytes_spilled();
  account_.spilled += std::exchange(spilled_, account_.bytes_spilled) != account_.bytes_spilled;
}

Taken Publisher::end(std::int64_t cycle, double time, const std::function<void()>& inline_step) {
  const double start = now();
  const auto hand_over = [&] {
    if (options_.off) return false;
    std::exception_ptr failed;
    prepare_end(time, failed);
    end_.iteration = {account_.iterations, cycle, std::isfinite(time) ? time : 0.0};
    end_.absent = count_absent();
    end_.refused = refused_;
    end_.client = options_.client;
    end_.refusing = refused_ ? options_.client : -1;
    retry_while_out_of_memory([&] { in_doubt_.push_back(refused_ != 0); });
    if (options_.timings && options_.iterations) {
      retry_while_out_of_memory([&] {
        unsettled_.push_back({end_.iteration, Outcome::pending, refused_, refused_ ? options_.client : -1, {}});
      });
    }
    count_spilled();
    send_signals();
    retry_while_out_of_memory([&] { transport_->end(end_); });  // which counts it, or leaves all as it was
    account_.absent_blocks += static_cast<std::int64_t>(end_.absent);
    if (inline_step) inline_step();
    settle();
    if (steered_.any()) hear();
    steered_.advance(account_.iterations);
    if (failed) std::rethrow_exception(failed);
    return refused_ != 0;
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
  for (std::size_t n = 0; n < in_doubt_.size(); ++n) {
    keep_rows(settled_ + static_cast<std::int64_t>(n), Outcome::pending);
  }
  // What this client refused nobody can have taken, whether the servers have said so or not.
  const auto refused = std::count(in_doubt_.begin(), in_doubt_.end(), true);
  account_.refused += refused;
  account_.unknown += options_.off ? 0 : static_cast<std::int64_t>(in_doubt_.size()) - refused;
  account_.absent_blocks = absent_blocks;
}

/// Of an iteration after its outcome, or when that never will be known.
void Publisher::keep_rows(std::int64_t index, Outcome outcome) {
  if (!options_.timings) return;
  if (options_.movement)
    retry_while_out_of_memory([&] { moved_.push_back({index, 0, transport_->bytes_sent(index), 0}); });
  if (unsettled_.empty()) return;
  retry_while_out_of_memory([&] { iterations_.push_back(unsettled_.front()); });
  iterations_.back().outcome = outcome;
  unsettled_.pop_front();
}

void Publisher::hand_rows_over() {
  const std::size_t most = std::max({timings_.size(), moved_.size(), iterations_.size()});
  if (most < most_rows || !options_.take_rows) return;
  options_.take_rows(*this);
  timings_.clear();
  moved_.clear();
  iterations_.clear();
}

/// Asks for outcomes of its own iterations only: other clients may have ended more.
void Publisher::settle() {
  while (!in_doubt_.empty()) {
    const Outcome outcome = transport_->outcome(settled_);
    if (outcome == Outcome::pending) return;
    keep_rows(settled_, outcome);
    // What this client refused nobody can have taken.
    count(outcome == Outcome::lost && in_doubt_.front() ? Outcome::refused : outcome);
    if (gave_up_ && outcome == Outcome::refused && !in_doubt_.front()) ++account_.dropped;
    in_doubt_.pop_front();
    ++settled_;
  }
}

bool Publisher::left_open() const noexcept {
  return std::any_of(published_.begin(), published_.end(), [](std::int64_t blocks) { return blocks > 0; });
}

void Publisher::drain(double limit_seconds) {
  if (options_.off || !transport_) return;
  // Three years: longer than any run, and short enough for clocks that count nanoseconds.
  constexpr double longest = 1e8;
  const auto limit = static_cast<std::int64_t>(std::min(limit_seconds, longest) * 1000);
  // Servers wait for it: it may be said twice.
  retry_while_out_of_memory([&] { gave_up_ = !transport_->drain(std::chrono::milliseconds(limit)); });
  retry_while_out_of_memory([&] { settle(); });
}

}  // namespace sidestream
