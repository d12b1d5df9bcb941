// What a server process and the listener of its node say to each other, one message of fixed size each way at a time.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace sidestream::shared_memory {

inline constexpr std::uint64_t attach_magic = 0x726f6f6473647373ull;  // "ssdsdoor"
inline constexpr std::uint32_t attach_version = 2;

/// Groups of servers on a node.
inline constexpr std::size_t most_groups = 64;

/// 128 random bits.
using Id = std::array<std::uint64_t, 2>;
[[nodiscard]] Id random_id();

/// The server's first message.
struct AttachRequest {
  std::uint64_t magic = attach_magic;
  std::uint32_t version = attach_version;
  std::uint32_t place = 0;  ///< among the servers of the group on this node
  std::uint64_t build = 0;  ///< shared_memory_build()
  Id group{};               ///< of the server group; the same on all nodes
};

/// The listener's answer; with `accepted` come three descriptors: control, buffer, declarations.
struct AttachAnswer {
  enum class Status : std::uint32_t { accepted = 0, busy = 1, refused = 2 };
  std::uint64_t magic = attach_magic;
  std::uint32_t version = attach_version;
  Status status = Status::refused;
  Id session{};  ///< of the simulation; the same on all nodes
  std::int32_t node = 0, nodes = 1;
  std::int32_t clients = 0, servers = 0;  ///< on this node
  std::uint64_t buffer = 0;               ///< bytes
  std::array<std::int32_t, most_groups>
      groups{};             ///< servers of each; 0: there are no more, and if all are 0, no groups
  std::uint64_t epoch = 0;  ///< of the group before; this one will be the next
  char reason[512] = "";    ///< busy, refused: a sentence
};

/// What a server says after it was accepted.
enum class AttachSignal : std::uint32_t { go = 1, leave = 2 };

/// Differs between builds that lay shared memory out differently.
[[nodiscard]] std::uint64_t shared_memory_build() noexcept;
/// Layout of the segment with the declarations.
inline constexpr std::uint64_t declarations_layout = 0x736e6f6974616c63ull;

/// The socket's name in the abstract namespace: of this user, this session and, if `pretended` >= 0, that pretended
/// node. Throws Error(configuration) if it is too long.
[[nodiscard]] std::string listener_name(const std::string& session, int pretended);

}  // namespace sidestream::shared_memory
