#include "session/made/bricks.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/records.hpp"
#include "sidestream/kit/data/box_values.hpp"

namespace sidestream {

Bricks::Bricks(const Box& cells) : cells_(cells) {
  constexpr Index least_edge = 16, most_bricks = 64, many_cells = Index{1} << 21;
  const auto cells_of_brick = [&] {
    Index count = 1;
    for (int a = 0; a < 3; ++a) count *= std::min(edge_, cells_.extent(a));
    return count;
  };
  divide(least_edge);
  while (count() > most_bricks && cells_of_brick() < many_cells) divide(2 * edge_);
}

void Bricks::divide(Index edge) noexcept {
  edge_ = edge;
  for (int a = 0; a < 3; ++a) along_[static_cast<std::size_t>(a)] = (cells_.extent(a) + edge - 1) / edge;
}

Box Bricks::cells(Index id) const noexcept {
  const Index3 at{id % along_[0], id / along_[0] % along_[1], id / along_[0] / along_[1]};
  Box box;
  for (std::size_t a = 0; a < 3; ++a) {
    box.lo[a] = cells_.lo[a] + at[a] * edge_;
    box.hi[a] = std::min(box.lo[a] + edge_, cells_.hi[a]);
  }
  return box;
}

std::vector<Index> Bricks::touched_by(const Box& box) const {
  std::vector<Index> ids;
  if (box.empty()) return ids;
  Box range;
  for (std::size_t a = 0; a < 3; ++a) {
    range.lo[a] = (box.lo[a] - cells_.lo[a]) / edge_;
    range.hi[a] = (box.hi[a] - 1 - cells_.lo[a]) / edge_ + 1;
  }
  for (Index k = range.lo[2]; k < range.hi[2]; ++k) {
    for (Index j = range.lo[1]; j < range.hi[1]; ++j) {
      for (Index i = range.lo[0]; i < range.hi[0]; ++i) ids.push_back((k * along_[1] + j) * along_[0] + i);
    }
  }
  return ids;
}

namespace {

/// The shape of a server's part.
struct ServerPart {
  Box cells;
  std::vector<std::int32_t> variables;
};

ServerPart part_of(const MadeBlock& block) {
  ServerPart part{block.block.cells, {}};
  for (const MadeBlock::Array& array : block.arrays) part.variables.push_back(array.variable);
  return part;
}

std::vector<ServerPart> parts_of_all(const ServerPart& mine, Communicator& servers) {
  ByteWriter writer;
  writer.put(mine.cells);
  writer.put(mine.variables);
  std::vector<ServerPart> parts;
  for (const Bytes& bytes : servers.all_gather(writer.bytes())) {
    ByteReader reader(bytes);
    ServerPart& part = parts.emplace_back();
    reader.get(part.cells);
    reader.get(part.variables);
  }
  return parts;
}

/// True if the parts fill the mesh, each cell once, with the same arrays.
bool fills(std::vector<ServerPart> parts, const Mesh& mesh) {
  std::erase_if(parts, [](const ServerPart& part) { return part.cells.empty(); });
  std::ranges::sort(parts, {}, [](const ServerPart& part) { return part.cells.lo[2]; });
  Index cells = 0;
  for (std::size_t n = 0; n < parts.size(); ++n) {
    const ServerPart& part = parts[n];
    if (!mesh.cells.contains(part.cells) || part.variables != parts[0].variables) return false;
    cells += part.cells.count();
    for (std::size_t m = n + 1; m < parts.size() && parts[m].cells.lo[2] < part.cells.hi[2]; ++m) {
      if (!intersection(part.cells, parts[m].cells).empty()) return false;
    }
  }
  return cells == mesh.cells.count();
}

/// Moves the parts. Both ends know the shapes of all parts, so messages hold values only: by brick and array.
class BrickExchange {
 public:
  BrickExchange(MadeBlock& mine, std::vector<ServerPart> parts, const Mesh& mesh, const Metadata& metadata,
                Communicator& servers)
      : mine_(mine), parts_(std::move(parts)), metadata_(metadata), servers_(servers), bricks_(mesh.cells) {}

  [[nodiscard]] std::vector<MadeBlock> run();

 private:
  [[nodiscard]] int server_of(Index brick) const noexcept {
    return static_cast<int>(brick * servers_.size() / bricks_.count());
  }
  [[nodiscard]] const Variable& variable(std::int32_t id) const {
    return metadata_.variables.at(static_cast<std::size_t>(id));
  }
  [[nodiscard]] static std::uint64_t bytes(const Variable& variable, const Box& points) {
    return packed_bytes(points, variable.components, variable.type);
  }
  [[nodiscard]] static ArrayView view(const Variable& variable, const Box& points, const std::byte* data) {
    return {data,   variable.type,       MemorySpace::host,
            points, variable.components, packed_strides(points, variable.components, variable.order)};
  }
  [[nodiscard]] std::vector<MemberMessage> send() const;
  void pack_part(Index brick, Bytes& to) const;
  [[nodiscard]] std::vector<MadeBlock> empty_bricks() const;
  void take(std::vector<MadeBlock>& bricks, int from, const std::optional<BytesView>& message) const;

  MadeBlock& mine_;
  std::vector<ServerPart> parts_;
  const Metadata& metadata_;
  Communicator& servers_;
  Bricks bricks_;
};

void BrickExchange::pack_part(Index brick, Bytes& to) const {
  const Box cells = intersection(bricks_.cells(brick), mine_.block.cells);
  for (const MadeBlock::Array& array : mine_.arrays) {
    const Variable& of = variable(array.variable);
    const std::size_t before = to.size();
    to.resize(before + bytes(of, of.points(cells)));
    pack(view(of, of.points(mine_.block.cells), array.values.data()), of.points(cells), of.order,
         std::span(to).subspan(before));
  }
}

/// Messages to the other servers that need something of this server's part.
std::vector<MemberMessage> BrickExchange::send() const {
  std::vector<MemberMessage> messages;
  for (const Index brick : bricks_.touched_by(mine_.block.cells)) {
    const int server = server_of(brick);
    if (server == servers_.rank()) continue;
    if (messages.empty() || messages.back().member != server) messages.push_back({server, {}});
    pack_part(brick, messages.back().bytes);
  }
  return messages;
}

std::vector<MadeBlock> BrickExchange::empty_bricks() const {
  std::vector<std::int32_t> variables;
  for (const ServerPart& part : parts_) {
    if (!part.cells.empty()) variables = part.variables;
  }
  std::vector<MadeBlock> made;
  for (Index brick = 0; brick < bricks_.count(); ++brick) {
    if (server_of(brick) != servers_.rank()) continue;
    MadeBlock& one = made.emplace_back();
    one.block.id = brick;
    one.block.cells = bricks_.cells(brick);
    for (const std::int32_t id : variables) {
      one.arrays.push_back({id, Bytes(bytes(variable(id), variable(id).points(one.block.cells)))});
    }
  }
  return made;
}

/// Copies the part of a server into the bricks of this one: from its message, or from this server's own part.
void BrickExchange::take(std::vector<MadeBlock>& bricks, int from, const std::optional<BytesView>& message) const {
  const Box& whole = parts_[static_cast<std::size_t>(from)].cells;
  BytesView left = message.value_or(BytesView());
  for (MadeBlock& brick : bricks) {
    const Box cells = intersection(brick.block.cells, whole);
    if (cells.empty()) continue;
    for (std::size_t n = 0; n < brick.arrays.size(); ++n) {
      const Variable& of = variable(brick.arrays[n].variable);
      const Box points = of.points(cells);
      const ArrayView to = view(of, of.points(brick.block.cells), brick.arrays[n].values.data());
      if (!message) {
        copy_box(view(of, of.points(whole), mine_.arrays[n].values.data()), to, points);
        continue;
      }
      if (left.size() < bytes(of, points)) fail(Code::internal, "a part of a made mesh came without all its values");
      copy_box(view(of, points, left.data()), to, points);
      left = left.subspan(bytes(of, points));
    }
  }
}

std::vector<MadeBlock> BrickExchange::run() {
  const std::vector<MemberMessage> arrived = servers_.exchange(send());
  std::vector<MadeBlock> bricks = empty_bricks();
  take(bricks, servers_.rank(), std::nullopt);
  for (const MemberMessage& message : arrived) take(bricks, message.member, message.bytes);
  return bricks;
}

}  // namespace

std::vector<MadeBlock> in_bricks(MadeBlock mine, const Mesh& mesh, const Metadata& metadata, Communicator& servers) {
  mine.block.id = servers.rank();
  std::vector<ServerPart> parts = parts_of_all(part_of(mine), servers);
  const bool divides = fills(parts, mesh) && (servers.size() > 1 || Bricks(mesh.cells).count() > 1);
  if (divides) return BrickExchange(mine, std::move(parts), mesh, metadata, servers).run();
  std::vector<MadeBlock> made;
  if (!mine.block.empty()) made.push_back(std::move(mine));
  return made;
}

}  // namespace sidestream
