#include "transport/mpi/packet.hpp"

#include <sys/prctl.h>

#include <algorithm>

#include "base/mpi/polite_wait.hpp"
#include "sidestream/kit/base/fail.hpp"

namespace sidestream::mpi {

void Packet::check_length(std::size_t record) const {
  if (body.size() % record == 0) return;
  fail(Code::system, "rank {} sent a message of {} bytes where records of {} were expected", from, body.size(), record);
}

Bytes write_packet(PacketKind kind, std::int64_t index, std::int64_t number, BytesView body) {
  if (body.size() > longest_message - sizeof(PacketHeader)) {
    fail(Code::system,
         "a message of {} bytes about blocks or results is too long, {} are possible; use fewer blocks on a "
         "rank",
         body.size(), longest_message);
  }
  PacketHeader header;
  header.layout = packet_layout();
  header.kind = kind;
  header.index = index;
  header.number = number;
  ByteWriter packet;
  packet.reserve(sizeof header + body.size());
  packet.put(header);
  packet.put_all(body);
  return packet.take();
}

namespace {

/// Reserves room for requests before MPI knows the memory, because posted messages must be awaited.
void make_room(std::uint64_t bytes, std::vector<MPI_Request>& requests) {
  const std::size_t needed = requests.size() + bytes / longest_message + 1;
  if (needed > requests.capacity()) requests.reserve(std::max(needed, 2 * requests.size()));
}

}  // namespace

void post_send(MPI_Comm comm, int peer, int tag, const std::byte* data, std::uint64_t bytes,
               std::vector<MPI_Request>& requests) {
  make_room(bytes, requests);
  std::uint64_t at = 0;
  do {
    const int now = static_cast<int>(std::min(longest_message, bytes - at));
    MPI_Request request;
    check_mpi(MPI_Isend(data + at, now, MPI_BYTE, peer, tag, comm, &request), "MPI_Isend");
    requests.push_back(request);
    at += longest_message;
  } while (at < bytes);
}

void post_receive(MPI_Comm comm, int peer, int tag, std::byte* data, std::uint64_t bytes,
                  std::vector<MPI_Request>& requests) {
  make_room(bytes, requests);
  std::uint64_t at = 0;
  do {
    const int now = static_cast<int>(std::min(longest_message, bytes - at));
    MPI_Request request;
    check_mpi(MPI_Irecv(data + at, now, MPI_BYTE, peer, tag, comm, &request), "MPI_Irecv");
    requests.push_back(request);
    at += longest_message;
  } while (at < bytes);
}

bool test_all(std::vector<MPI_Request>& requests) {
  std::erase_if(requests, [](MPI_Request& request) {
    int done = 0;
    check_mpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    return done != 0;
  });
  return requests.empty();
}

void progress(MPI_Comm comm) {
  int there = 0;
  check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &there, MPI_STATUS_IGNORE), "MPI_Iprobe");
}

void sleep_exactly() noexcept { prctl(PR_SET_TIMERSLACK, 1000, 0, 0, 0); }

}  // namespace sidestream::mpi
