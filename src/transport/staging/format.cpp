#include "transport/staging/format.hpp"

#include <zlib.h>

#include <cstddef>
#include <cstring>

#include "base/fail.hpp"

namespace sidestream::staging {

namespace {

static_assert(sizeof(FileHeader) == 64 && sizeof(StepRecord) == 96 && sizeof(Block) == 144 &&
              sizeof(BlockRange) == 144);
constexpr std::size_t checked_part = offsetof(FileHeader, own_checksum);

constexpr std::uint64_t most_events = 64;  // each is a bit

/// What begins the content of a step file.
struct StepHead {
  std::int64_t cycle = 0;
  double time = 0;
  std::uint64_t events = 0;
  std::uint64_t blocks = 0, records = 0, ranges = 0;
};

class Sink {
 public:
  template <class T>
  void value(const T& one) {
    values(std::span(&one, 1));
  }
  template <class Range>
  void values(const Range& many) {
    const auto bytes = std::as_bytes(std::span(many));
    content.insert(content.end(), bytes.begin(), bytes.end());
  }
  Bytes content;
};

class Source {
 public:
  Source(BytesView content, const std::string& path) : content_(content), path_(path) {}
  template <class T>
  T value() {
    return values<T>(1).front();
  }
  template <class T>
  std::vector<T> values(std::uint64_t count) {
    if (count > (content_.size() - at_) / sizeof(T)) {
      fail(Code::file, "'{}' names more entries than it holds; it was not written by Sidestream", path_);
    }
    std::vector<T> result(count);
    if (count > 0) std::memcpy(static_cast<void*>(result.data()), content_.data() + at_, count * sizeof(T));
    at_ += count * sizeof(T);
    return result;
  }

 private:
  BytesView content_;
  const std::string& path_;
  std::size_t at_ = 0;
};

Bytes whole_file(FileHeader header, const Bytes& content) {
  header.layout = layout_hash();
  header.bytes = content.size();
  header.checksum = checksum(content);
  header.own_checksum = checksum(std::as_bytes(std::span(&header, 1)).first(checked_part));
  Sink file;
  file.value(header);
  file.values(content);
  return std::move(file.content);
}

/// The header, checked, and the content, checked.
std::pair<FileHeader, BytesView> open_file(BytesView file, FileKind kind, const std::string& path) {
  FileHeader header;
  if (file.size() < sizeof header) fail(Code::file, "'{}' is shorter than a header; it is no file of a stream", path);
  std::memcpy(static_cast<void*>(&header), file.data(), sizeof header);
  check_header(header, kind, file.size(), path);
  const BytesView content = file.subspan(sizeof header);
  if (checksum(content) != header.checksum) {
    fail(Code::file, "'{}' was changed after it was written: its checksum is wrong", path);
  }
  return {header, content};
}

}  // namespace

std::uint32_t layout_hash() noexcept {
  std::uint32_t hash = 2166136261u;
  for (const std::size_t part : {sizeof(FileHeader), sizeof(StepHead), sizeof(StepRecord), offsetof(StepRecord, points),
                                 sizeof(Block), offsetof(Block, cells), sizeof(BlockRange), sizeof(Index)}) {
    hash = (hash ^ static_cast<std::uint32_t>(part)) * 16777619u;
  }
  return hash;
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
  Sink content;
  content.value(StepHead{index.iteration.cycle, index.iteration.time, index.events, index.blocks.size(),
                         index.records.size(), index.ranges.size()});
  content.values(index.blocks);
  content.values(index.records);
  content.values(index.ranges);
  return whole_file(header, content.content);
}

StepIndex decode_step(BytesView file, const std::string& path) {
  const auto [header, content] = open_file(file, FileKind::step, path);
  Source source(content, path);
  const auto head = source.value<StepHead>();
  StepIndex index;
  index.session = header.session;
  index.iteration = {header.iteration, head.cycle, head.time};
  index.events = head.events;
  index.writers = header.writers;
  index.blocks = source.values<Block>(head.blocks);
  index.records = source.values<StepRecord>(head.records);
  index.ranges = source.values<BlockRange>(head.ranges);
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
  Sink content;
  content.value(static_cast<std::uint64_t>(announced.events.size()));
  for (const std::string& event : announced.events) {
    content.value(static_cast<std::uint64_t>(event.size()));
    content.values(event);
  }
  content.value(static_cast<std::uint64_t>(announced.declarations.size()));
  content.values(announced.declarations);
  return whole_file(header, content.content);
}

Announced decode_announced(BytesView file, const std::string& path) {
  Source source(open_file(file, FileKind::declarations, path).second, path);
  Announced announced;
  const auto events = source.value<std::uint64_t>();
  if (events > most_events) fail(Code::file, "'{}' names {} events, expected at most {}", path, events, most_events);
  for (auto n = events; n > 0; --n) {
    const auto text = source.values<char>(source.value<std::uint64_t>());
    announced.events.emplace_back(text.begin(), text.end());
  }
  announced.declarations = source.values<std::byte>(source.value<std::uint64_t>());
  return announced;
}

}  // namespace sidestream::staging
