#include "transport/shared_memory/heap.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/waiting.hpp"

namespace sidestream::shared_memory {
namespace {

constexpr std::uint64_t heap_page = 4096;

std::uint64_t length(const std::byte* begin, const std::byte* end) noexcept {
  return static_cast<std::uint64_t>(end - begin);
}

}  // namespace

ClientHeap::ClientHeap(Arena& arena, int client) : arena_(arena), client_(client) {
  const Extents own = arena.extents(client);
  for (std::uint32_t n = own.homes; n-- > 0;) {
    if (own.home > 0) idle_homes_.push_back(new_extent(arena.home(client, n), own.home, Extent::Kind::home));
  }
  if (own.keep > 0) keep_ = new_extent(arena.keep(client), own.keep, Extent::Kind::keep);
  used_ = own.keep;
}

ClientHeap::~ClientHeap() {
  for (const Extent& extent : extents_) {
    if (extent.kind != Extent::Kind::run) continue;
    arena_.give_back(client_, extent.first_chunk, length(extent.begin, extent.end) / arena_.chunk_bytes());
  }
}

[[gnu::hot]] void ClientHeap::begin_iteration(std::int64_t index) {
  if (index <= current_) fail(Code::internal, "iteration {} begins after iteration {}", index, current_);
  current_ = index;
  if (footprint_ > 0) expected_ = footprint_;
  footprint_ = 0;
  home_ = none;  // extents that it used stay until its release
  runs_.clear();
}

[[gnu::hot]] void ClientHeap::release_upto(std::int64_t count) {
  if (count <= released_) return;
  released_ = std::min(count, current_ + 1);
  for (std::uint32_t n = 0; n < extents_.size(); ++n) free_if_unused(n);
  std::erase_if(retired_, [this](std::uint32_t n) {
    if (slots_[n].retired > released_) return false;
    free_persistent_if_unused(slots_[n]);
    return true;
  });
}

[[gnu::hot]] std::optional<Region> ClientHeap::reserve(std::uint64_t bytes, bool persistent) {
  if (bytes > arena_.bytes()) return std::nullopt;  // also keeps the rounding below from wrapping
  const std::uint64_t footprint = block_footprint(bytes);
  std::uint32_t extent = none;
  std::byte* begin = persistent ? cut_persistent(footprint, extent) : cut_for_iteration(footprint, extent);
  if (!begin) return std::nullopt;
  if (!persistent) footprint_ += footprint;
  ++extents_[extent].pins;
  return new_slot(begin, bytes, footprint, extent, persistent);
}

[[gnu::hot]] void ClientHeap::prefetch() const noexcept {
  const std::uint32_t home = home_ != none || idle_homes_.empty() ? home_ : idle_homes_.back();
  if (!idle_slots_.empty()) __builtin_prefetch(&slots_[idle_slots_.back()], 1);
  if (home == none) return;
  const Extent& extent = extents_[home];
  for (std::size_t at = 0; at < sizeof extent; at += 64) {
    __builtin_prefetch(reinterpret_cast<const std::byte*>(&extent) + at, 1);
  }
  constexpr std::ptrdiff_t line = 64, ahead = 16;
  for (std::ptrdiff_t n = 0; n < ahead; ++n) __builtin_prefetch(extent.bottom + n * line, 1);
}

bool ClientHeap::stuck() const noexcept { return released_ >= current_; }

const char* ClientHeap::why() const noexcept {
  const bool held = std::any_of(extents_.begin(), extents_.end(), [this](const Extent& extent) {
    return extent.pins > 0 && extent.iteration >= 0 && extent.iteration < current_;
  });
  return held ? "arrays of earlier iterations are still held; clear them earlier, or enlarge "
                "placement.buffer so that "
                "they fit beside the next iteration"
              : "the iteration needs more than this client's blocks as they were declared at the start; "
                "enlarge "
                "placement.buffer, or declare the largest blocks before the start";
}

[[gnu::hot]] void ClientHeap::commit(const Region& region, bool hold) {
  Slot& slot = slot_of(region);
  if (slot.committed) fail(Code::internal, "a region is committed twice");
  slot.committed = true;
  slot.held = hold;
  if (slot.persistent) return;
  Extent& extent = extents_[slot.extent];
  extent.iteration = std::max(extent.iteration, current_);
  if (hold) return;
  --extent.pins;
  free_slot(slot);
}

void ClientHeap::clear(const Region& region) {
  Slot& slot = slot_of(region);
  Extent& extent = extents_[slot.extent];
  const std::uint32_t place = slot.extent;
  if (slot.committed && slot.persistent) {
    slot.held = false;
    if (slot.retired >= 0 && slot.retired <= released_) free_persistent_if_unused(slot);
    return;
  }
  if (!slot.committed) {
    put_back(extent, slot.begin, slot.end);
    if (!slot.persistent && extent.iteration == current_) {
      footprint_ -= std::min(footprint_, length(slot.begin, slot.end));
    }
  }
  --extent.pins;
  free_slot(slot);
  free_if_unused(place);
}

void ClientHeap::retire(const Region& region) {
  Slot& slot = slot_of(region);
  if (!slot.persistent || !slot.committed || slot.retired >= 0) {
    fail(Code::internal, "only a persistent region that is committed can be replaced, and once");
  }
  slot.retired = current_;
  if (released_ >= current_) {
    free_persistent_if_unused(slot);
  } else {
    retired_.push_back(static_cast<std::uint32_t>(&slot - slots_.data()));
  }
}

// ---- Extents for regions -------------------------------------------------------------------------------------------

[[gnu::hot]] std::byte* ClientHeap::cut_for_iteration(std::uint64_t bytes, std::uint32_t& extent) {
  if (home_ == none) home_ = acquire_home().value_or(none);
  if (home_ != none) {
    extent = home_;
    if (std::byte* begin = cut(extents_[home_], bytes)) return begin;
  }
  // The latest runs are the most likely to have room; searching thousands would cost more than it saves.
  constexpr std::size_t looked_at = 8;
  for (std::size_t n = runs_.size(); n > 0 && n + looked_at > runs_.size(); --n) {
    extent = runs_[n - 1];
    if (std::byte* begin = cut(extents_[extent], bytes)) return begin;
  }
  const std::uint64_t rest = expected_ > footprint_ ? expected_ - footprint_ : 0;
  auto run = rest > bytes && runs_.empty() ? acquire_run(rest) : std::nullopt;
  if (!run) run = acquire_run(bytes);
  if (!run) return nullptr;
  extents_[*run].iteration = current_;
  retry_while_out_of_memory([&] { runs_.push_back(*run); });
  extent = *run;
  return cut(extents_[extent], bytes);
}

std::byte* ClientHeap::cut_persistent(std::uint64_t bytes, std::uint32_t& extent) {
  if (keep_ != none) {
    extent = keep_;
    if (std::byte* begin = cut(extents_[keep_], bytes)) return begin;
  }
  const auto run = acquire_run(bytes);
  if (!run) return nullptr;
  extent = *run;
  return cut(extents_[extent], bytes);
}

[[gnu::hot]] std::optional<std::uint32_t> ClientHeap::acquire_home() {
  if (idle_homes_.empty()) return std::nullopt;
  const std::uint32_t home = idle_homes_.back();
  idle_homes_.pop_back();
  extents_[home].iteration = current_;
  used_ += length(extents_[home].begin, extents_[home].end);
  return home;
}

std::optional<std::uint32_t> ClientHeap::acquire_run(std::uint64_t bytes) {
  const std::uint64_t chunks = (bytes + arena_.chunk_bytes() - 1) / arena_.chunk_bytes();
  const auto first = arena_.borrow(client_, chunks, hint_);
  if (!first) return std::nullopt;
  hint_ = *first;
  const std::uint32_t run = new_extent(arena_.chunk(*first), chunks * arena_.chunk_bytes(), Extent::Kind::run);
  extents_[run].first_chunk = *first;
  used_ += chunks * arena_.chunk_bytes();
  return run;
}

std::uint32_t ClientHeap::new_extent(std::byte* begin, std::uint64_t bytes, Extent::Kind kind) {
  std::uint32_t place = static_cast<std::uint32_t>(extents_.size());
  if (idle_.empty()) {
    retry_while_out_of_memory([&] { extents_.emplace_back(); });  // the memory is borrowed already, so this must not
                                                                  // fail
    retry_while_out_of_memory([&] { idle_.reserve(extents_.capacity()), idle_homes_.reserve(extents_.capacity()); });
  } else {
    place = idle_.back();
    idle_.pop_back();
  }
  Extent& extent = extents_[place];
  extent.begin = extent.bottom = begin;
  extent.end = extent.top = begin + bytes;
  extent.iteration = -1;
  extent.kind = kind;
  return place;
}

[[gnu::hot]] void ClientHeap::free_if_unused(std::uint32_t place) {
  Extent& extent = extents_[place];
  const bool shared_out = extent.kind == Extent::Kind::home || extent.kind == Extent::Kind::run;
  // An iteration of -1, below any count, marks an idle home, or a run that a persistent region had.
  if (!shared_out || extent.pins > 0 || extent.iteration >= released_) return;
  const std::uint64_t bytes = length(extent.begin, extent.end);
  if (extent.kind == Extent::Kind::home) {
    if (extent.iteration < 0) return;
    idle_homes_.push_back(place);
    if (home_ == place) home_ = none;
  } else {
    arena_.give_back(client_, extent.first_chunk, bytes / arena_.chunk_bytes());
    hint_ = extent.first_chunk;
    extent.kind = Extent::Kind::none;
    idle_.push_back(place);
    if (extent.iteration == current_) std::erase(runs_, place);
  }
  extent.bottom = extent.begin;
  extent.top = extent.end;
  extent.iteration = -1;
  extent.gaps.clear();
  used_ -= bytes;
}

// ---- Cutting an extent ---------------------------------------------------------------------------------------------

[[gnu::hot]] std::byte* ClientHeap::cut(Extent& extent, std::uint64_t bytes) noexcept {
  // Small regions come from below, pages from above: alignment then costs nothing, whatever their order.
  const bool pages = bytes % heap_page == 0;
  // Memory that was given back is used first, from the smallest gap that fits; usually for a block of the same size.
  Gap* best = nullptr;
  for (Gap& gap : extent.gaps) {
    const bool aligned = !pages || reinterpret_cast<std::uintptr_t>(gap.end) % heap_page == 0;
    if (!aligned || length(gap.begin, gap.end) < bytes) continue;
    if (!best || length(gap.begin, gap.end) < length(best->begin, best->end)) best = &gap;
  }
  if (best) {
    std::byte* begin = pages ? best->end - bytes : best->begin;
    (pages ? best->end : best->begin) = pages ? begin : begin + bytes;
    if (best->begin == best->end) extent.gaps.erase(extent.gaps.begin() + (best - extent.gaps.data()));
    return begin;
  }
  if (length(extent.bottom, extent.top) < bytes) return nullptr;
  if (pages) return extent.top -= bytes;
  return std::exchange(extent.bottom, extent.bottom + bytes);
}

void ClientHeap::put_back(Extent& extent, std::byte* begin, std::byte* end) {
  auto& gaps = extent.gaps;
  auto next = std::find_if(gaps.begin(), gaps.end(), [=](const Gap& gap) { return gap.begin >= end; });
  if (next != gaps.end() && next->begin == end) {
    end = next->end;
    next = gaps.erase(next);
  }
  if (next != gaps.begin() && std::prev(next)->end == begin) {
    begin = std::prev(next)->begin;
    next = gaps.erase(std::prev(next));
  }
  if (end == extent.bottom) {
    extent.bottom = begin;
  } else if (begin == extent.top) {
    extent.top = end;
  } else {
    const auto at = next - gaps.begin();
    retry_while_out_of_memory([&] { gaps.insert(gaps.begin() + at, {begin, end}); });
  }
}

// ---- Tickets -------------------------------------------------------------------------------------------------------

[[gnu::hot]] Region ClientHeap::new_slot(std::byte* begin, std::uint64_t bytes, std::uint64_t footprint,
                                         std::uint32_t extent, bool persistent) {
  if (idle_slots_.empty()) {
    if (slots_.size() == slots_.capacity()) slots_.reserve(2 * slots_.size() + 8);
    // Reserves the lists now, so that giving back allocates nothing.
    retired_.reserve(slots_.capacity());
    idle_slots_.reserve(slots_.capacity());
    idle_slots_.push_back(static_cast<std::uint32_t>(slots_.size()));
    slots_.emplace_back();
  }
  const std::uint32_t n = idle_slots_.back();
  idle_slots_.pop_back();
  const std::uint32_t generation = slots_[n].generation + 1;
  slots_[n] = Slot{begin, begin + footprint, extent, generation, true, false, false, persistent, -1};
  return Region{begin, bytes, std::uint64_t{generation} << 32 | n};
}

[[gnu::hot]] ClientHeap::Slot& ClientHeap::slot_of(const Region& region) {
  const std::uint64_t n = region.ticket & UINT32_MAX;
  if (n >= slots_.size() || !slots_[n].used || slots_[n].generation != region.ticket >> 32) {
    fail(Code::internal, "the ticket {:x} names no region of this client, or one that was given back", region.ticket);
  }
  return slots_[n];
}

[[gnu::hot]] void ClientHeap::free_slot(Slot& slot) {
  slot.used = false;
  idle_slots_.push_back(static_cast<std::uint32_t>(&slot - slots_.data()));
}

void ClientHeap::free_persistent_if_unused(Slot& slot) {
  if (slot.held) return;  // `clear` comes later, and finds that it was retired
  Extent& extent = extents_[slot.extent];
  put_back(extent, slot.begin, slot.end);
  --extent.pins;
  const std::uint32_t place = slot.extent;
  free_slot(slot);
  free_if_unused(place);
}

}  // namespace sidestream::shared_memory
