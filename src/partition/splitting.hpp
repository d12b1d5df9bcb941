// Helpers of partitioners: equal shares, boxes of a mesh, pieces of plans, and the least loaded server.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "sidestream/data/box.hpp"
#include "sidestream/extend/partitioner.hpp"

namespace sidestream {

/// Contiguous shares of `count` ordered items; the first `count mod parts` parts have one more than the others.
class Shares {
 public:
  constexpr Shares(std::int64_t count, std::int64_t parts) noexcept
      : parts_(parts), share_(count / parts), more_(count % parts) {}

  /// First item of a part; for part `parts` the number of items.
  [[nodiscard]] constexpr std::int64_t begin(std::int64_t part) const noexcept {
    return part * share_ + (part < more_ ? part : more_);
  }
  [[nodiscard]] constexpr std::int64_t end(std::int64_t part) const noexcept { return begin(part + 1); }
  /// The part that contains an item.
  [[nodiscard]] constexpr std::int64_t part_of(std::int64_t thing) const noexcept {
    const std::int64_t in_larger = more_ * (share_ + 1);
    return thing < in_larger ? thing / (share_ + 1) : more_ + (thing - in_larger) / share_;
  }
  [[nodiscard]] constexpr std::int64_t parts() const noexcept { return parts_; }

 private:
  std::int64_t parts_, share_, more_;
};

enum class Shape { slabs, pencils, bricks };

/// Number of parts along each axis, so that `servers` boxes of that shape result. Chooses the splitting whose largest
/// box has the fewest cells, then the smallest surface. `axis`: the axis that slabs cut, or that pencils run along.
[[nodiscard]] std::array<std::int64_t, 3> parts_of(Shape shape, int axis, std::int64_t servers, const Box& cells);

/// A box of cells that is cut into parts along each axis; boxes are numbered with i fastest.
class Splitting {
 public:
  /// `ratio`: number of cells of the requested level along one of `cells`, on each axis.
  Splitting(const Box& cells, const std::array<std::int64_t, 3>& parts, const Index3& ratio);
  /// Box of a number, in the level's indices; may be empty.
  [[nodiscard]] Box box(std::int64_t number) const noexcept;
  /// Calls f(number, box) for every box that overlaps `cells`, in ascending order of numbers. `cells` must lie inside.
  template <class F>
  void overlapping(const Box& cells, F&& f) const {
    Index3 first{}, last{}, at{};
    for (int a = 0; a < 3; ++a) {
      first[a] = part_of(a, cells.lo[a]);
      last[a] = part_of(a, cells.hi[a] - 1);
    }
    for (at[2] = first[2]; at[2] <= last[2]; ++at[2]) {
      for (at[1] = first[1]; at[1] <= last[1]; ++at[1]) {
        for (at[0] = first[0]; at[0] <= last[0]; ++at[0]) f(number(at), box(at));
      }
    }
  }

 private:
  [[nodiscard]] std::int64_t number(const Index3& part) const noexcept {
    return (part[2] * shares_[1].parts() + part[1]) * shares_[0].parts() + part[0];
  }
  [[nodiscard]] Box box(const Index3& part) const noexcept;
  [[nodiscard]] Index part_of(int axis, Index cell) const noexcept;

  Box cells_;
  Index3 ratio_;
  std::array<Shares, 3> shares_;
};

// Assembling of plans.

/// True if the server's part of the plan is requested.
[[nodiscard]] inline bool is_wanted(const PlanInput& input, std::int64_t server) noexcept {
  return input.server < 0 || input.server == server;
}

/// The whole block as one piece; `copy` is 1 for a further copy.
[[nodiscard]] inline PlanPiece whole_block(const PlanInput& input, std::int64_t block, std::int64_t server,
                                           std::int32_t copy = 0) {
  return {block, static_cast<std::int32_t>(server), copy, input.blocks[static_cast<std::size_t>(block)].block.cells};
}

/// Contiguous equal shares of the blocks in their order, the first servers one block more.
[[nodiscard]] Plan equal_shares(const PlanInput& input);

/// Servers by load, the least loaded first; among equal loads the lowest server. `Load`: uint64_t or double.
template <class Load>
class LeastLoaded {
 public:
  explicit LeastLoaded(std::vector<Load> loads) : heap_(loads.size()) {
    for (std::size_t server = 0; server < loads.size(); ++server) {
      heap_[server] = {loads[server], static_cast<std::int32_t>(server)};
    }
    // Builds the heap: afterwards no parent has more load than its children, which `add` preserves.
    for (std::size_t at = heap_.size() / 2; at-- > 0;) sink(at);
  }
  /// Adds `load` to the least loaded server and returns that server.
  std::int32_t add(Load load) {
    const std::int32_t server = heap_.front().second;
    heap_.front().first += load;
    sink(0);
    return server;
  }

 private:
  void sink(std::size_t at) {
    const auto moving = heap_[at];
    for (std::size_t child; (child = 2 * at + 1) < heap_.size(); at = child) {
      if (child + 1 < heap_.size() && heap_[child + 1] < heap_[child]) ++child;
      if (!(heap_[child] < moving)) break;
      heap_[at] = heap_[child];
    }
    heap_[at] = moving;
  }
  std::vector<std::pair<Load, std::int32_t>> heap_;
};

}  // namespace sidestream
