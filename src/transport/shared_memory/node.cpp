#include "transport/shared_memory/node.hpp"

#include <algorithm>

#include "base/mpi/agree.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/records.hpp"
#include "transport/shared_memory/segment_receiver.hpp"

namespace sidestream::shared_memory {

namespace {

/// True if mapping all of the buffer in every process costs the node at most a hundredth of the buffer.
bool maps_all(const NodeRole& role, std::uint64_t buffer) {
  const auto processes = static_cast<std::uint64_t>(role.clients + role.servers);
  return page_tables(buffer) <= buffer / 100 / std::max<std::uint64_t>(processes, 1);
}

}  // namespace

int server_of(int client, const NodeRole& role, std::size_t group) noexcept {
  int first = 0;
  for (std::size_t g = 0; g < group; ++g) first += role.groups[g];
  const int servers = role.groups.empty() ? role.servers : role.groups[group];
  const int share = role.clients / servers, more = role.clients % servers;
  const int large = more * (share + 1);
  return first + (client < large ? client / (share + 1) : more + (client - large) / std::max(share, 1));
}

std::size_t group_of(int server, const NodeRole& role) noexcept {
  std::size_t group = 0;
  for (; group + 1 < groups_of(role) && server >= role.groups[group]; ++group) server -= role.groups[group];
  return group;
}

Node::Node(Communicator& node, const NodeRole& role, const Extents& mine, std::uint64_t buffer) : role_(role) {
  open(node, mine, buffer, role.server && role.number == 0);
}

std::shared_ptr<Node> Node::without_servers(Communicator& clients, const NodeRole& role, const Extents& mine,
                                            std::uint64_t buffer) {
  std::shared_ptr<Node> node(new Node(role));
  node->open(clients, mine, buffer, clients.rank() == 0);
  return node;
}

Node::Node(const NodeRole& role, const ControlLayout& layout, Segment control, Segment buffer)
    : role_(role), layout_(layout), control_(std::move(control)), buffer_(std::move(buffer)) {
  arena_ = std::make_unique<Arena>(buffer_.data());
  populate();
}

void Node::open(Communicator& node, const Extents& mine, std::uint64_t buffer, bool creator) {
  // Rounded as a segment rounds it, since servers that attach later know only the segment's size.
  buffer = round_up(buffer, 4096);
  struct Entry {
    std::int64_t server;
    Extents extents;
  } const mine_there{role_.server, mine};
  std::vector<Extents> extents;
  for (const Bytes& bytes : node.all_gather(bytes_of(mine_there))) {
    const auto entry = record_of<Entry>(bytes);
    if (!entry.server) extents.push_back(entry.extents);
  }
  layout_ = control_layout(channels_of(role_), static_cast<std::uint32_t>(role_.servers), ring_capacity,
                           sizeof(MessageLine), buffer);
  run_collectively(node, [&] {
    if (creator) create(extents, buffer);
  });
  control_ = share_segment(node, creator, std::move(control_), layout_.hash);
  buffer_ = share_segment(node, creator, std::move(buffer_), layout_.hash);
  run_collectively(node, [&] {
    arena_ = std::make_unique<Arena>(buffer_.data());
    populate();
  });
}

/// Maps the whole buffer where that is cheap, so that the first publish into any region takes no page faults. Otherwise
/// it maps only the client's own extents, or those of a server's clients; borrowed chunks then fault once.
void Node::populate() const {
  const auto clients = static_cast<std::uint32_t>(role_.clients);
  const std::size_t group = role_.server ? group_of(role_.number, role_) : 0;
  const auto mine = [&](std::uint32_t client) {
    const int number = static_cast<int>(client);
    return role_.server ? server_of(number, role_, group) == role_.number : number == role_.number;
  };
  control_.populate(0, layout_.rings_at);
  for (std::uint32_t channel = 0; channel < channels_of(role_); ++channel) {
    const bool of_my_group = !role_.server || channel / clients == group;
    if (!of_my_group || !mine(channel % clients)) continue;
    control_.populate(layout_.rings_at + channel * layout_.ring_stride, layout_.ring_stride);
  }
  if (maps_all(role_, buffer_.bytes())) return buffer_.populate(0, buffer_.bytes());
  const auto offset = [&](const std::byte* at) { return static_cast<std::uint64_t>(at - buffer_.data()); };
  if (clients > 0) buffer_.populate(0, offset(arena_->home(0, 0)));
  for (std::uint32_t c = 0; c < clients; ++c) {
    const int client = static_cast<int>(c);
    const Extents extents = arena_->extents(client);
    if (!mine(c)) continue;
    buffer_.populate(offset(arena_->home(client, 0)), extents.homes * extents.home);
    if (extents.keep > 0) buffer_.populate(offset(arena_->keep(client)), extents.keep);
  }
}

void Node::create(const std::vector<Extents>& extents, std::uint64_t buffer) {
  const std::uint64_t least = Arena::minimum_bytes(extents);
  if (least > buffer) {
    fail(
        Code::full,
        "placement.buffer is {} bytes, but one iteration of the {} clients of this node takes {} bytes; raise "
        "placement.buffer to at least that (twice as much lets the servers work while the next iteration is published)",
        buffer, extents.size(), least);
  }
  control_ = Segment::create(layout_.bytes, layout_.hash, "sidestream-control");
  // Page tables of all processes of the node. Without `maps_all` they are at most each process' own extents and one
  // whole buffer, which is borrowed piece by piece.
  const auto processes = static_cast<std::uint64_t>(role_.clients + role_.servers);
  const std::uint64_t once = page_tables(buffer);
  buffer_ =
      Segment::create(buffer, layout_.hash, "sidestream-buffer", maps_all(role_, buffer) ? processes * once : once);
  Arena::create(buffer_.data(), buffer_.bytes(), extents);
}

}  // namespace sidestream::shared_memory
