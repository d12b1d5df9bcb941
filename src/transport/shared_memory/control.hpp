// The layout of what clients and servers of one node tell each other beside the values. One function computes
// all offsets; every field says who writes it. All zeros is the valid initial state of everything.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "sidestream/extend/transport.hpp"
#include "transport/message_lines.hpp"
#include "transport/shared_memory/futex.hpp"
#include "transport/shared_memory/ring.hpp"

namespace sidestream::shared_memory {

/// Iterations in flight never span more: slots of per-iteration fields are index mod this.
inline constexpr std::int64_t slots = 64;

/// Lines of a server's ring to a client; the longest message fits several times.
inline constexpr std::uint64_t notice_lines = 128;

/// A sentence that one process writes and others read at any time, whole or not at all.
class StatusText {
 public:
  static constexpr std::size_t capacity = 1024;
  /// Writer. Replaces the text, cut to the capacity at a character's start (UTF-8).
  void post(const std::string& text) noexcept;
  /// Reader. Empty if nothing was posted, or if the writer was killed while posting. Never waits.
  [[nodiscard]] std::string read() const;
  /// Reader, cheap: changes with every post.
  [[nodiscard]] std::uint32_t version() const noexcept { return sequence_.load(std::memory_order_acquire); }

 private:
  // Words, because a reader may look while the writer writes: plain bytes would be a data race.
  std::atomic<std::uint32_t> sequence_{0};  ///< odd while being written
  std::atomic<std::uint32_t> length_{0};
  std::atomic<std::uint64_t> words_[capacity / 8]{};
};

/// The number of this process' PID namespace, 0 if it cannot be told.
[[nodiscard]] std::uint64_t pid_namespace() noexcept;

/// That a process runs.
struct alignas(64) Liveness {
  std::atomic<std::int32_t> pid{0};
  std::atomic<std::uint32_t> closed{0};  ///< 1: left in an orderly way, says nothing more
  std::atomic<std::uint64_t> space{0};   ///< where `pid` means something: see pid_namespace

  void start() noexcept;  ///< Writer.
  /// Reader: whether the process still exists (kill(pid, 0)); true before `start`, and where the process has a PID
  /// namespace of its own, in which it has another number. A zombie counts as dead.
  [[nodiscard]] bool alive() const noexcept;
};

/// Sidecar: who serves the node. The listener's thread writes, everybody reads; see docs/sidecar-protocol.md.
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

/// One server's part.
struct alignas(128) ServerControl {
  Doorbell bell;                                           ///< the server sleeps, its clients ring
  alignas(128) std::atomic<std::uint64_t> ended[slots]{};  ///< clients: (iteration + 1) << 16 | how many ended it
  alignas(128) Liveness liveness;                          ///< server
  alignas(64) StatusText failure;                          ///< server: sticky status, read by clients

  /// Client: counts itself for iteration `index`; rings if it was the last of `clients` (the server's, at
  /// most 65535) and returns true if the server slept. Call after the end record is in the ring. The count
  /// only decides who rings: the server believes the rings, and sleeps with a time limit, so a client killed
  /// here costs time and no correctness.
  bool end(std::int64_t index, std::uint32_t clients) noexcept;
};

/// One client's part of what it shares with the server of a group, beside its ring there.
struct alignas(128) ClientControl {
  // Written by the server.
  alignas(128) std::atomic<std::int64_t> released{0};  ///< iterations below this are released
  std::atomic<std::int64_t> decided{0};                ///< outcomes of iterations below this are known
  std::atomic<std::uint8_t> outcomes[slots]{};         ///< of iteration index mod 64, valid if decided > index
  alignas(128) Doorbell room;                          ///< the client sleeps until released or decided moves
  // Written by the client.
  alignas(128) Liveness liveness;
  // Sidecar, written by the client when it joins an epoch; `joined` (release) comes last.
  std::atomic<std::int64_t> first{0};    ///< the first iteration that it sends in this epoch
  std::atomic<std::uint64_t> joined{0};  ///< the epoch
  /// `when_full: spill`: path of its file, written once, before the first block that lies there; empty: none.
  static constexpr std::size_t path_bytes = 1024;
  char spill[path_bytes]{};

  /// Server: outcomes are announced in order, iteration `index` next.
  void announce(std::int64_t index, Outcome outcome) noexcept;
  /// Server: in order; wakes the client if it sleeps.
  void release(std::int64_t index) noexcept;
  /// Client: pending if not known. `index` is within the last 64 decided or later.
  [[nodiscard]] Outcome outcome(std::int64_t index) const noexcept;
};

/// Where everything is, in bytes from the start of the control memory (aligned to 4096).
struct ControlLayout {
  std::uint32_t clients = 0, servers = 0;  ///< with groups of servers, `clients` counts each once for each group
  std::uint64_t ring_capacity = 0, record_bytes = 0;
  std::uint64_t service_at = 0, servers_at = sizeof(ServiceState), clients_at = 0, rings_at = 0, ring_stride = 0;
  std::uint64_t notices_at = 0;  ///< behind a ring
  std::uint64_t bytes = 0;       ///< a multiple of 4096
  std::uint64_t hash = 0;        ///< differs if anything that the two sides must agree on does

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

/// `ring_capacity` is rounded up to a power of two. `arena_bytes` goes into the hash alone.
[[nodiscard]] ControlLayout control_layout(std::uint32_t clients, std::uint32_t servers, std::uint64_t ring_capacity,
                                           std::uint64_t record_bytes, std::uint64_t arena_bytes) noexcept;

}  // namespace sidestream::shared_memory
