// Decisions about parts that depend on values, such as blocks that an isosurface may cross.
//
// A block is needed if the range of its values meets the part. Values between blocks matter too: an isosurface may lie
// between the last values of one block and the first values of the next. Therefore each range is sent to the servers of
// blocks just below, or of all adjacent blocks if levels meet (for_others). If only cells that count matter, a patch
// sends each neighbour only the range of the cells that touch it, and trees exchange the ranges of their leaves. Each
// server then decides about its own blocks (`needed`), and the results are combined, as bits or as a list of numbers,
// whichever is smaller (`share`).
#include "server/redistribution/block_assignment.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "base/mpi/agree.hpp"
#include "data/levels.hpp"
#include "sidestream/data/catalogue.hpp"
#include "sidestream/kit/base/records.hpp"

namespace sidestream {

namespace {

/// A range that another server needs, and the position of its block.
template <class Range>
struct NeighbourRange {
  std::int64_t position;
  Range range;
};

bool by_counted_cells(const Selected& part, const Mesh& mesh) { return !part.covered && meets_other_levels(mesh); }

/// Ranges for another server.
struct Message {
  std::vector<NeighbourRange<BlockRange>> whole;  ///< of blocks above its own, or next to them on another level
  std::vector<NeighbourRange<CountedRange>>
      counted;  ///< of the counting cells that touch its blocks, or of a tree's leaves
};

class Decider {
 public:
  Decider(const Metadata& metadata, const BlockTable& table, const OwnRanges& mine, int server)
      : metadata_(metadata),
        table_(table),
        ranges_(mine.blocks.begin(), mine.blocks.end()),
        counted_(mine.counted.begin(), mine.counted.end()) {
    for (std::size_t b = 0; b < table.blocks().size(); ++b) {
      const auto position = static_cast<std::int64_t>(b);
      if (table.server(position) != server) continue;
      own_.emplace(std::pair(table.blocks()[b].mesh, table.blocks()[b].id), position);
      positions_.insert(position);
    }
  }

  /// Ranges that other servers need to decide on blocks below.
  [[nodiscard]] std::vector<MemberMessage> for_others(std::span<const Selected> parts, int server) const {
    std::map<int, Message> to;
    std::vector<std::pair<RangeRequest, bool>> done;
    for (const Selected& part : parts) {
      const RangeRequest request = range_of(part);
      const Variable& of = variable(request);
      const Mesh& mesh = metadata_.mesh_of(of);
      const bool between =
          part.part.kind == Part::Kind::values && (of.centering != Centering::node || meets_other_levels(mesh));
      const std::pair key(request, by_counted_cells(part, mesh));
      if (!between || std::find(done.begin(), done.end(), key) != done.end()) continue;
      done.push_back(key);
      key.second ? add_counted(request, server, to) : add_whole(request, server, to);
    }
    std::vector<MemberMessage> messages;
    for (const auto& [other, message] : to) {
      ByteWriter out;
      out.put(message.whole);
      out.put(message.counted);
      messages.push_back({other, out.take()});
    }
    return messages;
  }

  void add(const std::vector<MemberMessage>& from_others) {
    for (const MemberMessage& one : from_others) {
      ByteReader in(one.bytes);
      Message message;
      in.get(message.whole);
      in.get(message.counted);
      for (const auto& beyond : message.whole) {
        ranges_.push_back(beyond.range);
        positions_.insert(beyond.position);
      }
      for (const auto& beyond : message.counted) {
        counted_.push_back(beyond.range);
        if (beyond.range.block == beyond.range.beside) positions_.insert(beyond.position);
      }
    }
  }

  /// Numbers of own blocks that are needed: position plus part times the number of blocks.
  [[nodiscard]] std::vector<std::int64_t> needed(std::span<const Selected> parts, int server) const {
    std::set<std::int64_t> known = positions_;
    for (const std::int64_t position : positions_) add_covering(position, known);
    std::vector<Block> blocks;
    for (const std::int64_t position : known) blocks.push_back(table_.blocks()[static_cast<std::size_t>(position)]);
    const Needs needs(metadata_, blocks, ranges_, counted_);
    std::vector<std::int64_t> numbers;
    const auto all = static_cast<std::int64_t>(table_.blocks().size());
    for (std::size_t p = 0; p < parts.size(); ++p) {
      const std::vector<bool> flags = needs.of(parts[p]);
      std::size_t b = 0;
      for (const std::int64_t position : known) {
        if (flags[b++] && table_.server(position) == server) {
          numbers.push_back(static_cast<std::int64_t>(p) * all + position);
        }
      }
    }
    return numbers;
  }

 private:
  void add_whole(const RangeRequest& request, int server, std::map<int, Message>& to) const {
    for (const BlockRange& range : ranges_) {
      if (!(RangeRequest{range.variable, range.component} == request)) continue;
      for (const int other : servers_below(range)) {
        if (other != server) to[other].whole.push_back({own_.at(name_of(range)), range});
      }
    }
  }
  /// Adds ranges of cells that count: patches send each neighbour the range of the cells that touch it; trees send the
  /// range of their leaves to all trees that may touch them.
  void add_counted(const RangeRequest& request, int server, std::map<int, Message>& to) const {
    const std::int32_t mesh = variable(request).mesh;
    const bool trees = metadata_.meshes.at(static_cast<std::size_t>(mesh)).kind() == MeshKind::octree;
    std::map<std::int64_t, int> servers;
    for (std::size_t b = 0; b < table_.blocks().size() && !trees; ++b) {
      const Block& block = table_.blocks()[b];
      if (block.mesh == mesh) servers.emplace(block.id, table_.server(static_cast<std::int64_t>(b)));
    }
    for (const CountedRange& range : counted_) {
      if (!(RangeRequest{range.variable, range.component} == request)) continue;
      const auto own = own_.find({mesh, range.block});
      if (own == own_.end() || trees != (range.block == range.beside)) continue;
      std::set<int> others;
      if (trees) {
        const Block& block = table_.blocks()[static_cast<std::size_t>(own->second)];
        others = servers_beside(metadata_.meshes[static_cast<std::size_t>(mesh)], block);
      } else if (const auto at = servers.find(range.beside); at != servers.end()) {
        others = {at->second};
      }
      for (const int other : others) {
        if (other != server) to[other].counted.push_back({own->second, range});
      }
    }
  }
  /// Adds blocks of finer levels that may cover cells of a block: they have no ranges, but hide cells.
  void add_covering(std::int64_t position, std::set<std::int64_t>& known) const {
    const Block& block = table_.blocks()[static_cast<std::size_t>(position)];
    const Mesh& mesh = metadata_.meshes.at(static_cast<std::size_t>(block.mesh));
    const auto finest = static_cast<std::int32_t>(mesh.refinement.size());
    for (std::int32_t level = block.level + 1; level <= finest && !block.is_list(); ++level) {
      for (const std::int64_t finer : table_.near(mesh.id, level, reach_on(mesh, block, level))) known.insert(finer);
    }
  }
  [[nodiscard]] const Variable& variable(const RangeRequest& request) const {
    return metadata_.variables.at(static_cast<std::size_t>(request.variable));
  }
  [[nodiscard]] std::pair<std::int32_t, std::int64_t> name_of(const BlockRange& range) const {
    return {variable({range.variable, 0}).mesh, range.block};
  }
  /// Servers of blocks whose cells extend to the first points of this one.
  [[nodiscard]] std::set<int> servers_below(const BlockRange& range) const {
    std::set<int> servers;
    const auto found = own_.find(name_of(range));
    if (found == own_.end()) return servers;
    const Block& block = table_.blocks()[static_cast<std::size_t>(found->second)];
    const Mesh& mesh = metadata_.meshes.at(static_cast<std::size_t>(block.mesh));
    if (meets_other_levels(mesh)) return servers_beside(mesh, block);
    if (block.is_list()) return servers;
    for (const std::int64_t position : table_.near(block.mesh, block.level, block.cells)) {
      Box reach = table_.blocks()[static_cast<std::size_t>(position)].cells;
      for (Index& upper : reach.hi) ++upper;
      if (!intersection(reach, block.cells).empty()) servers.insert(table_.server(position));
    }
    return servers;
  }

  /// Servers of blocks that touch this one, on any level.
  [[nodiscard]] std::set<int> servers_beside(const Mesh& mesh, const Block& block) const {
    std::set<int> servers;
    const auto add_if_touching = [&](std::int64_t position) {
      const Block& other = table_.blocks()[static_cast<std::size_t>(position)];
      if (other.mesh == mesh.id && may_touch(mesh, block, other)) servers.insert(table_.server(position));
    };
    if (block.is_list()) {
      for (std::size_t b = 0; b < table_.blocks().size(); ++b) add_if_touching(static_cast<std::int64_t>(b));
      return servers;
    }
    const auto finest = static_cast<std::int32_t>(mesh.refinement.size());
    for (std::int32_t level = 0; level <= finest && block.level <= finest; ++level) {
      for (const std::int64_t position : table_.near(mesh.id, level, reach_on(mesh, block, level)))
        add_if_touching(position);
    }
    return servers;
  }

  const Metadata& metadata_;
  const BlockTable& table_;
  std::vector<BlockRange> ranges_;
  std::vector<CountedRange> counted_;
  std::map<std::pair<std::int32_t, std::int64_t>, std::int64_t> own_;  ///< positions by mesh and id
  std::set<std::int64_t> positions_;  ///< positions of own blocks, and of blocks in `ranges_`
};

/// Collective: combines all servers' numbers, which are below `all`, as bits or as numbers, whichever is smaller.
std::vector<bool> share(const std::vector<std::int64_t>& mine, std::int64_t all, Communicator& servers) {
  std::vector<bool> flags(static_cast<std::size_t>(all), false);
  std::vector<std::uint64_t> words((flags.size() + 63) / 64, 0);
  auto count = static_cast<std::int64_t>(mine.size());
  servers.sum(std::span(&count, 1));
  if (count < static_cast<std::int64_t>(words.size())) {
    for (const Bytes& bytes : servers.all_gather(std::as_bytes(std::span(mine)))) {
      for (const std::int64_t number : records_of<std::int64_t>(bytes))
        flags.at(static_cast<std::size_t>(number)) = true;
    }
    return flags;
  }
  for (const std::int64_t number : mine)
    words[static_cast<std::size_t>(number) / 64] |= std::uint64_t{1} << number % 64;
  servers.bit_or(words);
  for (std::size_t n = 0; n < flags.size(); ++n) flags[n] = (words[n / 64] >> (n % 64)) & 1;
  return flags;
}

}  // namespace

RangeRequest range_of(const Selected& selected) {
  RangeRequest request;
  if (selected.part.kind == Part::Kind::values) {
    request = selected.part.values.of;
    if (request.variable < 0) request.variable = selected.variable;
  } else if (selected.part.kind == Part::Kind::predicate) {
    request = selected.part.predicate.range;
  }
  return request;
}

Decisions decide_by_ranges(const Metadata& metadata, const BlockTable& table, std::span<const Selected> parts,
                           const OwnRanges& mine, Communicator& servers) {
  if (parts.empty()) return {};
  Decider decider(metadata, table, mine, servers.rank());
  decider.add(servers.exchange(decider.for_others(parts, servers.rank())));
  std::vector<std::int64_t> numbers;
  run_collectively(servers, [&] { numbers = decider.needed(parts, servers.rank()); });  // a predicate may throw
  const std::size_t blocks = table.blocks().size();
  const std::vector<bool> flags = share(numbers, static_cast<std::int64_t>(parts.size() * blocks), servers);
  Decisions decisions;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const auto first = flags.begin() + static_cast<std::ptrdiff_t>(p * blocks);
    decisions.emplace_back(first, first + static_cast<std::ptrdiff_t>(blocks));
  }
  return decisions;
}

}  // namespace sidestream
