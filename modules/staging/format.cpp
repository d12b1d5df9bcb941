#include "staging/format.hpp"

#include <zlib.h>

#include <cstddef>

#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/fields.hpp"
#include "sidestream/kit/base/hash.hpp"
#include "sidestream/kit/base/records.hpp"

namespace sidestream {

template <>
inline constexpr std::size_t field_count<Event> = 6;

}  // namespace sidestream

namespace sidestream::staging {

namespace {

static_assert(sizeof(FileHeader) == 64 && sizeof(StepRecord) == 96 && sizeof(Block) == 144 &&
              sizeof(BlockRange) == 144 && sizeof(CountedRange) == 40);
constexpr std::size_t checked_part = offsetof(FileHeader, own_checksum);

constexpr std::uint64_t most_events = 64;  // each event is a bit

/// First structure in the content of a step file.
struct StepHead {
  std::int64_t cycle = 0;
  double time = 0;
  std::uint64_t events = 0;
  std::uint64_t blocks = 0, records = 0, ranges = 0, counted = 0;
};

ByteReader read_from(BytesView content, const std::string& path) {
  return {content, Code::file,
          fmt::format("'{}' names more entries than it holds; it was not written by Sidestream", path)};
}

Bytes whole_file(FileHeader header, const Bytes& content) {
  header.layout = layout_hash();
  header.bytes = content.size();
  header.checksum = checksum(content);
  header.own_checksum = checksum(std::as_bytes(std::span(&header, 1)).first(checked_part));
  ByteWriter file;
  file.put(header);
  file.put_all(std::span(content));
  return file.take();
}

/// Checks header and content, and returns the content.
std::pair<FileHeader, BytesView> open_file(BytesView file, FileKind kind, const std::string& path) {
  if (file.size() < sizeof(FileHeader)) {
    fail(Code::file, "'{}' is shorter than a header; it is no file of a stream", path);
  }
  const auto header = record_of<FileHeader>(file.first(sizeof(FileHeader)));
  check_header(header, kind, file.size(), path);
  const BytesView content = file.subspan(sizeof header);
  if (checksum(content) != header.checksum) {
    fail(Code::file, "'{}' was changed after it was written: its checksum is wrong", path);
  }
  return {header, content};
}

}  // namespace

std::uint32_t layout_hash() noexcept {
  return hash_of_sizes({sizeof(FileHeader), sizeof(StepHead), sizeof(StepRecord), offsetof(StepRecord, points),
                        sizeof(Block), offsetof(Block, cells), sizeof(BlockRange), sizeof(CountedRange),
                        sizeof(Index)});
}

std::uint32_t checksum(BytesView bytes) noexcept {
  return static_cast<std::uint32_t>(::crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

void check_header(const FileHeader& header, FileKind kind, std::uint64_t size, const std::string& path) {
  if (header.kind != kind) fail(Code::file, "'{}' does not begin like such a file of a stream", path);
  if (header.version != format_version || header.layout != layout_hash()) {
    fail(Code::file,
         "'{}' has version {} and layout {:08x}, expected {} and {:08x}; run the simulation and the endpoint with the "
         "same version of Sidestream",
         path, header.version, header.layout, format_version, layout_hash());
  }
  const std::uint32_t own = checksum(std::as_bytes(std::span(&header, 1)).first(checked_part));
  if (own != header.own_checksum || size != sizeof header + header.bytes) {
    fail(Code::file, "'{}' is cut off or was changed after it was written", path);
  }
}

FileHeader data_header(const StepIndex& step, int writer, std::uint64_t bytes) {
  FileHeader header;
  header.kind = FileKind::data;
  header.layout = layout_hash();
  header.session = step.session;
  header.iteration = step.iteration.index;
  header.writer = writer;
  header.writers = step.writers;
  header.bytes = bytes;
  header.own_checksum = checksum(std::as_bytes(std::span(&header, 1)).first(checked_part));
  return header;
}

Bytes encode_step(const StepIndex& index) {
  FileHeader header;
  header.kind = FileKind::step;
  header.session = index.session;
  header.iteration = index.iteration.index;
  header.writers = index.writers;
  ByteWriter content;
  content.put(StepHead{index.iteration.cycle, index.iteration.time, index.events, index.blocks.size(),
                       index.records.size(), index.ranges.size(), index.counted.size()});
  content.put_all(std::span(index.blocks));
  content.put_all(std::span(index.records));
  content.put_all(std::span(index.ranges));
  content.put_all(std::span(index.counted));
  for (const Event& event : index.raised) write_fields(content, event);
  return whole_file(header, content.bytes());
}

StepIndex decode_step(BytesView file, const std::string& path) {
  const auto [header, content] = open_file(file, FileKind::step, path);
  ByteReader source = read_from(content, path);
  const auto head = source.get<StepHead>();
  StepIndex index;
  index.session = header.session;
  index.iteration = {header.iteration, head.cycle, head.time};
  index.events = head.events;
  index.writers = header.writers;
  source.get_all(index.blocks, head.blocks);
  source.get_all(index.records, head.records);
  source.get_all(index.ranges, head.ranges);
  source.get_all(index.counted, head.counted);
  while (!source.at_end()) read_fields(source, index.raised.emplace_back());
  for (const StepRecord& record : index.records) {
    const bool in_place = record.block >= 0 && static_cast<std::uint64_t>(record.block) < head.blocks &&
                          record.writer >= 0 && record.writer < header.writers;
    if (!in_place) fail(Code::file, "'{}' names blocks or writers that it does not have", path);
  }
  return index;
}

Bytes encode_announced(const Announced& announced, std::uint64_t session) {
  FileHeader header;
  header.kind = FileKind::declarations;
  header.session = session;
  ByteWriter content;
  content.put(announced.events);
  content.put(announced.declarations);
  return whole_file(header, content.bytes());
}

Announced decode_announced(BytesView file, const std::string& path) {
  ByteReader source = read_from(open_file(file, FileKind::declarations, path).second, path);
  Announced announced;
  const auto events = source.get<std::uint64_t>();
  if (events > most_events) fail(Code::file, "'{}' names {} events, expected at most {}", path, events, most_events);
  for (auto n = events; n > 0; --n) source.get(announced.events.emplace_back());
  source.get(announced.declarations);
  return announced;
}

}  // namespace sidestream::staging
