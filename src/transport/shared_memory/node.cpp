#include "transport/shared_memory/node.hpp"

#include <algorithm>
#include <cstring>

#include "base/agree.hpp"
#include "base/fail.hpp"

namespace sidestream::shared_memory {

namespace {

constexpr std::chrono::seconds attach_limit{60};

void append(Bytes& bytes, const std::string& text) {
  const auto* at = reinterpret_cast<const std::byte*>(text.data());
  bytes.insert(bytes.end(), at, at + text.size());
}

}  // namespace

int server_of(int client, const NodeRole& role) noexcept {
  const int share = role.clients / role.servers, more = role.clients % role.servers;
  const int large = more * (share + 1);
  return client < large ? client / (share + 1) : more + (client - large) / std::max(share, 1);
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
  control_.populate(0, control_.bytes());
  buffer_.populate(0, buffer_.bytes());
}

void Node::open(Communicator& node, const Extents& mine, std::uint64_t buffer, bool creator) {
  struct Entry {
    std::int64_t server;
    Extents extents;
  } entry{role_.server, mine};
  std::vector<Extents> extents;
  for (const Bytes& bytes : node.all_gather(std::as_bytes(std::span(&entry, 1)))) {
    std::memcpy(&entry, bytes.data(), sizeof entry);
    if (!entry.server) extents.push_back(entry.extents);
  }
  layout_ = control_layout(static_cast<std::uint32_t>(role_.clients), static_cast<std::uint32_t>(role_.servers),
                           ring_capacity, sizeof(Message), buffer);
  together(node, [&] {
    if (creator) create(extents, buffer);
  });
  hand_out(node, creator);
  together(node, [&] {
    arena_ = std::make_unique<Arena>(buffer_.data());
    control_.populate(0, control_.bytes());
    // All of the buffer: the first publish of a region must not take page faults, whichever region it is.
    buffer_.populate(0, buffer_.bytes());
  });
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
  buffer_ = Segment::create(buffer, layout_.hash, "sidestream-buffer");
  Arena::create(buffer_.data(), buffer_.bytes(), extents);
}

void Node::hand_out(Communicator& node, bool creator) {
  std::unique_ptr<SegmentServer> control_door, buffer_door;
  Bytes addresses;
  int root = 0;
  together(node, [&] {
    if (!creator) return;
    control_door = std::make_unique<SegmentServer>(control_, node.size() - 1);
    buffer_door = std::make_unique<SegmentServer>(buffer_, node.size() - 1);
    append(addresses, control_door->address() + " " + buffer_door->address());
  });
  std::int64_t creator_rank = creator ? node.rank() : -1;
  node.maximum(std::span(&creator_rank, 1));
  root = static_cast<int>(creator_rank);
  node.broadcast(addresses, root);
  together(node, [&] {
    if (creator) {
      control_door->serve(attach_limit);
      buffer_door->serve(attach_limit);
      return;
    }
    const std::string text(reinterpret_cast<const char*>(addresses.data()), addresses.size());
    const auto space = text.find(' ');
    control_ = Segment::attach(text.substr(0, space), layout_.hash, attach_limit);
    buffer_ = Segment::attach(text.substr(space + 1), layout_.hash, attach_limit);
  });
}

}  // namespace sidestream::shared_memory
