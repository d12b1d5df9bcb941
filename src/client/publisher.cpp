// Publishing a block: name and id give its slot, then checks, one copy into the transport's memory, and a record.
//
// 1. check_first: a block is published once in an iteration, and no allocated array of it may be open.
// 2. begin: starts the iteration at its first publication. It may wait for servers, if parameters are steered.
// 3. reserve_for: reserves memory. Without any the iteration is refused; a persistent array is kept here and sent
// later.
// 4. copy and commit. If that fails the region is given back, and the array is marked as unsent.
// alloc and commit do the same without the copy.
//
// Functions of a publication are [[gnu::hot]], here and in the layers below. The linker places them together, so that
// the first publication after a long step of the simulation needs few pages of code.
#include "client/publisher.hpp"

#include <cstring>

#include "client/publisher_parts.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/waiting.hpp"

namespace sidestream {

Publisher::Publisher(const Metadata& metadata, const std::vector<std::string>& events,
                     const std::vector<SteeredParameter>& steering, const Options& options)
    : metadata_(metadata),
      events_(events),
      options_(options),
      steered_(steering),
      end_of_run_(options.ending),
      needed_(options.max_in_flight),
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
  // Declarations are part of iteration 0. Nothing is in flight before it.
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

/// Begins an iteration. If parameters are steered, waits until the servers are at most `steering_ahead` iterations
/// behind, so that all changes that take effect at the end of this iteration are known. If the run was told to end,
/// waits for the last outcome, so that the client knows if a last iteration has been chosen.
void Publisher::begin_new() {
  begun_ = true;
  const bool waits = end_of_run_.waits();
  // Waits first, so that there is room for the last iteration under `skip`, too.
  if (waits && account_.iterations > 0) transport_->await(account_.iterations - 1);
  if (!transport_->begin()) refuse(Refusal::in_flight);
  if (!steered_.any() && !waits) return;
  const std::int64_t known = account_.iterations - options_.steering_ahead;
  if (!waits && options_.steering_ahead > 0 && known >= 0) transport_->await(known);
  receive_news();
}

/// Receives the servers' failures and notices. They are removed from the transport, so this waits if memory is short.
void Publisher::receive_news() {
  News news;
  retry_while_out_of_memory([&] { news = transport_->news(); });
  if (!news.failure.empty()) {  // an earlier one may not have been reported yet
    retry_while_out_of_memory([&] { failure_ = failure_.empty() ? news.failure : failure_ + "; " + news.failure; });
  }
  for (const Notice& notice : news.notices) {
    end_of_run_.take(notice);
    retry_while_out_of_memory([&] { needed_.take(notice); });
    if (steered_.any()) retry_while_out_of_memory([&] { steered_.take(notice); });
  }
}

bool Publisher::is_needed(std::string_view name, std::optional<std::int64_t> cycle) {
  const Variable& variable = declared(name, "is_needed");
  if (!variable.time_varying) return true;
  if (options_.off) return false;
  return timed(&IterationTiming::publish, [&] {
    if (!begin()) return false;
    if (std::exchange(asked_in_, account_.iterations) != account_.iterations) receive_news();
    return needed_.needed(variable.id, account_.iterations, cycle);
  });
}

/// Refuses the iteration. Without servers the reason is that, instead of `reason`.
void Publisher::refuse(Refusal reason) { refused_ |= transport_->status().connected ? reason : Refusal::no_servers; }

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
  mark_sent(slot);
}

/// Reserves room for a block; a persistent array may have to be freed before its successor is stored.
[[gnu::hot]] std::optional<Region> Publisher::reserve_for(const BlockRecord& record) {
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

/// Gives back a region; call it in a handler. Ignores errors, since the original failure counts.
void Publisher::give_back(const Region& region) noexcept {
  try {
    transport_->clear(region);
  } catch (const std::exception&) {
    // The region was handed over, and is freed with its iteration.
  }
}

namespace {

/// True if the values are integers that define the mesh.
[[gnu::hot]] bool is_of_mesh(const BlockRecord& record) noexcept {
  return record.role != Role::none && record.role != Role::coordinates;
}

/// Returns a view of a variable with one component.
ArrayView view_of(const BlockRecord& record, const ValuesAt& values) {
  ArrayView view = record.view(values.components.empty() ? values.data : values.components.front());
  if (values.strides) view.strides = *values.strides;
  return view;
}

}  // namespace

void Publisher::read_mesh_array(const BlockRecord& record, const ArrayView& list) {
  const Mesh& on = metadata_.meshes[static_cast<std::size_t>(record.block.mesh)];
  if (record.role == Role::refined || record.role == Role::owned) {
    tree_bounds_.read(on, record, list, account_.iterations);
  } else {
    lists_.read(on, record, list, account_.iterations);
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
  if (is_of_mesh(record)) read_mesh_array(record, view_of(record, values));
  if (!begin() && !record.persistent) return Taken::refused;
  const std::optional<Region> region = reserve_for(record);
  if (!region) {
    refuse(Refusal::no_room);
    if (!record.persistent) return Taken::refused;
    slot.waiting.resize(record.bytes);
    copy(record, values, slot.waiting.data());
    mark_unsent(slot);
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
    return or_mark_unsent(slot, [&] { return publish(slot, {data, strides}); });
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
    return or_mark_unsent(slot, [&] { return publish(slot, {data, nullptr}); });
  });
}

[[gnu::hot]] void* Publisher::alloc(Slot& slot) {
  check_first(slot, "alloc");
  if (!options_.off && !begin() && !slot.record.persistent) return nullptr;
  const std::optional<Region> region = reserve_for(slot.record);
  if (!region) {
    refuse(Refusal::no_room);
    slot.waiting.clear();
    mark_unsent(slot);
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
    return or_mark_unsent(slot, [&] { return alloc(slot); });
  });
}

[[gnu::hot]] void Publisher::commit(Slot& slot) {
  if (!options_.off && is_of_mesh(slot.record)) read_mesh_array(slot.record, slot.record.view(slot.region.data));
  slot.state = Slot::State::committed;
  // The values belong to the current iteration, even if the memory was allocated in an earlier one.
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
    or_mark_unsent(slot, [&] { commit(slot); });
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

}  // namespace sidestream
