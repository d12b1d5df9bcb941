// The contract of a transport: how blocks get from clients to servers.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sidestream/data/array.hpp"
#include "sidestream/data/block.hpp"
#include "sidestream/data/event.hpp"
#include "sidestream/data/iteration.hpp"
#include "sidestream/data/range.hpp"
#include "sidestream/data/variable.hpp"

namespace sidestream {

/// The reaction of a client that finds no room: wait for the servers, refuse the iteration, or put the block into a
/// file on its node and wait only if that is full, too. Transports without such files wait.
enum class WhenFull : std::int32_t { wait = 0, skip = 1, spill = 2 };

/// Memory for the values of one block, 64-byte aligned, owned by the transport.
struct Region {
  std::byte* data = nullptr;
  std::uint64_t bytes = 0;
  std::uint64_t ticket = 0;  ///< for use by the transport only
};

/// Describes one block of one variable that a client hands over; its values follow in a region.
struct BlockRecord {
  Block block;
  std::int32_t variable = -1;
  std::int32_t components = 1;
  Type type = Type::float64;
  Order order = Order::column;
  Box box;  ///< the indices the array covers: the allocated box
  std::uint64_t bytes = 0;
  std::uint32_t persistent = 0;  ///< 1: not time-varying, kept until replaced
  Centering centering = Centering::cell;
  Role role = Role::none;
  std::array<std::uint8_t, 2> reserved{};
  /// Records of one client with the same number and revision are equal, so that a transport may send their content
  /// once.
  std::uint32_t number = no_number;
  std::uint32_t revision = 0;  ///< from 1
  static constexpr std::uint32_t no_number = UINT32_MAX;

  /// The points of the variable on the block, without ghosts.
  [[nodiscard]] Box points() const noexcept { return points_of(centering, role, block); }
  /// The values at `data`, laid out as the record says.
  [[nodiscard]] ArrayView view(const void* data) const noexcept {
    return {data, type, MemorySpace::host, box, components, packed_strides(box, components, order)};
  }
};

/// Reasons why an iteration is refused; bits, since several clients may have several reasons.
enum Refusal : std::uint32_t {
  no_room = 1,      ///< the buffer had no room for a block (`when_full: skip`)
  in_flight = 2,    ///< `max_in_flight` iterations were published and not released (`when_full: skip`)
  call_failed = 4,  ///< a call of the iteration failed
  no_servers = 8,   ///< no servers were attached (`sidecar`)
  owed = 16,        ///< an array that does not vary in time is not handed over, from this iteration or before
  left = 32,        ///< a client closed before it ended the iteration
  gave_up = 64,     ///< a client closed, and its `drain_limit` had passed before the iteration began
  cycles = 128,     ///< clients gave different cycles
  repeated = 256,   ///< two clients declare the same block
  on_server = 512,  ///< servers could not take it; see the failures
  late = 1024       ///< the run was told to end, and the time for iterations had passed before it began
};

/// A client's knowledge of the end of the run (`ending:`); bits, since several clients may differ. Without any bit,
/// nothing can end the run, or the clients know its last iteration.
enum Ending : std::uint32_t {
  asked = 1,   ///< it was told to end, by a signal, its clock or the servers
  unasked = 2  ///< as far as it knows, it was not told to end
};

/// The end of an iteration on a client, or on several clients together.
struct EndRecord {
  Iteration iteration;         ///< of several clients: with the time of the client of lowest number
  std::uint64_t events = 0;    ///< bit e: event number e was signalled
  std::uint64_t absent = 0;    ///< blocks declared but not delivered, of variables published in this iteration
  std::uint32_t refused = 0;   ///< bits of Refusal; if any is set, the iteration must not be used
  std::uint32_t mismatch = 0;  ///< only for several clients: 1 if they disagree about the cycle
  std::int32_t client = 0;     ///< the client, by its number among all clients, that gave the time
  std::int32_t refusing = -1;  ///< the client of lowest number that refused; -1: none
  std::int32_t other = -1;     ///< only for several clients: a client that gave another time; -1: none
  std::uint32_t ending = 0;    ///< bits of Ending
  double other_time = 0;       ///< the time that `other` gave
};

/// A message from a server to its clients, besides outcomes and failures.
struct Notice {
  std::int64_t iteration = -1;  ///< the iteration to which it refers; -1: none
  std::uint32_t kind = 0;       ///< sender and reader agree on its meaning
  std::vector<std::byte> payload;
};

/// Bytes of the longest payload.
inline constexpr std::size_t longest_notice = 2048;

/// An event with values that a client raises, or its arrival at a barrier.
struct SignalHead {
  std::int32_t event = 0;   ///< number of its name
  std::int32_t client = 0;  ///< number among all clients
  EventScope scope = EventScope::all;
  std::int32_t node = -1;  ///< node of the client
  Type type = Type::uint8;
  /// 0: an event; 1: takes effect once all clients have reached it; 2: they have, in another job; 3: an event that has
  /// taken effect, raised by one more client, for tasks that wait for several.
  std::uint32_t barrier = 0;
  std::int64_t iteration = 0;  ///< iteration of the client
  std::uint64_t number = 0;    ///< orders the signals of all clients; for one client in the order of raising
  std::uint64_t bytes = 0;     ///< bytes of the values
};
struct Signal {
  SignalHead head;
  std::vector<std::byte> values;  ///< at most longest_event bytes
};

/// Memory of this process that others may map too: the memory object's bytes from `offset` on are at `data`.
struct SharedObject {
  int descriptor = -1;  ///< belongs to its owner; open as long as the transport exists
  const std::byte* data = nullptr;
  std::uint64_t bytes = 0;
  std::uint64_t offset = 0;  ///< offset in the object, a multiple of 4096
};

/// The result of an iteration on which the servers agreed; lost: they ended before they reported it.
enum class Outcome : std::uint8_t { pending = 0, delivered = 1, refused = 2, failed = 3, lost = 4 };

/// The result of an iteration on which several groups of servers decide: the worst of their results, in the order lost,
/// refused, failed, delivered. Pending until all have decided.
[[nodiscard]] constexpr Outcome joined(Outcome one, Outcome other) noexcept {
  if (one == Outcome::pending || other == Outcome::pending) return Outcome::pending;
  constexpr auto badness = [](Outcome outcome) {
    switch (outcome) {
      case Outcome::lost:
        return 3;
      case Outcome::refused:
        return 2;
      case Outcome::failed:
        return 1;
      default:
        return 0;
    }
  };
  return badness(one) < badness(other) ? other : one;
}

/// The result of an iteration that a client has ended.
struct Settled {
  Outcome outcome = Outcome::pending;
  std::uint64_t bytes_sent =
      0;  ///< bytes of its values that left this client's memory; 0 if servers read them in place
};

/// Failures and notices from servers to a client.
struct News {
  std::string failure;          ///< the newest failure message; empty if there is no new one
  std::vector<Notice> notices;  ///< those of one server in the order it sent them
};

/// The state of a client, which its transport keeps up to date.
struct ClientStatus {
  /// True if servers are attached. Otherwise iterations are refused; but persistent regions may be reserved and
  /// committed in refused iterations, for later ones.
  bool connected = true;
  double waited = 0;                ///< seconds spent so far waiting for room or for a place in flight
  std::uint64_t bytes_spilled = 0;  ///< bytes of values so far that found no room and went to a file of this node
};

/// The client's end, called by `Publisher` (src/client). One thread. No call is collective; only `drain` waits for
/// other clients. Iterations are counted by the calls of `end`: the first is 0.
class ClientTransport {
 public:
  virtual ~ClientTransport() = default;

  // Called once in each iteration.
  /// Begins the next iteration; called before anything else of it. Under WhenFull::wait it waits until fewer than
  /// max_in_flight iterations are published and not released; under skip it returns false if there are that many.
  [[nodiscard]] virtual bool begin() = 0;
  /// Ends the current iteration, which is then on its way to the servers. Never waits under WhenFull::skip.
  virtual void end(const EndRecord& record) = 0;

  // Called any number of times in an iteration, before its end.
  /// Prefetches the memory that handing over a block touches; called first in each publication. A simulation works on
  /// much other memory between two blocks, and fetching this memory line by line takes longer than a small block.
  virtual void prefetch() const noexcept {}
  /// Returns memory for the values of a block of the current iteration. Waits under WhenFull::wait; returns nothing if
  /// there is no room and waiting is not wanted. Throws Error(full) if there can never be room. Persistent regions are
  /// not freed with their iteration.
  [[nodiscard]] virtual std::optional<Region> reserve(std::uint64_t bytes, bool persistent) = 0;
  /// Frees the persistent array that `record` will replace before its successor is in place, for a buffer without room
  /// for both. Returns false and does nothing if there is no such array, or if an iteration that may read it is not
  /// released. Afterwards no iteration may be delivered before the successor is committed.
  [[nodiscard]] virtual bool retire(const BlockRecord& record) = 0;
  /// Hands over a block whose values are in place. With `hold` the client may read the region until `clear`.
  virtual void commit(const BlockRecord& record, const Region& region, bool hold) = 0;
  /// Gives back a region that was reserved and not committed, or ends the hold on a committed region.
  virtual void clear(const Region& region) = 0;
  /// Declares or changes (`removed`: removes) a block of this client, from the current iteration on.
  virtual void declare(const Block& block, bool removed) = 0;
  /// Raises an event in the current iteration. Events travel like messages and arrive in order; a transport without
  /// servers drops them.
  virtual void signal(const Signal& signal) = 0;

  // Called in between: results of iterations.
  /// Returns the result of iteration `index`; pending while the servers have not agreed. Each result is returned once.
  [[nodiscard]] virtual Settled outcome(std::int64_t index) = 0;
  /// Waits until the outcome of iteration `index`, which this client has ended, is known, or until no server is left
  /// that could report it. Messages of the simulation keep moving meanwhile. Notices that servers sent before they
  /// released that iteration are then in `news`. Called if parameters are steered, so that clients are not too far
  /// ahead.
  virtual void await(std::int64_t index) = 0;
  /// Returns failures and notices that have arrived since the last call. Called in each iteration.
  [[nodiscard]] virtual News news() = 0;
  /// Waits until all outcomes are known, at most `limit`; the last call, since no more iterations come. Returns false
  /// if the time did not suffice; the servers have then been told to drop what they have not begun.
  virtual bool drain(std::chrono::milliseconds limit) = 0;

  [[nodiscard]] const ClientStatus& status() const noexcept { return status_; }
  /// Keeps the memory of all regions in place, even after the transport's end; null if that memory ends with the
  /// transport. Releasing it needs no MPI.
  [[nodiscard]] const std::shared_ptr<const void>& memory() const noexcept { return memory_; }
  /// Copies values into a region, in the way that suits their next reader.
  void fill(const Region& region, const void* values, std::uint64_t bytes) const {
    if (copy_) return copy_(region.data, values, bytes);
    if (bytes > 0) std::memcpy(region.data, values, bytes);
  }

 protected:
  ClientStatus status_;
  std::shared_ptr<const void> memory_;
  void (*copy_)(void* to, const void* from, std::uint64_t bytes) noexcept = nullptr;  ///< null: memcpy
};

/// One block as it arrived on a server.
struct Arrival {
  BlockRecord record;
  const std::byte* data = nullptr;  ///< valid until the iteration is released
  std::int64_t since = 0;           ///< the iteration that brought it; for a persistent array possibly an earlier one
};

/// Values that a server asks for: `points` of a variable on a block.
struct Wanted {
  Block block;
  std::int32_t variable = -1;
  std::int32_t reserved = 0;
  Box points;
};

/// Results of ServerTransport::ranges.
struct MeasuredRanges {
  std::vector<BlockRange> blocks;
  std::vector<Range> regions;  ///< in the order of the request
};

/// A block that was declared or changed, or removed.
struct BlockChange {
  Block block;
  std::int32_t removed = 0;
  std::int32_t reserved = 0;
};

/// Messages of one iteration that a server has received from its own clients, or from forwarders that report to it.
struct Inbox {
  std::vector<Arrival> blocks;
  std::vector<Signal> signals;  ///< of one client in the order in which it raised them
  EndRecord end;  ///< merged over the clients that ended it: events and absent are added; refused if any client refused
  int ended = 0;  ///< clients that have ended it
};

/// Blocks that a server's clients have declared, and arrays that it keeps, as of the last call of `advance`.
struct ServerTables {
  std::vector<Block> blocks;         ///< all blocks that they declared
  std::vector<Arrival> persistent;   ///< the newest array of each variable and block that is not time-varying
  std::vector<BlockChange> changes;  ///< changes of `blocks`, in order, since the reader last emptied the list
};

/// The state of an iteration on one server. Refers to the transport's memory.
struct ServerState {
  const Inbox& inbox;      ///< valid until the iteration is released; empty if nothing is known
  ServerTables& tables;    ///< the same for all iterations
  int ended = 0;           ///< clients that have ended it
  int pending = 0;         ///< clients that have neither ended it nor closed
  bool abandoned = false;  ///< a client gave up waiting in `drain`: iterations that have not begun should be dropped
  bool lost = false;       ///< clients have died: clients that are not pending need not have closed
};

/// Properties of a server's transport that never change.
struct ServerTraits {
  int clients = 0;  ///< number of clients that send to this server; may be 0
  /// True if values lie where the server can read them. It then sees all blocks of its own clients, without moving
  /// them, and no others. If false, arrivals have no data, and any server may fetch any block of any client.
  bool values_in_place = false;
  /// The memory of values in place that other processes can map; empty if it belongs to this process only.
  std::vector<SharedObject> shared_objects{};
};

/// The server's end, called by the engine (src/server) or a forwarder. One thread. Iterations are processed in order:
/// after `advance(index)` the tables are those of that iteration, after `release(index)` its memory is free.
class ServerTransport {
 public:
  virtual ~ServerTransport() = default;

  // Called at any time.
  /// Takes in what has arrived; waits at most `limit` if nothing has. Returns true if anything was new. Also called,
  /// with limit 0, while this server waits for others. A transport in which all servers receive the same may be
  /// collective if the limit is not 0.
  virtual bool receive(std::chrono::microseconds limit) = 0;
  /// Returns the state of iteration `index` on this server. Not collective; allocates nothing.
  [[nodiscard]] virtual ServerState state(std::int64_t index) = 0;
  /// Posts a sticky failure message that clients see at their next end of iteration. Not collective.
  virtual void post_failure(const std::string& message) = 0;
  /// Sends a notice to all clients of this server. Each client gets it in its next call of `news`, not later than the
  /// outcome of an iteration that is released after this call. Returns false, and sends nothing, if a client has not
  /// read earlier notices and there is no room for more, or if the transport carries no notices. Throws Error(usage) if
  /// the notice is longer than `longest_notice`. Not collective.
  [[nodiscard]] virtual bool notify(const Notice& notice) = 0;

  // Called in the order of iterations, on all servers.
  /// Applies the declarations and persistent arrays of iterations up to `index` to the tables. Not collective.
  virtual void advance(std::int64_t index) = 0;
  /// Gets values of the iteration (of variables that are not time-varying, the newest up to it): for each piece its
  /// values, contiguous in the variable's order, or null if the block was not published. Valid until release.
  /// Collective over the servers, each of which may want different pieces; any number of times in an iteration; not
  /// called with `values_in_place`. Throws Error(system) if memory is short; the transport continues to work.
  ///
  /// `again`: this server will probably want the same of every later iteration that is not refused, because the same
  /// tasks are always due and blocks do not change. A transport may then send values without further requests; other
  /// requests stay possible. Values of an earlier fetch with `again` are not valid after the next such fetch. The
  /// servers agree on something before the release.
  [[nodiscard]] virtual std::vector<const std::byte*> fetch(std::int64_t index, std::span<const Wanted> wanted,
                                                            bool again) = 0;
  /// Measures ranges of the blocks that this server's own clients delivered in the iteration, or keep, and of `regions`
  /// of these blocks. The range of a region whose block was not delivered is empty. A transport that cannot measure a
  /// region may give the range of more points of its block. Collective over the servers.
  [[nodiscard]] virtual MeasuredRanges ranges(std::int64_t index, std::span<const RangeRequest> requests,
                                              std::span<const RangeRegion> regions) = 0;
  /// Tells the clients the result of the iteration and frees its memory. A transport may be collective here.
  ///
  /// With Outcome::pending (at most once before the final call, and not with `values_in_place`): all servers have
  /// agreed that they have the values they need, so clients may use the memory again; the results of `fetch` stay
  /// valid.
  virtual void release(std::int64_t index, Outcome outcome) = 0;
  /// The last call. If `trouble` is empty, all clients have closed and all iterations are released; this receives what
  /// is still under way. Otherwise this server cannot continue, for the reason in `trouble`; its clients continue
  /// without servers.
  virtual void finish(const std::string& trouble) = 0;

  [[nodiscard]] const ServerTraits& traits() const noexcept { return traits_; }

 protected:
  explicit ServerTransport(ServerTraits traits) : traits_(std::move(traits)) {}

 private:
  ServerTraits traits_;
};

}  // namespace sidestream
