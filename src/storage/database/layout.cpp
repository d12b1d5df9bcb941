// Bytes of a database: slots of the journal, rows of tables, and file names (docs/database-format.md).
//
// A slot has 256 bytes: magic, version, fields at fixed offsets, and a checksum of all before it in its last 8 bytes.
// read_slot calls a slot empty if all bytes are zero and damaged if anything does not fit. Rows come from files that
// may be forged, so block_of checks that indices and lengths are in range before they are used.
#include "storage/database/layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <string_view>

#include "base/checksum.hpp"
#include "sidestream/kit/base/fail.hpp"

namespace sidestream::database {

namespace {

constexpr std::string_view head_magic = "SDSDBASE", context_magic = "SDSCNTXT", removal_magic = "SDSREMVD";
constexpr std::size_t checksum_at = 248;
constexpr Index most_index = Index{1} << 62;

class SlotWriter {
 public:
  SlotWriter(std::string_view magic, std::uint32_t second, std::uint32_t version = format_version) {
    std::memcpy(slot_.data(), magic.data(), magic.size());
    put(8, version);
    put(12, second);
  }
  template <class T>
  void put(std::size_t at, T value) {
    std::memcpy(slot_.data() + at, &value, sizeof value);
  }
  [[nodiscard]] Slot sealed() {
    put(checksum_at, checksum_of(BytesView(slot_).first(checksum_at)));
    return slot_;
  }

 private:
  Slot slot_{};
};

template <class T>
T at(BytesView bytes, std::size_t where) {
  T value;
  std::memcpy(&value, bytes.data() + where, sizeof value);
  return value;
}

bool begins(BytesView bytes, std::string_view magic) {
  return std::memcmp(bytes.data(), magic.data(), magic.size()) == 0;
}

bool skip(std::string_view& text, std::string_view front) {
  if (!text.starts_with(front)) return false;
  text.remove_prefix(front.size());
  return true;
}

template <class T>
bool take(std::string_view& text, T& number) {
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()));
  return read.ec == std::errc();
}

Entry entry_of(BytesView bytes) {
  Entry entry;
  entry.version = at<std::uint32_t>(bytes, 8);
  entry.run = at<std::uint32_t>(bytes, 12);
  entry.slot = at<std::uint64_t>(bytes, 16);
  entry.iteration = {at<std::int64_t>(bytes, 24), at<std::int64_t>(bytes, 32), at<double>(bytes, 40)};
  entry.kind = static_cast<Kind>(at<std::uint32_t>(bytes, 48));
  entry.groups = at<std::uint32_t>(bytes, 52);
  entry.contributors = at<std::uint64_t>(bytes, 56);
  entry.blocks = at<std::uint64_t>(bytes, 64);
  entry.bytes = at<std::uint64_t>(bytes, 72);
  entry.stored = at<std::uint64_t>(bytes, 80);
  entry.record = {at<std::uint32_t>(bytes, 88), at<std::uint32_t>(bytes, 92), at<std::uint64_t>(bytes, 96),
                  at<std::uint64_t>(bytes, 104), at<std::uint64_t>(bytes, 112)};
  return entry;
}

}  // namespace

std::uint64_t checksum_of(BytesView bytes) noexcept { return sidestream::checksum_of(bytes); }

Slot head_slot() {
  SlotWriter writer(head_magic, static_cast<std::uint32_t>(slot_bytes));
  return writer.sealed();
}

Slot context_slot(const Entry& entry) {
  SlotWriter writer(context_magic, entry.run, entry.version);
  writer.put(16, entry.slot);
  writer.put(24, entry.iteration.index);
  writer.put(32, entry.iteration.cycle);
  writer.put(40, entry.iteration.time);
  writer.put(48, static_cast<std::uint32_t>(entry.kind));
  writer.put(52, entry.groups);
  writer.put(56, entry.contributors);
  writer.put(64, entry.blocks);
  writer.put(72, entry.bytes);
  writer.put(80, entry.stored);
  writer.put(88, entry.record.group);
  writer.put(92, entry.record.number);
  writer.put(96, entry.record.offset);
  writer.put(104, entry.record.size);
  writer.put(112, entry.record.checksum);
  return writer.sealed();
}

Slot removal_slot(std::uint64_t slot, std::uint32_t run, std::uint64_t removed) {
  SlotWriter writer(removal_magic, run);
  writer.put(16, slot);
  writer.put(24, removed);
  return writer.sealed();
}

SlotContent read_slot(BytesView bytes, std::uint64_t slot) {
  using What = SlotContent::What;
  SlotContent content;
  const auto zero = [](std::byte b) { return b == std::byte{0}; };
  if (std::all_of(bytes.begin(), bytes.end(), zero)) {
    content.what = What::empty;
    return content;
  }
  if (bytes.size() != slot_bytes || at<std::uint64_t>(bytes, checksum_at) != checksum_of(bytes.first(checksum_at))) {
    return content;
  }
  const auto version = at<std::uint32_t>(bytes, 8);
  if (slot == 0 && begins(bytes, head_magic) && version > format_version) {
    content.what = What::newer;
    content.entry.version = version;
    return content;
  }
  if (version != format_version && (version != tree_version || !begins(bytes, context_magic))) return content;
  if (begins(bytes, head_magic)) {
    if (slot == 0) content.what = What::head;
    return content;
  }
  if (slot == 0 || at<std::uint64_t>(bytes, 16) != slot) return content;
  content.run = at<std::uint32_t>(bytes, 12);
  if (begins(bytes, removal_magic)) {
    content.what = What::removal;
    content.removed = at<std::uint64_t>(bytes, 24);
  } else if (begins(bytes, context_magic)) {
    content.entry = entry_of(bytes);
    if (content.entry.kind == Kind::checkpoint || content.entry.kind == Kind::post) content.what = What::context;
  }
  return content;
}

BlockRow row_of(const Block& block) {
  BlockRow row;
  row.id = block.id;
  row.mesh = static_cast<std::uint32_t>(block.mesh);
  row.level = block.level;
  row.client = block.client;
  row.space = static_cast<std::int32_t>(block.space);
  row.lo = block.cells.lo;
  row.hi = block.cells.hi;
  row.lengths = {block.lengths.points, block.lengths.corners, block.lengths.faces};
  row.low = block.bounds.low;
  row.high = block.bounds.high;
  return row;
}

Block block_of(const BlockRow& row, const Metadata& metadata, const std::string& where) {
  const auto inside = [](Index n) { return n >= -most_index && n <= most_index; };
  const bool sound =
      row.mesh < metadata.meshes.size() && row.level >= 0 &&
      row.space == static_cast<std::int32_t>(metadata.meshes[row.mesh].space_of({row.lo, row.hi})) &&
      std::all_of(row.lo.begin(), row.lo.end(), inside) && std::all_of(row.hi.begin(), row.hi.end(), inside) &&
      std::all_of(row.lengths.begin(), row.lengths.end(), [](Index n) { return n >= 0 && n <= most_index; }) &&
      (row.space == 1 || static_cast<std::size_t>(row.level) <= metadata.meshes[row.mesh].refinement.size());
  if (!sound) fail(Code::file, "{}: the block {} makes no sense; the file is damaged", where, row.id);
  Block block;
  block.id = row.id;
  block.mesh = static_cast<std::int32_t>(row.mesh);
  block.level = row.level;
  block.client = row.client;
  block.space = static_cast<IndexSpace>(row.space);
  block.cells = {row.lo, row.hi};
  block.lengths = {row.lengths[0], row.lengths[1], row.lengths[2]};
  block.bounds = {row.low, row.high};
  return block;
}

std::string segment_name(std::uint32_t run, std::uint32_t group, std::uint32_t number) {
  return fmt::format("segment-{:04}-{:06}-{:04}.h5", run, group, number);
}

std::string shown_name(std::uint64_t slot) { return fmt::format("context-{:06}.h5", slot); }

std::optional<SegmentName> parse_segment_name(const std::string& name) {
  std::string_view rest = name;
  SegmentName found;
  const bool read = skip(rest, "segment-") && take(rest, found.run) && skip(rest, "-") && take(rest, found.group) &&
                    skip(rest, "-") && take(rest, found.number);
  if (!read || found.run == 0 || segment_name(found.run, found.group, found.number) != name) return std::nullopt;
  return found;
}

std::optional<std::uint64_t> parse_shown_name(const std::string& name) {
  std::string_view rest = name;
  std::uint64_t slot = 0;
  const bool read = skip(rest, "context-") && take(rest, slot);
  if (!read || shown_name(slot) != name) return std::nullopt;
  return slot;
}

}  // namespace sidestream::database
