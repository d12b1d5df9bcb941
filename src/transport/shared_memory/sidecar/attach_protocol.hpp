// Meeting of server processes and a simulation on a node: messages, addresses, and the end of an opening.
//
// Messages between a server process and the listener of its node have a fixed size, and the two sides take turns.
//
// OpeningSocket and OpeningWatch let servers that wait for a simulation learn that it ended before it accepted them.
// Both ends listen, and each connects to the other if it exists, so whichever comes second finds the first. Nothing is
// ever sent. A connection that ends, even before it was accepted, means that the simulation has begun to listen or has
// ended; the kernel closes it with the process.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sidestream/kit/base/files.hpp"

namespace sidestream::shared_memory {

inline constexpr std::uint64_t attach_magic = 0x726f6f6473647373ull;  // "ssdsdoor"
inline constexpr std::uint32_t attach_version = 3;

/// Most groups of servers on a node.
inline constexpr std::size_t most_groups = 64;

/// 128 random bits.
using Id = std::array<std::uint64_t, 2>;
[[nodiscard]] Id random_id();

/// The server's first message.
struct AttachRequest {
  std::uint64_t magic = attach_magic;
  std::uint32_t version = attach_version;
  std::uint32_t place = 0;  ///< number among the servers of the group on this node
  std::uint64_t build = 0;  ///< shared_memory_build()
  Id group{};               ///< id of the server group; the same on all nodes
};

/// The listener's answer; with `accepted` come three descriptors: control, buffer, declarations.
struct AttachAnswer {
  enum class Status : std::uint32_t { accepted = 0, busy = 1, refused = 2 };
  std::uint64_t magic = attach_magic;
  std::uint32_t version = attach_version;
  Status status = Status::refused;
  Id session{};  ///< id of the simulation; the same on all nodes
  std::int32_t node = 0, nodes = 1;
  std::int32_t clients = 0, servers = 0;  ///< numbers on this node
  std::uint64_t buffer = 0;               ///< bytes
  std::array<std::int32_t, most_groups>
      groups{};             ///< servers of each group; 0 ends the list; if all are 0, there are no groups
  std::uint64_t epoch = 0;  ///< epoch of the previous group; this group's will be the next
  char reason[512] = "";    ///< busy, refused: the reason as a sentence
};

/// Messages of a server after it was accepted.
enum class AttachSignal : std::uint32_t { go = 1, leave = 2 };

/// Hash that differs between builds with different layouts of shared memory.
[[nodiscard]] std::uint64_t shared_memory_build() noexcept;
/// Layout of the segment with the declarations.
inline constexpr std::uint64_t declarations_layout = 0x736e6f6974616c63ull;

/// Name of the socket in the abstract namespace: for this user, this session and, if `pretended` >= 0, that pretended
/// node. Throws Error(configuration) if it is too long.
[[nodiscard]] std::string listener_name(const std::string& session, int pretended);

// Fallback address of a simulation whose name is held by another user, since names of sockets belong to whoever takes
// them first. The simulation then listens under a random name and records it in a file of this user.

/// Directories for such a file that nobody else can write to: $XDG_RUNTIME_DIR, and `.sidestream` in $HOME, which is
/// created. Several nodes may share it, since file names contain the node's name. Directories of another user, or
/// writable for others, are left out; the result may be empty.
[[nodiscard]] std::vector<std::string> address_directories();

/// The file; the destructor removes it.
class AddressFile {
 public:
  /// Records that the session `name` listens at `address`. Throws Error(usage) if there is no directory for it.
  AddressFile(const std::string& name, const std::string& address);
  ~AddressFile();
  AddressFile(const AddressFile&) = delete;
  AddressFile& operator=(const AddressFile&) = delete;

 private:
  std::vector<std::string> files_;
};

/// Address that this user's simulation recorded for `name` on this node, if any. The simulation may have died since.
[[nodiscard]] std::optional<std::string> recorded_address(const std::string& name);

/// The simulation's end, from its opening to its start; one for each node.
class OpeningSocket {
 public:
  /// `listener`: the name that the listener will have. Failures are ignored: servers then wait as long as for a
  /// simulation that never comes.
  explicit OpeningSocket(const std::string& listener);

 private:
  Descriptor listener_, to_waiting_;
};

/// A server's end.
class OpeningWatch {
 public:
  explicit OpeningWatch(const std::string& listener);
  /// True if a simulation was about to start and has started or ended since the last call. The listener exists before
  /// this connection ends, so a server that then finds no listener knows that there will be none.
  [[nodiscard]] bool has_ended();

 private:
  std::string name_;
  Descriptor listener_, socket_;
};

}  // namespace sidestream::shared_memory
