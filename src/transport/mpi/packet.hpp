// Packets over MPI: headers and records, requests for ranges, and queues of outgoing and incoming packets.
// Values of any size follow the packets that announce them. Requests for ranges and their answers take few bytes.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <optional>
#include <span>
#include <vector>

#include "sidestream/extend/communicator.hpp"
#include "sidestream/extend/transport.hpp"
#include "sidestream/kit/base/hash.hpp"
#include "sidestream/kit/base/records.hpp"
#include "transport/message.hpp"

namespace sidestream::mpi {

/// Message tags. Packets announce values, which follow in the packets' order; pushed values answer no request.
inline constexpr int packet_tag = 1, value_tag = 2, pushed_tag = 3, pushed_persistent_tag = 4;

/// Longer values are sent in several messages, since MPI counts are ints.
inline constexpr std::uint64_t longest_message = 1ull << 30;

/// Posts sends or receives of `bytes` bytes; the memory must stay valid until the requests are complete.
void post_send(MPI_Comm comm, int peer, int tag, const std::byte* data, std::uint64_t bytes,
               std::vector<MPI_Request>& requests);
void post_receive(MPI_Comm comm, int peer, int tag, std::byte* data, std::uint64_t bytes,
                  std::vector<MPI_Request>& requests);
/// True if all requests are complete; removes the complete ones.
[[nodiscard]] bool test_all(std::vector<MPI_Request>& requests);

/// Lets MPI make progress on messages of `comm`.
void progress(MPI_Comm comm);

/// Makes pauses of this thread more exact than the kernel's default timer slack allows.
void sleep_exactly() noexcept;

enum class PacketKind : std::uint32_t {
  manifest = 1,  ///< client to its contact: MessageLine[]: the messages of an iteration
  verdict = 2,   ///< contact to client: outcome of iteration `index`, in `number`
  failure = 3,   ///< contact to client: the text of the sticky failure
  fetch = 4,     ///< server to holder: WantedItem[] of iteration `index`
  ranges = 5,    ///< server to holder: a question (packet.hpp) about iteration `index`; empty: that server's last
                 ///< one again
  answer = 6,    ///< holder to server: one byte for each item of the request `number`, 1 if it is there; values follow
  range_answer = 7,  ///< holder to server: ranges (packet.hpp)
  partial = 8,       ///< reducing to combining server: PartialHeader; the partial follows
  combined = 9,      ///< combining to reducing server: the text of a failure, `number` bytes long, followed by feedback
  last_partial = 10,  ///< reducing to combining server: no more partials come
  fetched = 11,   ///< contact to client: all servers have what they need of iteration `index`, so its memory is free
  order = 12,     ///< server to holder: WantedItem[] for every iteration from `index` on; an empty list ends the order
  standing = 13,  ///< holder to server: iteration `index` for the order `number`: like an answer, with the small
                  ///< pieces in the packet and the large ones following
  order_taken = 14,    ///< holder to server: the order `number` has arrived; values for earlier orders came before this
  notice = 16,         ///< server to its clients: one message as MessageLine[]
  last_standing = 15,  ///< holder to server: nothing more comes for the order `number`, since the holder publishes no
                       ///< more
};

/// The header of every packet, checked before anything else is trusted.
struct PacketHeader {
  std::uint64_t magic = 0x5344'4c45'5454'4552ull;  // "SDLETTER"
  std::uint32_t layout = 0;                        ///< packet_layout of the sender
  PacketKind kind = PacketKind::manifest;
  std::int64_t index = 0;   ///< number of the iteration
  std::int64_t number = 0;  ///< number of a request and its answer; the outcome in a verdict
};

/// One piece of a request for values.
struct WantedItem {
  std::int64_t block = 0;
  std::int32_t variable = -1;
  std::int32_t reserved = 0;
  Box points;
};

/// Version of the meaning of packets; raise it when that changes.
inline constexpr std::size_t packet_version = 4;

/// Hash of the sizes of all structures that are sent, and of the version.
constexpr std::uint32_t packet_layout() {
  return hash_of_sizes({packet_version, sizeof(PacketHeader), message_version, sizeof(BlockRecord), sizeof(EndRecord),
                        sizeof(WantedItem), sizeof(BlockRange), sizeof(SignalHead)});
}

/// A received packet.
struct Packet {
  int from = 0;
  PacketHeader header;
  Bytes body;

  /// The body as an array of records. Throws Error(system) if its length is not a multiple of the record size.
  template <class T>
  [[nodiscard]] std::vector<T> records() const {
    check_length(sizeof(T));
    return records_of<T>(body);
  }

 private:
  void check_length(std::size_t record) const;
};

/// Serialises a header and records.
[[nodiscard]] Bytes write_packet(PacketKind kind, std::int64_t index, std::int64_t number, BytesView body);

template <class T>
[[nodiscard]] Bytes write_packet(PacketKind kind, std::int64_t index, std::int64_t number, std::span<const T> records) {
  return write_packet(kind, index, number, std::as_bytes(records));
}

/// A server's question to a holder. Regions have no `beside` and no `client`, which only the server needs.
struct RangeQuestion {
  std::vector<RangeRequest> requests;
  std::vector<RangeRegion> regions;
};

/// Never empty, so that an empty body can mean "the same as before".
[[nodiscard]] Bytes write_question(std::span<const RangeRequest> requests, std::span<const RangeRegion> regions);
/// Throws Error(system) if the bytes do not encode a question.
[[nodiscard]] RangeQuestion read_question(BytesView bytes);

[[nodiscard]] Bytes write_ranges(const MeasuredRanges& ranges);
/// Throws Error(system) if the bytes do not encode ranges.
[[nodiscard]] MeasuredRanges read_ranges(BytesView bytes);

/// Outgoing messages; owns their memory until MPI has sent them.
class SendQueue {
 public:
  void send(MPI_Comm comm, int peer, int tag, Bytes bytes);
  /// Frees messages that were sent. True if none is left.
  bool sweep();

 private:
  struct Entry {
    Bytes bytes;
    std::vector<MPI_Request> requests;
  };
  std::list<Entry> entries_;
};

/// Receives packets. Never blocks: while a long packet waits for its computing sender, others are read.
class ReceiveQueue {
 public:
  explicit ReceiveQueue(MPI_Comm comm) : comm_(comm) {}
  /// Waits for packets that are partly received, because MPI writes to their memory until then.
  ~ReceiveQueue();
  ReceiveQueue(const ReceiveQueue&) = delete;
  ReceiveQueue& operator=(const ReceiveQueue&) = delete;
  /// Returns the next complete packet; packets of one sender come in the order it sent them. Throws Error(system) if it
  /// is not a packet of this version.
  [[nodiscard]] std::optional<Packet> take();

 private:
  struct Incoming {
    int from;
    Bytes bytes;
    MPI_Request request;
    bool complete;
  };
  void accept();
  MPI_Comm comm_;
  std::deque<Incoming> incoming_;
};

}  // namespace sidestream::mpi
