// A random simulation from a seed. Every rank knows all of it, so that it can check what arrives.
#pragma once

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "sidestream/extend/transport.hpp"

namespace sidestream::testing {

/// Three variables: two that vary with time, in both orders, and one that is kept until it is replaced.
inline std::vector<Variable> mpi_world_variables() {
  std::vector<Variable> variables(3);
  for (std::int32_t v = 0; v < 3; ++v) variables[static_cast<std::size_t>(v)].id = v;
  variables[1].type = Type::float32;
  variables[1].centering = Centering::node;
  variables[1].components = 2;
  variables[1].order = Order::row;
  variables[2].type = Type::int32;
  return variables;
}

/// The actions of one client in one iteration, in this order.
struct ClientStep {
  std::vector<BlockChange> changes;
  std::vector<std::pair<std::int32_t, std::int64_t>> publications;  ///< variable, block
};

/// Blocks that appear, vanish, move and go from one client to another over some iterations.
class MpiWorld {
 public:
  MpiWorld(unsigned seed, int clients, std::int64_t iterations) : random_(seed) {
    for (std::int64_t n = 0; n < iterations; ++n) {
      std::vector<ClientStep>& step = steps_.emplace_back(static_cast<std::size_t>(clients));
      for (int client = 0; client < clients; ++client) advance(n, client, step[static_cast<std::size_t>(client)]);
      tables_.push_back(blocks_);
      versions_.push_back(kept_);
    }
  }

  [[nodiscard]] const ClientStep& step(std::int64_t iteration, int client) const {
    return steps_[static_cast<std::size_t>(iteration)][static_cast<std::size_t>(client)];
  }
  /// Blocks of that iteration by id.
  [[nodiscard]] const std::map<std::int64_t, Block>& blocks(std::int64_t iteration) const {
    return tables_[static_cast<std::size_t>(iteration)];
  }
  /// The iteration whose values of a variable count in `iteration`, or nothing if there are no values.
  [[nodiscard]] std::optional<std::int64_t> version(std::int64_t iteration, std::int32_t variable,
                                                    std::int64_t id) const {
    const auto block = blocks(iteration).find(id);
    if (block == blocks(iteration).end()) return std::nullopt;
    if (variable == 2) {
      const auto& kept = versions_[static_cast<std::size_t>(iteration)];
      const auto found = kept.find(id);
      return found == kept.end() ? std::nullopt : std::optional(found->second);
    }
    const auto& published = step(iteration, block->second.client).publications;
    const bool there = std::find(published.begin(), published.end(), std::pair(variable, id)) != published.end();
    return there ? std::optional(iteration) : std::nullopt;
  }

  /// The value of a component at a point, as published in iteration `version`. It fits every type.
  [[nodiscard]] static int value(std::int32_t variable, std::int64_t id, std::int64_t version, Index i, Index j,
                                 Index k, int c) {
    return static_cast<int>((((variable * 31 + id) * 37 + version) * 41 + i * 7 + j * 101 + k * 1009 + c * 13) %
                            100003);
  }

  /// Fills or checks a contiguous array over `box`: calls visit(element, value, true if the value counts).
  template <class Visit>
  static void visit(const Variable& variable, const Block& block, std::int64_t version, const Box& box, void* data,
                    Visit&& visit) {
    const auto strides = packed_strides(box, variable.components, variable.order);
    const Box points = variable.points(block.cells);
    for (Index k = box.lo[2]; k < box.hi[2]; ++k) {
      for (Index j = box.lo[1]; j < box.hi[1]; ++j) {
        for (Index i = box.lo[0]; i < box.hi[0]; ++i) {
          for (int c = 0; c < variable.components; ++c) {
            const Index n = (i - box.lo[0]) * strides[0] + (j - box.lo[1]) * strides[1] + (k - box.lo[2]) * strides[2] +
                            c * strides[3];
            visit(static_cast<std::byte*>(data) + n * static_cast<Index>(size_of(variable.type)),
                  value(variable.id, block.id, version, i, j, k, c), points.contains(Index3{i, j, k}));
          }
        }
      }
    }
  }

 private:
  [[nodiscard]] Index random(Index below) { return static_cast<Index>(random_() % static_cast<unsigned>(below)); }

  /// A box that is usually small, sometimes too large for a packet, and sometimes empty.
  [[nodiscard]] Box random_box() {
    Box box;
    const bool large = random(4) == 0, none = random(9) == 0;
    for (int a = 0; a < 3; ++a) {
      box.lo[a] = random(50);
      box.hi[a] = box.lo[a] + (none ? 0 : 1 + random(large ? 40 : 8));
    }
    return box;
  }

  void advance(std::int64_t n, int client, ClientStep& step) {
    std::vector<std::int64_t> mine;
    for (const auto& [id, block] : blocks_) {
      if (block.client == client) mine.push_back(id);
    }
    for (const std::int64_t id : mine) {
      const Index what = random(10);
      if (what == 0) remove(id, step);
      if (what == 1) declare(id, client, random_box(), step);
      if (what == 2) declare(id, client, blocks_[id].cells, step);  // declares the same again: nothing changes
    }
    for (Index more = n == 0 ? random(4) : random(2); more > 0; --more) declare(next_id_++, client, random_box(), step);
    for (const auto& [id, block] : blocks_) {
      if (block.client != client) continue;
      for (std::int32_t v : {0, 1}) {
        if (random(8) != 0) step.publications.emplace_back(v, id);
      }
      if (random(3) == 0) {
        step.publications.emplace_back(2, id);
        kept_[id] = n;
      }
    }
  }

  void declare(std::int64_t id, int client, const Box& cells, ClientStep& step) {
    Block block;
    block.id = id;
    block.client = client;
    block.cells = cells;
    const auto known = blocks_.find(id);
    if (known != blocks_.end() && !(known->second == block)) kept_.erase(id);
    blocks_[id] = block;
    step.changes.push_back({block, 0, 0});
  }

  void remove(std::int64_t id, ClientStep& step) {
    step.changes.push_back({blocks_[id], 1, 0});
    blocks_.erase(id);
    kept_.erase(id);
  }

  std::mt19937 random_;
  std::int64_t next_id_ = 0;
  std::map<std::int64_t, Block> blocks_;
  std::map<std::int64_t, std::int64_t> kept_;
  std::vector<std::vector<ClientStep>> steps_;
  std::vector<std::map<std::int64_t, Block>> tables_;
  std::vector<std::map<std::int64_t, std::int64_t>> versions_;
};

/// Writes a value as an element of the variable's type.
inline void store(Type type, void* element, int value) {
  with_type(type, [&](auto zero) {
    const auto typed = static_cast<decltype(zero)>(value);
    std::memcpy(element, &typed, sizeof typed);
  });
}

/// True if an element of the variable's type has that value.
inline bool holds(Type type, const void* element, int value) {
  return with_type(type, [&](auto zero) {
    decltype(zero) typed;
    std::memcpy(&typed, element, sizeof typed);
    return typed == static_cast<decltype(zero)>(value);
  });
}

}  // namespace sidestream::testing
