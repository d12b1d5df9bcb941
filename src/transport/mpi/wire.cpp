#include "transport/mpi/wire.hpp"

#include <algorithm>
#include <cstring>

#include "base/fail.hpp"
#include "base/polite_wait.hpp"

namespace sidestream::mpi {

Bytes encode_manifest(std::span<const Message> messages) {
  ManifestHeader header;
  header.count = static_cast<std::uint32_t>(messages.size());
  Bytes bytes(sizeof header + messages.size_bytes());
  std::memcpy(bytes.data(), &header, sizeof header);
  if (!messages.empty()) std::memcpy(bytes.data() + sizeof header, messages.data(), messages.size_bytes());
  return bytes;
}

std::vector<Message> decode_manifest(BytesView bytes) {
  ManifestHeader header;
  const ManifestHeader expected;
  if (bytes.size() < sizeof header) fail(Code::system, "a manifest of {} bytes is too short", bytes.size());
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.magic != expected.magic || header.record_bytes != expected.record_bytes ||
      bytes.size() != sizeof header + std::uint64_t{header.count} * sizeof(Message)) {
    fail(
        Code::system,
        "a client sent a manifest that this version of Sidestream does not know; start all ranks with the same library");
  }
  std::vector<Message> messages(header.count);
  if (header.count) std::memcpy(messages.data(), bytes.data() + sizeof header, header.count * sizeof(Message));
  return messages;
}

void post_send(MPI_Comm comm, int peer, int tag, const std::byte* data, std::uint64_t bytes,
               std::vector<MPI_Request>& requests) {
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

void Outbox::send(MPI_Comm comm, int peer, int tag, Bytes bytes) {
  Letter& letter = letters_.emplace_back();
  letter.bytes = std::move(bytes);
  post_send(comm, peer, tag, letter.bytes.data(), letter.bytes.size(), letter.requests);
}

bool Outbox::sweep() {
  letters_.remove_if([](Letter& letter) { return test_all(letter.requests); });
  return letters_.empty();
}

bool take_message(MPI_Comm comm, int tag, Bytes& bytes, int& source) {
  int there = 0;
  MPI_Message message;
  MPI_Status status;
  check_mpi(MPI_Improbe(MPI_ANY_SOURCE, tag, comm, &there, &message, &status), "MPI_Improbe");
  if (!there) return false;
  int count = 0;
  check_mpi(MPI_Get_count(&status, MPI_BYTE, &count), "MPI_Get_count");
  bytes.resize(static_cast<std::size_t>(count));
  source = status.MPI_SOURCE;
  check_mpi(MPI_Mrecv(bytes.data(), count, MPI_BYTE, &message, MPI_STATUS_IGNORE), "MPI_Mrecv");
  return true;
}

void progress(MPI_Comm comm) {
  int there = 0;
  check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &there, MPI_STATUS_IGNORE), "MPI_Iprobe");
}

}  // namespace sidestream::mpi
