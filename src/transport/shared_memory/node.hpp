// Shared memory of one node, opened together by its clients and servers.
#pragma once

#include <memory>
#include <vector>

#include "sidestream/extend/communicator.hpp"
#include "transport/message.hpp"
#include "transport/shared_memory/arena.hpp"
#include "transport/shared_memory/control.hpp"
#include "transport/shared_memory/segment.hpp"

namespace sidestream::shared_memory {

/// Division of a node's processes into clients and servers, each numbered from 0 within the node in the order of ranks.
struct NodeRole {
  bool server = false;
  int number = 0;  ///< among the node's clients, or among its servers
  int clients = 0;
  int servers = 0;
  std::vector<int> groups{};  ///< number of servers of each group, whose servers are contiguous; empty: all servers are
                              ///< one group
};

/// Number of groups of servers.
[[nodiscard]] inline std::size_t groups_of(const NodeRole& role) noexcept {
  return role.groups.empty() ? 1 : role.groups.size();
}
[[nodiscard]] inline std::uint32_t channels_of(const NodeRole& role) noexcept {
  return static_cast<std::uint32_t>(groups_of(role)) * static_cast<std::uint32_t>(role.clients);
}
/// Server of client `client` in group `group`: contiguous shares; the first ones may have one client more.
[[nodiscard]] int server_of(int client, const NodeRole& role, std::size_t group = 0) noexcept;
/// Group of server `server`.
[[nodiscard]] std::size_t group_of(int server, const NodeRole& role) noexcept;
/// Number of the channel between a client and its server in group `group`, among all channels of the node.
[[nodiscard]] inline std::uint32_t channel_of(int client, const NodeRole& role, std::size_t group) noexcept {
  return static_cast<std::uint32_t>(group) * static_cast<std::uint32_t>(role.clients) +
         static_cast<std::uint32_t>(client);
}

/// The two segments of a node: control (rings, counters) and buffer (values).
class Node {
 public:
  static constexpr std::uint64_t ring_capacity = 4096;

  /// Collective over the node's processes. `mine`: a client's own extents, ignored on servers. Server 0 creates the
  /// segments. Throws the same Error on every process: full if the extents don't fit in `buffer` bytes, system if
  /// memory is short or the segments can't be handed over.
  Node(Communicator& node, const NodeRole& role, const Extents& mine, std::uint64_t buffer);
  /// Collective over clients only, for servers that attach later: the first client creates the segments.
  [[nodiscard]] static std::shared_ptr<Node> without_servers(Communicator& clients, const NodeRole& role,
                                                             const Extents& mine, std::uint64_t buffer);
  /// Opens a server's view of segments that were handed to it; not collective. Throws Error(system) if they don't fit
  /// `role`.
  Node(const NodeRole& role, const ControlLayout& layout, Segment control, Segment buffer);

  [[nodiscard]] const NodeRole& role() const noexcept { return role_; }
  [[nodiscard]] const ControlLayout& layout() const noexcept { return layout_; }
  [[nodiscard]] std::byte* control() const noexcept { return control_.data(); }
  [[nodiscard]] std::byte* buffer() const noexcept { return buffer_.data(); }
  [[nodiscard]] Arena& arena() noexcept { return *arena_; }
  [[nodiscard]] const Segment& control_segment() const noexcept { return control_; }
  [[nodiscard]] const Segment& buffer_segment() const noexcept { return buffer_; }

 private:
  explicit Node(const NodeRole& role) : role_(role) {}
  void open(Communicator& node, const Extents& mine, std::uint64_t buffer, bool creator);
  void create(const std::vector<Extents>& extents, std::uint64_t buffer);
  void populate() const;

  NodeRole role_;
  ControlLayout layout_;
  Segment control_, buffer_;
  std::unique_ptr<Arena> arena_;
};

}  // namespace sidestream::shared_memory
