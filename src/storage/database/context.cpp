#include "storage/database/context.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "base/checked.hpp"
#include "base/fail.hpp"
#include "base/records.hpp"

namespace sidestream::database {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t most_files = 64;
constexpr std::size_t record_head = 24;

std::string path_of(const std::string& directory, const Entry& entry, std::uint32_t group, std::uint32_t number) {
  return (fs::path(directory) / segment_name(entry.run, group, number)).string();
}

/// Reads bytes whose length the file's own bounds, and checks them.
Bytes read_checked(const PlacedFile& file, std::uint64_t offset, std::uint64_t size, std::uint64_t checksum,
                   const char* what) {
  const std::uint64_t length = file.size();
  if (offset > length || size > length - offset) {
    fail(Code::file, "'{}' ends before {}, which needs {} bytes from {} on; it was cut off", file.path(), what, size,
         offset);
  }
  Bytes bytes(size);
  file.read(offset, bytes);
  if (checksum_of(bytes) != checksum) {
    fail(Code::file, "'{}': the checksum of {} at byte {} does not fit; it is damaged", file.path(), what, offset);
  }
  return bytes;
}

}  // namespace

Bytes read_record(const std::string& directory, const Entry& entry) {
  const PlacedFile file(path_of(directory, entry, entry.record.group, entry.record.number));
  return read_checked(file, entry.record.offset, entry.record.size, entry.record.checksum, "the record of a context");
}

Context::Context(std::string directory, const Entry& entry, BytesView record)
    : directory_(std::move(directory)), entry_(entry) {
  const std::string where = fmt::format("{} (context {})", directory_, entry.slot);
  std::uint64_t text = 0, groups = 0;
  const auto wrong = [&] { fail(Code::file, "{}: a record that makes no sense; the file is damaged", where); };
  if (record.size() < record_head || std::memcmp(record.data(), "SDSRECRD", 8) != 0) wrong();
  std::memcpy(&text, record.data() + 8, sizeof text);
  std::memcpy(&groups, record.data() + 16, sizeof groups);
  if (text > record.size() - record_head) wrong();
  const std::uint64_t table = record_head + round_up(text, 8);
  if (table > record.size() || groups != (record.size() - table) / sizeof(GroupEntry) ||
      groups * sizeof(GroupEntry) != record.size() - table) {
    wrong();
  }
  schema_ = read_schema({reinterpret_cast<const char*>(record.data()) + record_head, text}, where);
  groups_ = records_of<GroupEntry>(record.subspan(table));
  read_.resize(groups_.size());
}

const PlacedFile& Context::file(std::uint32_t group, std::uint32_t number) {
  const auto found = files_.find({group, number});
  if (found != files_.end()) return found->second;
  if (files_.size() >= most_files) files_.clear();
  return files_.emplace(std::pair(group, number), PlacedFile(path_of(directory_, entry_, group, number))).first->second;
}

Bytes Context::checked(std::size_t group, std::uint64_t offset, std::uint64_t size, std::uint64_t checksum,
                       const char* what) {
  const GroupEntry& entry = groups_[group];
  // Servers without blocks have no table, perhaps in a segment without bytes.
  if (size == 0 && checksum == checksum_of({})) return {};
  return read_checked(file(entry.group, entry.number), offset, size, checksum, what);
}

Bytes Context::read_blocks(std::size_t group) {
  const GroupEntry& entry = groups_.at(group);
  return checked(group, entry.offset, blocks_bytes(entry, directory_), entry.blocks_checksum, "a table of blocks");
}

void Context::give_blocks(std::size_t group, BytesView bytes) {
  std::vector<Block> blocks;
  for (const BlockRow& row : records_of<BlockRow>(bytes)) blocks.push_back(block_of(row, schema_.metadata, directory_));
  read_.at(group).blocks = std::move(blocks);
}

const std::vector<Block>& Context::blocks(std::size_t group) {
  if (!read_.at(group).blocks) give_blocks(group, read_blocks(group));
  return *read_[group].blocks;
}

const Pieces& Context::pieces(std::size_t group) {
  std::optional<Pieces>& kept = read_.at(group).pieces;
  if (kept) return *kept;
  const GroupEntry& entry = groups_[group];
  const std::uint64_t blocks_size = blocks_bytes(entry, directory_);
  std::uint64_t offset = 0;
  if (__builtin_add_overflow(entry.offset, blocks_size, &offset))
    fail(Code::file, "{}: a table at no place", directory_);
  const Bytes rest = checked(group, offset, rest_bytes(entry, directory_), entry.rest_checksum, "a table of pieces");
  Pieces rows;
  const std::size_t middle = entry.pieces * sizeof(PieceRow);
  rows.pieces = records_of<PieceRow>(BytesView(rest).first(middle));
  rows.chunks = records_of<ChunkRow>(BytesView(rest).subspan(middle));
  check_pieces(rows, blocks(group), schema_.metadata, schema_.chunk, entry, directory_);
  kept = std::move(rows);
  return *kept;
}

void Context::forget_pieces(std::size_t group) {
  read_.at(group).pieces.reset();
  last_piece_ = nullptr;
}

const PieceRow* Context::find(std::size_t group, std::uint32_t variable, std::uint32_t block) {
  const std::vector<PieceRow>& rows = pieces(group).pieces;
  const auto before = [](const PieceRow& row, const std::pair<std::uint32_t, std::uint32_t>& key) {
    return std::pair(row.variable, row.block) < key;
  };
  const auto found = std::lower_bound(rows.begin(), rows.end(), std::pair(variable, block), before);
  return found == rows.end() || found->variable != variable || found->block != block ? nullptr : &*found;
}

const Packing& Context::packing(std::uint32_t variable) {
  const auto found = packings_.find(variable);
  if (found != packings_.end()) return found->second;
  if (!kinds_) kinds_ = codecs_for_readers();
  const Type type = schema_.metadata.variables[variable].type;
  return packings_.emplace(variable, Packing(schema_.lists_of(variable), type, *kinds_)).first->second;
}

std::uint64_t Context::bytes_of(std::size_t group, const PieceRow& piece) {
  return bytes_of_piece(schema_.metadata.variables[piece.variable], blocks(group)[piece.block], directory_);
}

std::uint64_t Context::chunk_size(std::size_t group, const PieceRow& piece, std::uint64_t number) {
  return std::min(schema_.chunk, bytes_of(group, piece) - number * schema_.chunk);
}

BytesView Context::chunk(std::size_t group, const PieceRow& piece, std::uint64_t number) {
  if (last_piece_ == &piece && last_chunk_ == number && !starts_.empty()) return raw_;
  last_chunk_ = ~std::uint64_t{0};
  fetch(group, piece, number, [&]() -> std::span<std::byte> {
    raw_.resize(chunk_size(group, piece, number));
    return raw_;
  });
  last_chunk_ = number;
  return raw_;
}

void Context::read_chunk(std::size_t group, const PieceRow& piece, std::uint64_t number, std::span<std::byte> out) {
  fetch(group, piece, number, [&] { return out; });
}

void Context::fetch(std::size_t group, const PieceRow& piece, std::uint64_t number,
                    const std::function<std::span<std::byte>()>& room) {
  const std::vector<ChunkRow>& chunks = pieces(group).chunks;
  if (last_piece_ != &piece) {
    const std::uint64_t bytes = bytes_of(group, piece);
    starts_.assign(1, piece.offset);
    for (std::uint64_t n = 0; n * schema_.chunk < bytes; ++n)
      starts_.push_back(starts_.back() + chunks[piece.chunk + n].bytes);
    last_piece_ = &piece;
    last_chunk_ = ~std::uint64_t{0};
  }
  const ChunkRow& row = chunks[piece.chunk + number];
  const PlacedFile& from = file(groups_[group].group, piece.number);
  const std::uint64_t length = from.size();
  if (starts_[number] > length || row.bytes > length - starts_[number]) {
    fail(Code::file, "'{}' ends before values of '{}'; it was cut off", from.path(),
         schema_.metadata.variables[piece.variable].name);
  }
  const auto load = [&](std::span<std::byte> bytes) {
    from.read(starts_[number], bytes);
    if (checksum_of(bytes) == row.checksum) return;
    fail(Code::file, "'{}': the checksum of values of '{}' on block {} at byte {} does not fit; they are damaged",
         from.path(), schema_.metadata.variables[piece.variable].name, blocks(group)[piece.block].id, starts_[number]);
  };
  if (!row.encoded) return load(room());
  stored_.resize(row.bytes);
  load(stored_);
  packing(piece.variable).decode(row.encoded, stored_, room());
}

void Context::verify(std::size_t group, const PieceRow& piece) {
  const std::uint64_t bytes = bytes_of(group, piece);
  for (std::uint64_t n = 0; n * schema_.chunk < bytes; ++n) static_cast<void>(chunk(group, piece, n));
}

}  // namespace sidestream::database
