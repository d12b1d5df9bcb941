#include "server/halo.hpp"

#include <algorithm>
#include <cstring>

#include "base/checked.hpp"

namespace sidestream {

namespace {

/// Precedes the values of a piece in a message. The values follow in column order, padded to 8 bytes.
struct PieceHeader {
  std::int32_t request = 0;
  std::int32_t components = 1;
  Type type = Type::float64;
  std::int32_t reserved = 0;
  std::int64_t block = 0;  ///< the block that wants it
  Box box;
  std::uint64_t bytes = 0;
};

BlockView* find_view(std::vector<BlockView>& views, std::int64_t id) {
  const auto it = std::lower_bound(views.begin(), views.end(), id,
                                   [](const BlockView& v, std::int64_t wanted) { return v.block.id < wanted; });
  return it == views.end() || it->block.id != id ? nullptr : &*it;
}

void append_piece(Bytes& message, const BlockView& from, const Box& box, std::int32_t request, std::int64_t block) {
  PieceHeader header;
  header.request = request;
  header.components = from.array.components;
  header.type = from.array.type;
  header.block = block;
  header.box = box;
  header.bytes = packed_bytes(box, from.array.components, from.array.type);
  const std::size_t at = message.size();
  message.resize(at + sizeof header + round_up(header.bytes, 8));
  std::memcpy(message.data() + at, &header, sizeof header);
  pack(from.array, box, Order::column, std::span(message).subspan(at + sizeof header, header.bytes));
}

/// Gives the points that `from` owns to every block within reach: by pointer here, by message elsewhere.
void offer(const BlockTable& table, const HaloRequest& request, std::int32_t number, const BlockView& from, int me,
           std::vector<Bytes>& messages) {
  const Box reach = grown(from.block.cells, request.width + 1);
  for (const std::int64_t position : table.near(from.block.mesh, from.block.level, reach)) {
    const Block& other = table.blocks()[static_cast<std::size_t>(position)];
    const std::int32_t server = table.server(position);
    if (other.id == from.block.id) continue;
    if (!request.needed.empty() && !request.needed[static_cast<std::size_t>(position)]) continue;
    const Box wanted = grown(request.variable->points(other.cells), request.width);
    BlockView* view = server == me ? find_view(*request.views, other.id) : nullptr;
    if (server == me && !view) continue;  // declared but not delivered
    for (const Box& mine : from.owned) {
      const Box piece = intersection(mine, wanted);
      if (piece.empty()) continue;
      if (view) {
        view->halo.push_back(HaloPiece{piece, from.array});
      } else {
        append_piece(messages[static_cast<std::size_t>(server)], from, piece, number, other.id);
      }
    }
  }
}

void take(const Bytes& message, const std::vector<HaloRequest>& requests) {
  for (std::size_t at = 0; at < message.size();) {
    PieceHeader header;
    std::memcpy(&header, message.data() + at, sizeof header);
    at += sizeof header;
    ArrayView array;
    array.data = message.data() + at;
    array.type = header.type;
    array.box = header.box;
    array.components = header.components;
    array.strides = packed_strides(header.box, header.components, Order::column);
    at += round_up(header.bytes, 8);
    BlockView* view = find_view(*requests[header.request].views, header.block);
    if (view) view->halo.push_back(HaloPiece{header.box, array});
  }
}

}  // namespace

std::vector<Bytes> exchange_halos(const BlockTable& table, const std::vector<HaloRequest>& requests,
                                  Communicator& servers) {
  std::vector<Bytes> messages(static_cast<std::size_t>(servers.size()));
  for (std::size_t r = 0; r < requests.size(); ++r) {
    for (const BlockView& view : *requests[r].views) {
      offer(table, requests[r], static_cast<std::int32_t>(r), view, servers.rank(), messages);
    }
  }
  if (servers.size() == 1) return {};
  std::vector<Bytes> received = servers.all_to_all(messages);
  for (const Bytes& message : received) take(message, requests);
  return received;
}

}  // namespace sidestream
