// Calls to MPI for values beyond 2^31 elements and 2^32 bytes. Nothing is sent, and no such memory exists.
#include <doctest/doctest.h>
#include <mpi.h>

#include <vector>

#include "base/mpi/communicator.hpp"
#include "sidestream/error.hpp"
#include "transport/mpi/source.hpp"

using namespace sidestream;
using namespace sidestream::mpi;

namespace {

struct Asked {
  const std::byte* data;
  std::uint64_t bytes;
  int peer, tag;
};

bool recording = false;
std::vector<Asked> requested;

}  // namespace

// MPI's profiling interface allows a program to replace MPI's functions.
extern "C" int MPI_Isend(const void* data, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                         MPI_Request* request) {
  if (!recording) return PMPI_Isend(data, count, type, peer, tag, comm, request);
  REQUIRE(type == MPI_BYTE);
  REQUIRE(count >= 0);
  requested.push_back({static_cast<const std::byte*>(data), static_cast<std::uint64_t>(count), peer, tag});
  *request = MPI_REQUEST_NULL;
  return MPI_SUCCESS;
}

extern "C" int MPI_Irecv(void* data, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                         MPI_Request* request) {
  if (!recording) return PMPI_Irecv(data, count, type, peer, tag, comm, request);
  return MPI_Isend(data, count, type, peer, tag, comm, request);
}

namespace {

/// An address that is not memory, and that nobody reads.
std::byte* nowhere() { return reinterpret_cast<std::byte*>(std::uintptr_t{1} << 20); }

/// Checks that the pieces are contiguous and `bytes` long together.
void check_pieces(std::span<const Asked> pieces, std::uint64_t bytes, int peer, int tag) {
  std::uint64_t at = 0;
  for (const Asked& piece : pieces) {
    CHECK(piece.data == nowhere() + at);
    CHECK(piece.peer == peer);
    CHECK(piece.tag == tag);
    at += piece.bytes;
  }
  CHECK(at == bytes);
}

constexpr std::uint64_t gib = 1ull << 30;
const Box cube{{0, 0, 0}, {4096, 4096, 4096}};

}  // namespace

TEST_CASE("both ends take values of any size apart in the same way") {
  for (const std::uint64_t bytes :
       {std::uint64_t{0}, std::uint64_t{1}, gib - 1, gib, gib + 1, 2 * gib, 4 * gib + 8, 16 * gib - 1, 512 * gib}) {
    CAPTURE(bytes);
    std::vector<Asked> sent;
    for (const bool sends : {true, false}) {
      std::vector<MPI_Request> requests;
      requested.clear();
      recording = true;
      if (sends) {
        post_send(MPI_COMM_SELF, 3, value_tag, nowhere(), bytes, requests);
      } else {
        post_receive(MPI_COMM_SELF, 3, value_tag, nowhere(), bytes, requests);
      }
      recording = false;
      REQUIRE(requested.size() == requests.size());
      REQUIRE(requested.size() == std::max<std::uint64_t>(1, (bytes + gib - 1) / gib));
      check_pieces(requested, bytes, 3, value_tag);
      if (sends) sent = requested;
    }
    for (std::size_t n = 0; n < sent.size(); ++n) CHECK(sent[n].bytes == requested[n].bytes);
  }
}

TEST_CASE("a block of 4096 cubed cells is answered in place and counted whole") {
  const auto comm = std::make_shared<MpiCommunicator>(MPI_COMM_SELF);
  ValueStore value_store;
  BlockRecord record;
  record.variable = 0;
  record.components = 3;
  record.block.id = std::int64_t{1} << 40;
  record.block.cells = record.box = cube;
  record.bytes = packed_bytes(cube, 3, Type::float64);
  CHECK(record.bytes == 1536 * gib);
  value_store.put(0, Arrival{record, nowhere()});
  value_store.complete(0);
  Source source(comm, value_store);
  const WantedItem item{record.block.id, 0, 0, cube};
  Packet packet;
  packet.header.kind = PacketKind::fetch;
  packet.body.resize(sizeof item);
  std::memcpy(packet.body.data(), &item, sizeof item);
  requested.clear();
  recording = true;
  source.request(packet);
  source.move();
  recording = false;
  REQUIRE(requested.size() == 1 + 1536);
  CHECK(requested[0].tag == packet_tag);
  CHECK(requested[0].bytes == sizeof(PacketHeader) + 1);
  check_pieces(std::span(requested).subspan(1), record.bytes, 0, value_tag);
  CHECK(source.take_bytes_sent(0) == record.bytes);
}

TEST_CASE("sizes that 64 bits cannot hold are an error and not a small number") {
  const Index huge = Index{1} << 40;
  const Box box{{0, 0, 0}, {huge, huge, 1}};
  CHECK_THROWS_AS(static_cast<void>(packed_bytes(box, 1, Type::float64)), Error);
  CHECK_THROWS_AS(static_cast<void>(packed_bytes({{0, 0, 0}, {huge, 1 << 22, 1}}, 1, Type::float64)), Error);
  CHECK(packed_bytes({{0, 0, 0}, {huge, 1 << 20, 1}}, 1, Type::float64) == 1ull << 63);
}
