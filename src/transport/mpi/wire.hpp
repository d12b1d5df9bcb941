// How messages look on the wire between clients and servers of placement `nodes`.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <list>
#include <span>
#include <vector>

#include "sidestream/extend/communicator.hpp"
#include "transport/message.hpp"

namespace sidestream::mpi {

/// One manifest per client, server and iteration says what follows; values follow in the manifest's order, those that
/// outlive iterations under a tag of their own because they are received at another time.
enum Tag : int { manifest_tag = 1, value_tag = 2, persistent_tag = 3, verdict_tag = 4, failure_tag = 5 };

/// Checked before the records of a manifest are believed.
struct ManifestHeader {
  std::uint64_t magic = 0x5344'4d41'4e49'4631ull;
  std::uint32_t record_bytes = sizeof(Message);
  std::uint32_t count = 0;
};

/// What a server tells a client of one iteration.
struct Verdict {
  std::int64_t index = 0;
  std::int32_t outcome = 0;
  std::int32_t server = 0;
};

[[nodiscard]] Bytes encode_manifest(std::span<const Message> messages);
/// Throws Error(system) if `bytes` is no manifest of this version.
[[nodiscard]] std::vector<Message> decode_manifest(BytesView bytes);

/// Values longer than this travel in several messages: MPI counts are ints.
inline constexpr std::uint64_t longest_message = 1ull << 30;

/// Posts sends or receives of `bytes` bytes; the memory must stay until the requests are complete.
void post_send(MPI_Comm comm, int peer, int tag, const std::byte* data, std::uint64_t bytes,
               std::vector<MPI_Request>& requests);
void post_receive(MPI_Comm comm, int peer, int tag, std::byte* data, std::uint64_t bytes,
                  std::vector<MPI_Request>& requests);
/// Whether all are complete; drops the complete ones.
[[nodiscard]] bool test_all(std::vector<MPI_Request>& requests);

/// Small messages whose memory is ours until they have left.
class Outbox {
 public:
  void send(MPI_Comm comm, int peer, int tag, Bytes bytes);
  /// Drops what has left. True if nothing is left.
  bool sweep();

 private:
  struct Letter {
    Bytes bytes;
    std::vector<MPI_Request> requests;
  };
  std::list<Letter> letters_;
};

/// A message of that tag, if one has arrived, and who sent it.
[[nodiscard]] bool take_message(MPI_Comm comm, int tag, Bytes& bytes, int& source);

/// Gives MPI a chance to move messages of `comm`.
void progress(MPI_Comm comm);

}  // namespace sidestream::mpi
