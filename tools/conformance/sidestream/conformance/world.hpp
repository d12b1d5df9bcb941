// A simulation generated from a seed, for testing transports. Every process knows all of it, so that arriving data can
// be compared with published data. Needs only the contracts and the standard library.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "sidestream/extend/transport.hpp"

namespace sidestream::conformance {

/// The variables of a world; their ids are their positions. Two of them vary with time, one in each storage order; the
/// third does not. A transport that needs to know variables before it starts gets these.
[[nodiscard]] inline std::vector<Variable> variables() {
  std::vector<Variable> all(3);
  for (std::int32_t v = 0; v < 3; ++v) {
    Variable& variable = all[static_cast<std::size_t>(v)];
    variable.id = v;
    variable.mesh = 0;
    variable.name = std::string("v") + static_cast<char>('0' + v);
  }
  all[1].type = Type::float32;
  all[1].centering = Centering::node;
  all[1].components = 2;
  all[1].order = Order::row;
  all[2].type = Type::int32;
  all[2].time_varying = false;
  return all;
}
inline constexpr std::int32_t kept_variable = 2;

/// One publication of a client.
struct Publication {
  std::int32_t variable = 0;
  std::int64_t block = 0;
  bool operator<(const Publication& o) const {
    return variable != o.variable ? variable < o.variable : block < o.block;
  }
  bool operator==(const Publication& o) const { return variable == o.variable && block == o.block; }
};

/// The actions of one client in one iteration, in this order.
struct Step {
  std::vector<BlockChange> changes;
  std::vector<Publication> publications;
};

/// Visits the values of a contiguous array over `box`, component by component, in memory order: calls visit(i, j, k,
/// c). The loop is written out, so that it does not depend on the library's own indexing.
template <class Visit>
void for_each_value(const Box& box, int components, Order order, Visit&& visit) {
  const auto inner = [&](Index i, Index j, Index k) {
    for (int c = 0; c < components; ++c) visit(i, j, k, c);
  };
  if (order == Order::column) {
    for (Index k = box.lo[2]; k < box.hi[2]; ++k) {
      for (Index j = box.lo[1]; j < box.hi[1]; ++j) {
        for (Index i = box.lo[0]; i < box.hi[0]; ++i) inner(i, j, k);
      }
    }
    return;
  }
  for (Index i = box.lo[0]; i < box.hi[0]; ++i) {
    for (Index j = box.lo[1]; j < box.hi[1]; ++j) {
      for (Index k = box.lo[2]; k < box.hi[2]; ++k) inner(i, j, k);
    }
  }
}

[[nodiscard]] inline std::uint64_t bytes_of_box(const Box& box, int components, Type type) {
  if (box.empty()) return 0;
  std::uint64_t bytes = size_of(type) * static_cast<std::uint64_t>(components);
  for (int a = 0; a < 3; ++a) bytes *= static_cast<std::uint64_t>(box.extent(a));
  return bytes;
}

/// The value of a point as published in iteration `version`. It fits every type of the world.
[[nodiscard]] inline int value_at(std::int32_t variable, std::int64_t block, std::int64_t version, Index i, Index j,
                                  Index k, int c) {
  return static_cast<int>((((variable * 31 + block) * 37 + version) * 41 + i * 7 + j * 101 + k * 1009 + c * 13) %
                          100'003);
}

inline void store_value(Type type, std::byte* to, int value) {
  with_type(type, [&](auto zero) {
    const auto typed = static_cast<decltype(zero)>(value);
    std::memcpy(to, &typed, sizeof typed);
  });
}

[[nodiscard]] inline double load_value(Type type, const std::byte* from) {
  return with_type(type, [&](auto zero) {
    std::memcpy(&zero, from, sizeof zero);
    return static_cast<double>(zero);
  });
}

/// Blocks of one mesh that appear, vanish, move, and change their shape, on some clients over some iterations. The
/// first block of each client, whose id is the client's number, always exists.
class World {
 public:
  /// If `changing` is false, all blocks are declared in iteration 0 and everything is published in each iteration.
  World(unsigned seed, int clients, std::int64_t iterations, bool changing) : random_(seed), next_id_(clients) {
    for (std::int64_t n = 0; n < iterations; ++n) {
      std::vector<Step>& step = steps_.emplace_back(static_cast<std::size_t>(clients));
      for (int c = 0; c < clients; ++c) {
        Step& own = step[static_cast<std::size_t>(c)];
        if (n == 0) begin(c, own);
        if (n > 0 && changing) change(c, own);
        publish(n, c, changing, own);
      }
      tables_.push_back(blocks_);
      versions_.push_back(kept_);
    }
  }

  [[nodiscard]] const Step& step(std::int64_t iteration, int client) const {
    return steps_.at(static_cast<std::size_t>(iteration)).at(static_cast<std::size_t>(client));
  }
  /// The blocks of an iteration, by id.
  [[nodiscard]] const std::map<std::int64_t, Block>& blocks(std::int64_t iteration) const {
    return tables_.at(static_cast<std::size_t>(iteration));
  }
  /// The iteration whose values of a variable are valid in `iteration`; -1 if there are none.
  [[nodiscard]] std::int64_t version(std::int64_t iteration, std::int32_t variable, std::int64_t id) const {
    const auto block = blocks(iteration).find(id);
    if (block == blocks(iteration).end()) return -1;
    if (variable == kept_variable) {
      const auto& kept = versions_.at(static_cast<std::size_t>(iteration));
      const auto found = kept.find(id);
      return found == kept.end() ? -1 : found->second;
    }
    const auto& all = step(iteration, block->second.client).publications;
    return std::find(all.begin(), all.end(), Publication{variable, id}) != all.end() ? iteration : -1;
  }
  /// The record with which a block of a variable is published. Some blocks have ghosts, whose values are -1.
  [[nodiscard]] BlockRecord record(std::int64_t iteration, const Publication& what) const {
    const Variable variable = variables()[static_cast<std::size_t>(what.variable)];
    BlockRecord record;
    record.block = blocks(iteration).at(what.block);
    record.variable = what.variable;
    record.components = variable.components;
    record.type = variable.type;
    record.order = variable.order;
    record.centering = variable.centering;
    record.persistent = variable.time_varying ? 0 : 1;
    const Box points = record.points();
    record.box = points.empty() ? points : grown(points, (what.block + what.variable) % 3);
    record.bytes = bytes_of_box(record.box, record.components, record.type);
    return record;
  }
  /// Writes the values of such a record.
  static void fill(const BlockRecord& record, std::int64_t version, std::byte* to) {
    const Box points = record.points();
    for_each_value(record.box, record.components, record.order, [&](Index i, Index j, Index k, int c) {
      const int value = value_at(record.variable, record.block.id, version, i, j, k, c);
      store_value(record.type, to, points.contains(Index3{i, j, k}) ? value : -1);
      to += size_of(record.type);
    });
  }
  /// Upper bound on the bytes that a client publishes in one iteration.
  static constexpr std::uint64_t most_bytes = 4 << 20;

 private:
  [[nodiscard]] Index below(Index limit) { return static_cast<Index>(random_() % static_cast<unsigned>(limit)); }

  /// Makes a box that is usually small. Sometimes it is larger than 64 KiB, or has no cells.
  [[nodiscard]] Box random_box(bool may_be_empty) {
    Box box;
    const bool large = below(6) == 0, none = may_be_empty && below(9) == 0;
    for (int a = 0; a < 3; ++a) {
      box.lo[a] = below(50);
      box.hi[a] = box.lo[a] + (none ? 0 : 1 + below(large ? 24 : 7));
    }
    return box;
  }
  void begin(int client, Step& step) {
    declare(client, client, random_box(false), step);
    for (Index more = below(3); more > 0; --more) declare(next_id_++, client, random_box(true), step);
  }
  void change(int client, Step& step) {
    std::vector<std::int64_t> mine;
    for (const auto& [id, block] : blocks_) {
      if (block.client == client) mine.push_back(id);
    }
    for (const std::int64_t id : mine) {
      const Index what = below(10);
      if (what == 0 && id != client) remove(id, step);
      if (what == 1) declare(id, client, random_box(id != client), step);
      if (what == 2) declare(id, client, blocks_[id].cells, step);  // unchanged
    }
    if (mine.size() < 5 && below(3) == 0) declare(next_id_++, client, random_box(true), step);
  }
  void publish(std::int64_t n, int client, bool changing, Step& step) {
    for (const auto& [id, block] : blocks_) {
      if (block.client != client) continue;
      for (std::int32_t v : {0, 1}) {
        if (!changing || below(8) != 0) step.publications.push_back({v, id});
      }
      if (n > 0 && below(3) != 0) continue;
      step.publications.push_back({kept_variable, id});
      kept_[id] = n;
    }
  }
  void declare(std::int64_t id, int client, const Box& cells, Step& step) {
    Block block;
    block.id = id;
    block.client = client;
    block.cells = cells;
    const auto known = blocks_.find(id);
    if (known != blocks_.end() && !known->second.same_shape(block)) kept_.erase(id);
    blocks_[id] = block;
    step.changes.push_back({block, 0, 0});
  }
  void remove(std::int64_t id, Step& step) {
    step.changes.push_back({blocks_[id], 1, 0});
    blocks_.erase(id);
    kept_.erase(id);
  }

  std::mt19937 random_;
  std::int64_t next_id_;
  std::map<std::int64_t, Block> blocks_;
  std::map<std::int64_t, std::int64_t> kept_;
  std::vector<std::vector<Step>> steps_;
  std::vector<std::map<std::int64_t, Block>> tables_;
  std::vector<std::map<std::int64_t, std::int64_t>> versions_;
};

}  // namespace sidestream::conformance
