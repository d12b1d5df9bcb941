// Packets over MPI, with a short form for regions whose ranges are requested.
//
// A block has a region for each of its neighbours, mostly one box of few cells. So the regions of a block are written
// as one head followed by their boxes, relative to the first corner of the first box. Corners take 16 bits if they all
// fit: 12 bytes for each box.
#include "transport/mpi/packet.hpp"

#include <sys/prctl.h>

#include <algorithm>
#include <limits>
#include <new>

#include "base/mpi/communicator.hpp"
#include "base/mpi/polite_wait.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/waiting.hpp"

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
void reserve_requests(std::uint64_t bytes, std::vector<MPI_Request>& requests) {
  const std::size_t needed = requests.size() + bytes / longest_message + 1;
  if (needed > requests.capacity()) requests.reserve(std::max(needed, 2 * requests.size()));
}

}  // namespace

void post_send(MPI_Comm comm, int peer, int tag, const std::byte* data, std::uint64_t bytes,
               std::vector<MPI_Request>& requests) {
  reserve_requests(bytes, requests);
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
  reserve_requests(bytes, requests);
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

namespace {

struct RegionsHead {
  std::int64_t block = 0;
  std::int64_t count = 0;
  std::int32_t variable = -1;
  std::int32_t component = 0;
  std::int32_t refined = -1, owned = -1;
  RangeRegion::Kind kind = RangeRegion::Kind::cells;
  std::int32_t wide = 0;  ///< 1: boxes are 64-bit numbers
  Index3 origin{};
};

bool same_head(const RangeRegion& a, const RangeRegion& b) {
  return a.block == b.block && a.variable == b.variable && a.component == b.component && a.kind == b.kind &&
         a.refined == b.refined && a.owned == b.owned;
}

/// True if all numbers of the boxes fit into 16 bits.
bool fit(std::span<const RangeRegion> regions, const Index3& origin) {
  constexpr Index least = std::numeric_limits<std::int16_t>::min(), most = std::numeric_limits<std::int16_t>::max();
  return std::all_of(regions.begin(), regions.end(), [&](const RangeRegion& region) {
    for (std::size_t a = 0; a < 3; ++a) {
      for (const Index i : {region.points.lo[a], region.points.hi[a]}) {
        if (i < origin[a] + least || i > origin[a] + most) return false;
      }
    }
    return true;
  });
}

template <class T>
void put_boxes(ByteWriter& out, std::span<const RangeRegion> regions, const Index3& origin) {
  for (const RangeRegion& region : regions) {
    std::array<T, 6> box{};
    for (std::size_t a = 0; a < 3; ++a) {
      box[a] = static_cast<T>(region.points.lo[a] - origin[a]);
      box[3 + a] = static_cast<T>(region.points.hi[a] - origin[a]);
    }
    out.put(box);
  }
}

template <class T>
Box get_box(ByteReader& in, const Index3& origin) {
  const auto numbers = in.get<std::array<T, 6>>();
  Box box;
  for (std::size_t a = 0; a < 3; ++a) {
    box.lo[a] = origin[a] + numbers[a];
    box.hi[a] = origin[a] + numbers[3 + a];
  }
  return box;
}

ByteReader reader_of(BytesView bytes) {
  return {bytes, Code::system, "a message about ranges ends too early; run the same build everywhere"};
}

}  // namespace

Bytes write_question(std::span<const RangeRequest> requests, std::span<const RangeRegion> regions) {
  ByteWriter out;
  out.put(requests.size());
  out.put_all(requests);
  for (std::size_t begin = 0; begin < regions.size();) {
    std::size_t end = begin + 1;
    while (end < regions.size() && same_head(regions[begin], regions[end])) ++end;
    const std::span<const RangeRegion> some = regions.subspan(begin, end - begin);
    const RangeRegion& first = some.front();
    const bool narrow = fit(some, first.points.lo);
    out.put(RegionsHead{first.block, static_cast<std::int64_t>(some.size()), first.variable, first.component,
                        first.refined, first.owned, first.kind, narrow ? 0 : 1, first.points.lo});
    narrow ? put_boxes<std::int16_t>(out, some, first.points.lo) : put_boxes<std::int64_t>(out, some, first.points.lo);
    begin = end;
  }
  return out.take();
}

RangeQuestion read_question(BytesView bytes) {
  ByteReader in = reader_of(bytes);
  RangeQuestion question;
  in.get_all(question.requests, in.get<std::size_t>());
  while (!in.at_end()) {
    const auto head = in.get<RegionsHead>();
    for (std::int64_t n = 0; n < head.count; ++n) {
      const Box box = head.wide ? get_box<std::int64_t>(in, head.origin) : get_box<std::int16_t>(in, head.origin);
      question.regions.push_back(
          {head.block, 0, head.kind, 0, head.variable, head.component, head.refined, head.owned, box});
    }
  }
  return question;
}

Bytes write_ranges(const MeasuredRanges& ranges) {
  ByteWriter out;
  out.put(ranges.blocks.size());
  out.put_all(std::span(ranges.blocks));
  out.put_all(std::span(ranges.regions));
  return out.take();
}

MeasuredRanges read_ranges(BytesView bytes) {
  ByteReader in = reader_of(bytes);
  MeasuredRanges ranges;
  in.get_all(ranges.blocks, in.get<std::size_t>());
  in.get_all(ranges.regions, in.left() / sizeof(Range));
  return ranges;
}

void SendQueue::send(MPI_Comm comm, int peer, int tag, Bytes bytes) {
  Entry& entry = entries_.emplace_back();
  entry.bytes = std::move(bytes);
  try {
    post_send(comm, peer, tag, entry.bytes.data(), entry.bytes.size(), entry.requests);
  } catch (const std::bad_alloc&) {
    entries_.pop_back();
    throw;
  }
}

bool SendQueue::sweep() {
  entries_.remove_if([](Entry& entry) { return test_all(entry.requests); });
  return entries_.empty();
}

ReceiveQueue::~ReceiveQueue() {
  if (mpi_is_finalized()) return;
  for (Incoming& packet : incoming_) {
    if (!packet.complete) MPI_Wait(&packet.request, MPI_STATUS_IGNORE);
  }
}

void ReceiveQueue::accept() {
  for (;;) {
    int there = 0;
    MPI_Message message;
    MPI_Status status;
    check_mpi(MPI_Improbe(MPI_ANY_SOURCE, packet_tag, comm_, &there, &message, &status), "MPI_Improbe");
    if (!there) return;
    int count = 0;
    check_mpi(MPI_Get_count(&status, MPI_BYTE, &count), "MPI_Get_count");
    // A deque keeps its elements in place, which MPI needs to write into them. MPI has handed the message out, so this
    // waits until there is memory for it.
    retry_while_out_of_memory([&] { incoming_.emplace_back(); });
    Incoming& packet = incoming_.back();
    packet.from = status.MPI_SOURCE;
    retry_while_out_of_memory([&] { packet.bytes.resize(static_cast<std::size_t>(count)); });
    packet.complete = false;
    check_mpi(MPI_Imrecv(packet.bytes.data(), count, MPI_BYTE, &message, &packet.request), "MPI_Imrecv");
  }
}

std::optional<Packet> ReceiveQueue::take() {
  accept();
  for (auto it = incoming_.begin(); it != incoming_.end(); ++it) {
    if (!it->complete) {
      int done = 0;
      check_mpi(MPI_Test(&it->request, &done, MPI_STATUS_IGNORE), "MPI_Test");
      it->complete = done != 0;
    }
    const bool earlier = std::any_of(incoming_.begin(), it, [&](const Incoming& e) { return e.from == it->from; });
    if (!it->complete || earlier) continue;
    Packet packet;
    packet.from = it->from;
    const Bytes& bytes = it->bytes;
    const PacketHeader expected;
    if (bytes.size() >= sizeof expected)
      packet.header = record_of<PacketHeader>(std::span(bytes).first(sizeof expected));
    if (bytes.size() < sizeof expected || packet.header.magic != expected.magic ||
        packet.header.layout != packet_layout()) {
      fail(
          Code::system,
          "rank {} sent a message that this version of Sidestream does not know; start all ranks with the same library",
          packet.from);
    }
    // Must complete, since others wait for the packet's effect.
    retry_while_out_of_memory([&] { packet.body.assign(bytes.begin() + sizeof expected, bytes.end()); });
    // Erasing in the middle moves the owners of buffers that requests use; their memory stays in place.
    incoming_.erase(it);
    return packet;
  }
  return std::nullopt;
}

}  // namespace sidestream::mpi
