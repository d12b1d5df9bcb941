#include "storage/database/table.hpp"

#include <algorithm>
#include <cstring>
#include <tuple>

#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/records.hpp"

namespace sidestream::database {

namespace {

template <class Row>
void append(Bytes& bytes, const std::vector<Row>& rows) {
  const BytesView view = std::as_bytes(std::span(rows));
  bytes.insert(bytes.end(), view.begin(), view.end());
}

std::uint64_t product(std::uint64_t a, std::uint64_t b, const std::string& where) {
  std::uint64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) fail(Code::file, "{}: sizes beyond 64 bits; the file is damaged", where);
  return result;
}

std::uint64_t sum(std::uint64_t a, std::uint64_t b, const std::string& where) {
  std::uint64_t result = 0;
  if (__builtin_add_overflow(a, b, &result)) fail(Code::file, "{}: sizes beyond 64 bits; the file is damaged", where);
  return result;
}

/// True if a piece may state its own number of chunks. More chunks than bytes are refused.
bool may_be_cut(const Variable& variable, const Metadata& metadata, std::uint64_t bytes, std::uint64_t chunks) {
  const Mesh& mesh = metadata.mesh_of(variable);
  if (mesh.kind() != MeshKind::octree || mesh.array(Role::refined) < 0 || chunks > bytes) return false;
  if (variable.role == Role::none) return variable.centering == Centering::cell;
  return chunks == 1 && bytes <= static_cast<std::uint64_t>(most_packed_cells);
}

}  // namespace

PackedTable pack_table(const std::vector<DomainRows>& domains) {
  DomainRows all;
  std::vector<std::pair<PieceRow, const DomainRows*>> order;
  for (const DomainRows& domain : domains) {
    for (PieceRow piece : domain.rows.pieces) {
      piece.block += static_cast<std::uint32_t>(all.blocks.size());
      order.emplace_back(piece, &domain);
    }
    all.blocks.insert(all.blocks.end(), domain.blocks.begin(), domain.blocks.end());
  }
  std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return std::tuple(a.first.variable, a.first.block) < std::tuple(b.first.variable, b.first.block);
  });
  for (auto& [piece, domain] : order) {
    const auto from = domain->rows.chunks.begin() + static_cast<std::ptrdiff_t>(piece.chunk);
    piece.chunk = all.rows.chunks.size();
    for (std::uint64_t bytes = 0, n = 0; bytes < piece.bytes;
         bytes += from[static_cast<std::ptrdiff_t>(n)].bytes, ++n) {
      all.rows.chunks.push_back(from[static_cast<std::ptrdiff_t>(n)]);
    }
    all.rows.pieces.push_back(piece);
  }
  PackedTable packed;
  append(packed.bytes, all.blocks);
  const std::size_t rest = packed.bytes.size();
  append(packed.bytes, all.rows.pieces);
  append(packed.bytes, all.rows.chunks);
  packed.entry.blocks = all.blocks.size();
  packed.entry.pieces = all.rows.pieces.size();
  packed.entry.chunks = all.rows.chunks.size();
  packed.entry.blocks_checksum = checksum_of(BytesView(packed.bytes).first(rest));
  packed.entry.rest_checksum = checksum_of(BytesView(packed.bytes).subspan(rest));
  packed.entry.contributors = static_cast<std::uint32_t>(domains.size());
  return packed;
}

std::uint64_t blocks_bytes(const GroupEntry& group, const std::string& where) {
  return product(group.blocks, sizeof(BlockRow), where);
}

std::uint64_t rest_bytes(const GroupEntry& group, const std::string& where) {
  return sum(product(group.pieces, sizeof(PieceRow), where), product(group.chunks, sizeof(ChunkRow), where), where);
}

std::uint64_t bytes_of_piece(const Variable& variable, const Block& block, const std::string& where) {
  const Box points = variable.points(block);
  std::uint64_t bytes = product(size_of(variable.type), static_cast<std::uint64_t>(variable.components), where);
  for (int axis = 0; axis < 3; ++axis) bytes = product(bytes, static_cast<std::uint64_t>(points.extent(axis)), where);
  return bytes;
}

void check_pieces(const Pieces& rows, std::span<const Block> blocks, const Metadata& metadata, std::uint64_t chunk,
                  const GroupEntry& group, const std::string& where) {
  std::uint64_t before = 0;  // variable, then block
  std::uint64_t counted =
      0;  // chunks so far; no two pieces share one, which bounds the reading time by the table's size
  for (const PieceRow& piece : rows.pieces) {
    const auto wrong = [&](const char* what) {
      fail(Code::file, "{}: {} in a table; the file is damaged", where, what);
    };
    if (piece.variable >= metadata.variables.size() || piece.block >= blocks.size()) wrong("a piece of nothing");
    const std::uint64_t now = (std::uint64_t{piece.variable} << 32 | piece.block) + 1;
    if (now <= before) wrong("pieces in the wrong order");
    before = now;
    const Variable& variable = metadata.variables[piece.variable];
    if (variable.mesh != blocks[piece.block].mesh) wrong("a piece on the wrong mesh");
    if (piece.number < group.first || piece.number > group.last) wrong("a piece in no segment of the context");
    const std::uint64_t bytes = bytes_of_piece(variable, blocks[piece.block], where);
    const std::uint64_t count = piece.chunks != 0 ? piece.chunks : bytes / chunk + (bytes % chunk != 0);
    if (piece.chunks != 0 && !may_be_cut(variable, metadata, bytes, count))
      wrong("a piece that cannot be cut by level");
    if (piece.chunk > rows.chunks.size() || count > rows.chunks.size() - piece.chunk) wrong("a piece of no chunks");
    counted += count;
    if (counted > rows.chunks.size()) wrong("a chunk of two pieces");
    std::uint64_t stored = 0;
    for (std::uint64_t n = 0; n < count; ++n) {
      const ChunkRow& row = rows.chunks[piece.chunk + n];
      if (row.encoded > most_lists) wrong("a chunk of an unknown kind");
      if (piece.chunks == 0 && row.encoded == 0 && row.bytes != std::min(chunk, bytes - n * chunk))
        wrong("a chunk of the wrong length");
      stored += row.bytes;
    }
    if (stored != piece.bytes) wrong("a piece of the wrong length");
  }
}

}  // namespace sidestream::database
