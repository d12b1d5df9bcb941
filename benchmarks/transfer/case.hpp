// Data moved in one measurement: a grid in cubes, from clients to servers, the same for Sidestream and for plain MPI.
#pragma once

#include <sidestream/data/box.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace transfer {

/// Numbers first to last - 1.
struct Range {
  std::int64_t first = 0, last = 0;
};

/// Part number `part` of `parts` of n things: contiguous; the first parts get one more if n is not divisible.
[[nodiscard]] inline Range share(std::int64_t n, std::int64_t parts, std::int64_t part) {
  const std::int64_t each = n / parts, more = n % parts;
  const std::int64_t first = part * each + std::min(part, more);
  return {first, first + each + (part < more ? 1 : 0)};
}

struct Case {
  int ranks = 2;  ///< clients and servers together; servers are the last
  int servers = 1;
  std::int64_t cells = 96;       ///< along each axis
  std::int64_t block = 32;       ///< cells along each axis of a block
  std::int64_t components = 10;  ///< float64 values per cell, as in the measurement of the Nyx paper
  bool one_busy = false;         ///< true if the first client has all blocks

  [[nodiscard]] int clients() const { return ranks - servers; }
  /// Blocks of a client.
  [[nodiscard]] Range of_client(int client) const {
    if (one_busy) return client == 0 ? Range{0, blocks()} : Range{};
    return share(blocks(), clients(), client);
  }
  [[nodiscard]] std::int64_t along() const { return (cells + block - 1) / block; }
  [[nodiscard]] std::int64_t blocks() const { return along() * along() * along(); }
  [[nodiscard]] sidestream::Box box(std::int64_t id) const {
    const std::array<std::int64_t, 3> at{id % along(), id / along() % along(), id / along() / along()};
    sidestream::Box box;
    for (int a = 0; a < 3; ++a) {
      box.lo[a] = at[a] * block;
      box.hi[a] = std::min(cells, box.lo[a] + block);
    }
    return box;
  }
  [[nodiscard]] std::size_t values(std::int64_t id) const {
    return static_cast<std::size_t>(box(id).count() * components);
  }
  [[nodiscard]] std::uint64_t bytes() const {
    return static_cast<std::uint64_t>(cells * cells * cells * components) * sizeof(double);
  }
};

/// The blocks of one client, filled. A step changes the first value of each, by which receivers identify steps.
class Arrays {
 public:
  Arrays(const Case& c, int client) : blocks_(c.of_client(client)) {
    for (std::int64_t id = blocks_.first; id < blocks_.last; ++id) {
      arrays_.emplace_back(c.values(id), static_cast<double>(id));
    }
  }
  void step(int number) {
    for (auto& array : arrays_) array[0] = number;
  }
  [[nodiscard]] Range blocks() const { return blocks_; }
  [[nodiscard]] const std::vector<double>& of(std::int64_t id) const {
    return arrays_[static_cast<std::size_t>(id - blocks_.first)];
  }

 private:
  Range blocks_;
  std::vector<std::vector<double>> arrays_;
};

/// Numbers of warm-up steps and of all steps of a stream.
inline constexpr int warm_up = 4, all_steps = 16;

}  // namespace transfer
