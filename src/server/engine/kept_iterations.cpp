#include "server/engine/kept_iterations.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <new>
#include <utility>

#include "sidestream/kit/base/fail.hpp"

namespace sidestream {

namespace {

/// The copy of an array has the same fastest axis.
Order order_of(const ArrayView& array) {
  const bool row = array.box.extent(0) > 1 && array.box.extent(2) > 1 && array.strides[2] < array.strides[0];
  return row ? Order::row : Order::column;
}

bool is_packed(const ArrayView& array, Order order) {
  return array.strides == packed_strides(array.box, array.components, order);
}

}  // namespace

/// Memory for a copy: reused from a forgotten iteration, whose pages are mapped, or new.
KeptIterations::Memory KeptIterations::allocate(std::uint64_t bytes) {
  // The last one fits unless blocks have changed, since iterations ask in the same order.
  const auto found = std::find_if(free_.rbegin(), free_.rend(), [&](const Memory& one) { return one.bytes == bytes; });
  if (found != free_.rend()) {
    Memory memory = std::move(*found);
    free_.erase(std::next(found).base());
    return memory;
  }
  while (bytes_ + bytes > limit_ && !free_.empty()) {
    bytes_ -= free_.back().bytes;
    free_.pop_back();
  }
  if (bytes_ + bytes > limit_) {
    fail(
        Code::analysis,
        "the iterations of 'keep_back' do not fit into {} bytes on this server: {} of them take {} already; keep fewer "
        "iterations or variables, or raise 'keep_back_memory'",
        limit_, kept_.size() - 1, bytes_);
  }
  Memory memory{std::shared_ptr<std::byte[]>(new std::byte[bytes]), bytes};  // not initialised
  bytes_ += bytes;
  return memory;
}

/// Replaces an array by a copy. `constant`: the last copy of an array that does not vary in time, or null.
void KeptIterations::copy(ArrayView& array, Memory* constant) {
  const std::uint64_t bytes = packed_bytes(array.box, array.components, array.type);
  if (array.data == nullptr || bytes == 0) return;
  const Order order = order_of(array);
  const bool packed = is_packed(array, order);
  Memory memory;
  if (constant != nullptr && packed && constant->bytes == bytes &&
      std::memcmp(constant->data.get(), array.data, bytes) == 0) {
    memory = *constant;
  } else {
    memory = allocate(bytes);
    if (packed) {
      std::memcpy(memory.data.get(), array.data, bytes);
    } else {
      pack(array, array.box, order, {memory.data.get(), bytes});
    }
    if (constant != nullptr) {
      if (constant->data.use_count() == 1) bytes_ -= constant->bytes;
      *constant = memory;
    }
  }
  array.data = memory.data.get();
  array.strides = packed_strides(array.box, array.components, order);
  kept_.back().memory.push_back(std::move(memory));
}

void KeptIterations::keep(const Iteration& iteration, const Views& views, std::shared_ptr<const Catalogue> catalogue,
                          std::span<const Event> events) {
  drop_oldest();
  Assembled& kept = kept_.emplace_back(Kept{iteration}).assembled;
  kept_.back().events.assign(events.begin(), events.end());
  kept.catalogue = std::move(catalogue);
  kept.views.blocks = std::move(views_);  // the assignment below uses this memory again
  kept.views.blocks = views.blocks;
  for (std::size_t v = 0; v < kept.views.blocks.size(); ++v) {
    const bool varies = metadata_->variables[v].time_varying;
    for (BlockView& view : kept.views.blocks[v]) {
      copy(view.array, varies ? nullptr : &constants_[{static_cast<std::int32_t>(v), view.block.id}]);
      copy(view.ghosts, nullptr);
      for (HaloPiece& piece : view.halo) copy(piece.array, nullptr);
    }
  }
  free_unused();
}

/// Its memory serves further iterations, unless other iterations or the constants share it.
void KeptIterations::forget(Kept& kept) noexcept {
  views_ = std::move(kept.assembled.views.blocks);
  kept.assembled = {};
  for (auto memory = kept.memory.rbegin(); memory != kept.memory.rend(); ++memory) {
    if (memory->data.use_count() > 1) continue;
    try {
      free_.push_back(std::move(*memory));
    } catch (const std::bad_alloc&) {
      bytes_ -= memory->bytes;
    }
  }
}

void KeptIterations::free_unused() noexcept {
  // Memory that only the constants refer to belongs to removed blocks, or was replaced.
  std::erase_if(constants_, [&](const auto& one) {
    if (one.second.data.use_count() > 1) return false;
    bytes_ -= one.second.bytes;
    return true;
  });
  for (const Memory& memory : free_) bytes_ -= memory.bytes;
  free_.clear();
}

/// Iterations that are owed stay beside the one that could not be written after them.
void KeptIterations::drop_oldest() {
  while (!kept_.empty() && kept_.size() >= most_ + (kept_.front().owed ? 1 : 0)) {
    if (kept_.front().owed) lost_.push_back(kept_.front().iteration.index);
    forget(kept_.front());
    kept_.pop_front();
  }
}

void KeptIterations::pass(const Iteration& iteration) {
  drop_oldest();
  kept_.push_back({iteration, true});
}

void KeptIterations::drop_newest(const Iteration& iteration) {
  if (kept_.empty() || kept_.back().iteration.index != iteration.index) return pass(iteration);
  forget(kept_.back());
  kept_.back().memory.clear();
  kept_.back().missing = true;
}

void KeptIterations::remove_done() noexcept {
  for (Kept& one : kept_) {
    if (one.done) forget(one);
  }
  std::erase_if(kept_, [](const Kept& one) { return one.done; });
  views_.clear();
  free_unused();
}

}  // namespace sidestream
