// Layout of the control memory: everything that clients and servers of one node share, except values. One function
// computes all offsets; every field says who writes it. All zeros is a valid initial state.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "sidestream/extend/transport.hpp"
#include "transport/message.hpp"
#include "transport/shared_memory/futex.hpp"
#include "transport/shared_memory/ring.hpp"

namespace sidestream::shared_memory {

/// Upper bound of the iterations in flight; slots of per-iteration fields are the index modulo this.
inline constexpr std::int64_t slots = 64;

/// Number of lines in a server's ring to a client; several messages of the greatest length fit.
inline constexpr std::uint64_t notice_lines = 128;

/// A text that one process writes and others read at any time; readers see a whole text or none.
class StatusText {
 public:
  static constexpr std::size_t capacity = 1024;
  /// Writer: replaces the text, cut to the capacity at a character's start (UTF-8).
  void post(const std::string& text) noexcept;
  /// Reader: returns the text, empty if nothing was posted or the writer was killed while posting. Never waits.
  [[nodiscard]] std::string read() const;
  /// Reader: changes with every post; cheap.
  [[nodiscard]] std::uint32_t version() const noexcept { return sequence_.load(std::memory_order_acquire); }

 private:
  // Atomic words, because a reader may read while the writer writes; plain bytes would be a data race.
  std::atomic<std::uint32_t> sequence_{0};  ///< odd while the text is being written
  std::atomic<std::uint32_t> length_{0};
  std::atomic<std::uint64_t> words_[capacity / 8]{};
};

/// Number of this process' PID namespace, 0 if unknown.
[[nodiscard]] std::uint64_t pid_namespace() noexcept;

/// Tells whether a process is running.
struct alignas(64) Liveness {
  std::atomic<std::int32_t> pid{0};
  std::atomic<std::uint32_t> closed{0};  ///< 1: the process left in order and sends nothing more
  std::atomic<std::uint64_t> space{0};   ///< PID namespace in which `pid` is valid; see pid_namespace

  void start() noexcept;  ///< Writer.
  /// Reader: true if the process still exists (kill(pid, 0)). Also true before `start`, and where the process has a PID
  /// namespace of its own, in which it has another number. A zombie counts as dead.
  [[nodiscard]] bool alive() const noexcept;
};

/// Sidecar: which servers serve the node. The listener's thread writes, all others read; see docs/shared-memory.md.
struct alignas(128) ServiceState {
  enum class Phase : std::uint64_t { nobody = 0, attached = 1, left = 2, closed = 3 };
  std::atomic<std::uint64_t> word{0};        ///< epoch << 2 | phase
  std::atomic<std::uint64_t> left_epoch{0};  ///< the last epoch whose servers left in order; written before `word`

  void set(std::uint64_t epoch, Phase phase) noexcept {
    if (phase == Phase::left) left_epoch.store(epoch, std::memory_order_relaxed);
    word.store(epoch << 2 | static_cast<std::uint64_t>(phase), std::memory_order_release);
  }
  [[nodiscard]] std::uint64_t load() const noexcept { return word.load(std::memory_order_acquire); }
  [[nodiscard]] static Phase phase_of(std::uint64_t word) noexcept { return static_cast<Phase>(word & 3); }
  [[nodiscard]] static std::uint64_t epoch_of(std::uint64_t word) noexcept { return word >> 2; }
};

/// Control memory of one server.
struct alignas(128) ServerControl {
  Doorbell bell;                                           ///< the server sleeps, its clients ring
  alignas(128) std::atomic<std::uint64_t> ended[slots]{};  ///< clients: (iteration + 1) << 16 | number of clients that
                                                           ///< ended it
  alignas(128) Liveness liveness;                          ///< server
  alignas(64) StatusText failure;                          ///< server: sticky status, read by clients

  /// Client: counts itself for iteration `index`, and rings if it was the last of `clients` (those of this server, at
  /// most 65535). Returns true if the server slept. Call it after the end record is in the ring. The count only decides
  /// who rings: the server trusts the rings, and sleeps with a time limit, so a client killed here costs time, not
  /// correctness.
  bool end(std::int64_t index, std::uint32_t clients) noexcept;
};

/// Control memory of one client, shared with the server of one group, next to its ring.
struct alignas(128) ClientControl {
  // Written by the server.
  alignas(128) std::atomic<std::int64_t> released{0};  ///< iterations below this are released
  std::atomic<std::int64_t> decided{0};                ///< outcomes of iterations below this are known
  std::atomic<std::uint8_t> outcomes[slots]{};         ///< of iteration index mod 64, valid if decided > index
  alignas(128) Doorbell space;                         ///< the client sleeps until released or decided moves
  // Written by the client.
  alignas(128) Liveness liveness;
  // Sidecar, written by the client when it joins an epoch; `joined` (release) comes last.
  std::atomic<std::int64_t> first{0};    ///< the first iteration that it sends in this epoch
  std::atomic<std::uint64_t> joined{0};  ///< the epoch that it has joined
  /// `when_full: spill`: path of its file, written once, before the first block in the file; empty: none.
  static constexpr std::size_t path_bytes = 1024;
  char spill[path_bytes]{};

  /// Server: announces the outcome of iteration `index`; must be called in order.
  void announce(std::int64_t index, Outcome outcome) noexcept;
  /// Server: releases iteration `index`, in order; wakes the client if it sleeps.
  void release(std::int64_t index) noexcept;
  /// Client: the outcome, pending if unknown. `index` must be among the last 64 decided iterations, or later.
  [[nodiscard]] Outcome outcome(std::int64_t index) const noexcept;
};

/// Offsets of all parts, in bytes from the start of the control memory (aligned to 4096).
struct ControlLayout {
  std::uint32_t clients = 0, servers = 0;  ///< with groups of servers, `clients` counts each client once for each group
  std::uint64_t ring_capacity = 0, record_bytes = 0;
  std::uint64_t service_at = 0, servers_at = sizeof(ServiceState), clients_at = 0, rings_at = 0, ring_stride = 0;
  std::uint64_t notices_at = 0;  ///< offset of the notices behind a ring
  std::uint64_t bytes = 0;       ///< a multiple of 4096
  std::uint64_t hash = 0;        ///< differs if anything differs that both sides must agree on

  [[nodiscard]] ServiceState& service(std::byte* memory) const noexcept {
    return *reinterpret_cast<ServiceState*>(memory + service_at);
  }
  [[nodiscard]] ServerControl& server(std::byte* memory, std::uint32_t n) const noexcept {
    return *reinterpret_cast<ServerControl*>(memory + servers_at + n * sizeof(ServerControl));
  }
  [[nodiscard]] ClientControl& client(std::byte* memory, std::uint32_t n) const noexcept {
    return *reinterpret_cast<ClientControl*>(memory + clients_at + n * sizeof(ClientControl));
  }
  /// The memory of client n's ring to its server.
  [[nodiscard]] std::byte* ring(std::byte* memory, std::uint32_t n) const noexcept {
    return memory + rings_at + n * ring_stride;
  }
  /// The memory of the ring from its server to client n: notice_lines records of a line.
  [[nodiscard]] std::byte* notices(std::byte* memory, std::uint32_t n) const noexcept {
    return ring(memory, n) + notices_at;
  }
};

/// `ring_capacity` is rounded up to a power of two. `arena_bytes` is used for the hash only.
[[nodiscard]] ControlLayout control_layout(std::uint32_t clients, std::uint32_t servers, std::uint64_t ring_capacity,
                                           std::uint64_t record_bytes, std::uint64_t arena_bytes) noexcept;

}  // namespace sidestream::shared_memory
