// Reading one context of a database. The record holds the schema and one entry for each group of servers; a group's
// tables and values are read when they are first needed.
//
// 1. Constructor: parses the record and checks its sizes.
// 2. blocks, pieces: read a group's table of blocks, then of pieces and chunks, and keep both.
// 3. places, chunk, read_chunk: find a chunk, read its bytes, verify the checksum, and decode it. Pieces that are cut
//    by tree levels go through TreePieces.
// Files may be damaged or forged: each offset is compared with the file's size before memory is allocated, and any
// fault is an Error(file) with path and place.
#include "storage/database/context.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "base/paths.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/records.hpp"
#include "storage/codecs/pipeline.hpp"
#include "storage/database/tree_pieces.hpp"

namespace sidestream::database {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t most_files = 64;
constexpr std::size_t record_head = 24;

std::string path_of(const std::string& directory, const Entry& entry, std::uint32_t group, std::uint32_t number) {
  return (fs::path(directory) / segment_name(entry.run, group, number)).string();
}

/// Reads bytes and checks them. The file's size bounds their length.
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
  for (const GroupEntry& group : groups_) {
    if (group.first > group.number || group.number > group.last) wrong();
  }
  read_.resize(groups_.size());
  trees_ = std::make_unique<TreePieces>(*this);
}

Context::~Context() = default;

const PlacedFile& Context::file(std::uint32_t group, std::uint32_t number) {
  const auto found = files_.find({group, number});
  if (found != files_.end()) return found->second;
  if (files_.size() >= most_files) files_.clear();
  return files_.emplace(std::pair(group, number), PlacedFile(path_of(directory_, entry_, group, number))).first->second;
}

Bytes Context::checked(std::size_t group, std::uint64_t offset, std::uint64_t size, std::uint64_t checksum,
                       const char* what) {
  const GroupEntry& entry = groups_[group];
  // Servers without blocks have no table, and possibly a segment without bytes.
  if (size == 0 && checksum == checksum_of({})) return {};
  bytes_read_ += size;
  return read_checked(file(entry.group, entry.number), offset, size, checksum, what);
}

void Context::check_segments(std::size_t group) const {
  const GroupEntry& entry = groups_.at(group);
  // Files may be forged: an endless range ends at its first gap.
  for (std::uint64_t number = entry.first; number <= entry.last; ++number) {
    const std::string path = path_of(directory_, entry_, entry.group, static_cast<std::uint32_t>(number));
    std::error_code ignored;
    if (fs::exists(path, ignored)) continue;
    fail(Code::file, "'{}' is missing: the context of slot {} has segments {} to {} of group {}", path, entry_.slot,
         entry.first, entry.last, entry.group);
  }
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
  trees_->forget();
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
  const auto lists = schema_.lists_of(variable);
  add_codecs_of_modules(lists, working_directory(), *kinds_);
  return packings_.emplace(variable, Packing(lists, type, *kinds_)).first->second;
}

void Context::prepare_codecs() {
  const auto is_encoded = [](const auto& names) { return !names.empty(); };
  if (std::none_of(schema_.codecs.begin(), schema_.codecs.end(), is_encoded)) return;
  if (!kinds_) kinds_ = codecs_for_readers();
  const auto is_of_trees = [](const auto& names) { return names.size() == 1 && names[0] == database::tree_codec; };
  if (std::none_of(schema_.codecs.begin(), schema_.codecs.end(), is_of_trees) || tree_codec_) return;
  try {
    tree_codec_ = find_tree_codec(database::tree_codec, *kinds_, working_directory());
  } catch (const Error& error) {
    tree_codec_ = FoundTreeCodec{nullptr, error.what()};
  }
}

const TreeCodec& Context::tree_codec() {
  if (!kinds_) kinds_ = codecs_for_readers();
  if (!tree_codec_) tree_codec_ = find_tree_codec(database::tree_codec, *kinds_, working_directory());
  if (!tree_codec_->codec) fail(Code::file, "{}: {}", directory_, tree_codec_->missing);
  return *tree_codec_->codec;
}

std::uint64_t Context::bytes_of(std::size_t group, const PieceRow& piece) {
  return bytes_of_piece(schema_.metadata.variables[piece.variable], blocks(group)[piece.block], directory_);
}

void Context::place_chunks(std::size_t group, const PieceRow& piece) {
  const std::vector<ChunkRow>& rows = pieces(group).chunks;
  ChunkPlaces made;
  if (piece.chunks > 0) {
    made.values = trees_->cuts(group, piece);
  } else {
    const std::uint64_t bytes = bytes_of(group, piece);
    for (std::uint64_t at = 0; at < bytes; at += schema_.chunk) made.values.push_back(at);
    made.values.push_back(bytes);
  }
  made.stored.assign(1, piece.offset);
  for (std::uint64_t n = 0; n + 1 < made.values.size(); ++n)
    made.stored.push_back(made.stored.back() + rows[piece.chunk + n].bytes);
  places_ = std::move(made);
  last_piece_ = &piece;
  last_chunk_ = ~std::uint64_t{0};
}

const ChunkPlaces& Context::places(std::size_t group, const PieceRow& piece) {
  if (last_piece_ != &piece) place_chunks(group, piece);
  return places_;
}

LinkedTree& Context::tree(std::size_t group, std::uint32_t block) { return trees_->tree(group, block); }

BytesView Context::chunk(std::size_t group, const PieceRow& piece, std::uint64_t number) {
  if (last_piece_ == &piece && last_chunk_ == number) return raw_;
  const ChunkPlaces& at = places(group, piece);
  last_chunk_ = ~std::uint64_t{0};
  fetch(group, piece, number, [&]() -> std::span<std::byte> {
    raw_.resize(at.values[number + 1] - at.values[number]);
    return raw_;
  });
  last_chunk_ = number;
  return raw_;
}

void Context::read_chunk(std::size_t group, const PieceRow& piece, std::uint64_t number, std::span<std::byte> out) {
  fetch(group, piece, number, [&] { return out; });
}

void Context::load(std::size_t group, const PieceRow& piece, const ChunkRow& row, std::uint64_t at,
                   const std::function<std::span<std::byte>()>& target) {
  const PlacedFile& from = file(groups_[group].group, piece.number);
  const std::uint64_t length = from.size();
  const std::string& name = schema_.metadata.variables[piece.variable].name;
  if (at > length || row.bytes > length - at) {
    fail(Code::file, "'{}' ends before values of '{}'; it was cut off", from.path(), name);
  }
  const std::span<std::byte> bytes = target();
  from.read(at, bytes);
  bytes_read_ += bytes.size();
  if (checksum_of(bytes) == row.checksum) return;
  fail(Code::file, "'{}': the checksum of values of '{}' on block {} at byte {} does not fit; they are damaged",
       from.path(), name, blocks(group)[piece.block].id, at);
}

void Context::fetch(std::size_t group, const PieceRow& piece, std::uint64_t number,
                    const std::function<std::span<std::byte>()>& target) {
  if (piece.chunks > 0) return trees_->fetch(group, piece, number, target);
  const std::uint64_t at = places(group, piece).stored[number];
  const ChunkRow& row = pieces(group).chunks[piece.chunk + number];
  if (!row.encoded) return load(group, piece, row, at, target);
  load(group, piece, row, at, [&]() -> std::span<std::byte> {
    stored_.resize(row.bytes);
    return stored_;
  });
  packing(piece.variable).decode(row.encoded, stored_, target());
}

void Context::verify(std::size_t group, const PieceRow& piece) {
  const std::size_t count = places(group, piece).values.size() - 1;
  for (std::size_t n = 0; n < count; ++n) static_cast<void>(chunk(group, piece, n));
}

}  // namespace sidestream::database
