// The database's binary structures, identical in memory and in the files; docs/database-format.md is the specification.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <string>

#include "sidestream/data/iteration.hpp"
#include "sidestream/data/metadata.hpp"
#include "sidestream/extend/communicator.hpp"

namespace sidestream::database {

static_assert(std::endian::native == std::endian::little, "files of the database are written as memory lies");

inline constexpr std::uint32_t format_version = 1;
inline constexpr std::uint32_t tree_version = 2;  ///< version of contexts with pieces that are cut by level
inline constexpr std::uint64_t slot_bytes = 256;
inline constexpr std::uint64_t overlay_bytes = 8192;    ///< offset of the first piece of a segment
inline constexpr std::uint64_t alignment = 64;          ///< alignment of pieces
inline constexpr std::uint64_t page = 4096;             ///< alignment of large pieces, when writing
inline constexpr std::uint64_t chunk_bytes = 1u << 20;  ///< bytes of values, when writing
inline constexpr std::uint64_t most_chunk_bytes =
    1u << 26;  ///< limit when reading: bounds the memory that a wrong length makes a reader request
inline constexpr std::uint32_t most_lists = 16;             ///< most lists of codecs for the chunks of one variable
inline constexpr Index most_packed_cells = Index{1} << 26;  ///< cells of a tree whose flags form one chunk
inline constexpr const char* journal_name = "contexts";

enum class Kind : std::uint32_t { checkpoint = 0, post = 1 };

/// XXH3 of 64 bits.
[[nodiscard]] std::uint64_t checksum_of(BytesView bytes) noexcept;

/// A place in the segments of a run.
struct Place {
  std::uint32_t group = 0, number = 0;
  std::uint64_t offset = 0, size = 0;
  std::uint64_t checksum = 0;
};

/// A slot of a context. Removals, the head and incomplete slots are not represented.
struct Entry {
  std::uint32_t version = format_version;
  std::uint64_t slot = 0;
  std::uint32_t run = 0;
  Iteration iteration;
  Kind kind = Kind::checkpoint;
  std::uint32_t groups = 0;
  std::uint64_t contributors = 0, blocks = 0, bytes = 0, stored = 0;
  Place record;
};

/// The part of a record that describes a group.
struct GroupEntry {
  std::uint32_t group = 0, number = 0;  ///< group, and number of the segment with the tables
  std::uint32_t first = 0, last = 0;    ///< first and last segment of this context
  std::uint32_t contributors = 0, unused = 0;
  std::uint64_t offset = 0;
  std::uint64_t blocks = 0, pieces = 0, chunks = 0;
  std::uint64_t blocks_checksum = 0, rest_checksum = 0;
  std::uint64_t unused_too = 0;
};
static_assert(sizeof(GroupEntry) == 80);

struct BlockRow {
  std::int64_t id = 0;
  std::uint32_t mesh = 0;
  std::int32_t level = 0, client = 0, space = 0;
  std::array<std::int64_t, 3> lo{}, hi{};
  std::array<std::int64_t, 3> lengths{};
  std::array<double, 3> low{}, high{};
};
static_assert(sizeof(BlockRow) == 144);

struct PieceRow {
  std::uint32_t variable = 0, block = 0, number = 0;
  std::uint32_t chunks = 0;  ///< 0: the piece is cut every `chunk` bytes; otherwise (version 2) its number of chunks
  std::uint64_t offset = 0, bytes = 0, chunk = 0;
};
static_assert(sizeof(PieceRow) == 40);

struct ChunkRow {
  std::uint32_t bytes = 0, encoded = 0;
  std::uint64_t checksum = 0;
};
static_assert(sizeof(ChunkRow) == 16);

using Slot = std::array<std::byte, slot_bytes>;

[[nodiscard]] Slot head_slot();
[[nodiscard]] Slot context_slot(const Entry& entry);
[[nodiscard]] Slot removal_slot(std::uint64_t slot, std::uint32_t run, std::uint64_t removed);

/// The content of a slot.
struct SlotContent {
  enum class What { head, newer, context, removal, broken, empty };
  What what = What::broken;
  Entry entry{};              ///< a context; for a newer head, its version
  std::uint64_t removed = 0;  ///< slot that a removal removes
  std::uint32_t run = 0;
};
/// Reads a slot. Never throws: invalid bytes are `broken`, zeros are `empty`.
[[nodiscard]] SlotContent read_slot(BytesView bytes, std::uint64_t slot);

[[nodiscard]] BlockRow row_of(const Block& block);
/// The block of a row. Throws Error(file) if the row is invalid; `where` names the table.
[[nodiscard]] Block block_of(const BlockRow& row, const Metadata& metadata, const std::string& where);

/// `segment-0001-000000-0000.h5`
[[nodiscard]] std::string segment_name(std::uint32_t run, std::uint32_t group, std::uint32_t number);
/// `context-000001.h5`
[[nodiscard]] std::string shown_name(std::uint64_t slot);

/// The parts of the name of a segment.
struct SegmentName {
  std::uint32_t run = 0, group = 0, number = 0;
};
/// Parses a name. Nothing unless segment_name makes exactly this name: other files are not the database's.
[[nodiscard]] std::optional<SegmentName> parse_segment_name(const std::string& name);
/// Parses the slot in a name that shown_name makes; nothing for other names.
[[nodiscard]] std::optional<std::uint64_t> parse_shown_name(const std::string& name);

}  // namespace sidestream::database
