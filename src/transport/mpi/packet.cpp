#include "transport/mpi/packet.hpp"

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

}  // namespace sidestream::mpi
