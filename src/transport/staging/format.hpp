// The files of a stream, as docs/format-streams.md specifies them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sidestream/data/block.hpp"
#include "sidestream/data/event.hpp"
#include "sidestream/data/iteration.hpp"
#include "sidestream/data/range.hpp"
#include "sidestream/data/type.hpp"
#include "sidestream/data/variable.hpp"
#include "sidestream/extend/communicator.hpp"
#include "transport/staging/posix_file.hpp"

namespace sidestream::staging {

inline constexpr std::uint32_t format_version = 5;

/// The kind of a file; its number is the file's first eight bytes.
enum class FileKind : std::uint64_t {
  step = 0x0050455453534453,          ///< "SDSSTEP"
  data = 0x0041544144534453,          ///< "SDSDATA"
  declarations = 0x004c434544534453,  ///< "SDSDECL"
};

/// The beginning of each of them.
struct FileHeader {
  FileKind kind = FileKind::step;
  std::uint32_t version = format_version;
  std::uint32_t layout = 0;  ///< layout_hash()
  std::uint64_t session = 0;
  std::int64_t iteration = 0;
  std::int32_t writer = 0;  ///< whose data; otherwise 0
  std::int32_t writers = 0;
  std::uint64_t bytes = 0;         ///< that follow
  std::uint32_t checksum = 0;      ///< of those bytes, CRC-32; data files have one for each record instead
  std::uint32_t own_checksum = 0;  ///< of the header before this word
  std::uint64_t reserved = 0;
};

/// Differs if the structures in the files do.
[[nodiscard]] std::uint32_t layout_hash() noexcept;
[[nodiscard]] std::uint32_t checksum(BytesView bytes) noexcept;

/// One array of values in a step: the points of a variable on a block, in column order without gaps. If the readers
/// want them, also the points that the array has around those.
struct StepRecord {
  std::int64_t block = 0;  ///< place in StepIndex::blocks
  std::int32_t variable = -1;
  std::int32_t components = 1;
  Type type = Type::float64;
  std::int32_t writer = 0;  ///< whose data file
  Box points;
  std::uint64_t offset = 0;  ///< from the end of the data file's header
  std::uint64_t bytes = 0;
  std::int32_t number = 0;  ///< among the records of its writer
  std::uint32_t checksum = 0;
};

/// The contents of one iteration, without values: these are elsewhere.
struct StepIndex {
  std::uint64_t session = 0;
  Iteration iteration;
  std::uint64_t events = 0;
  std::int32_t writers = 0;
  std::vector<Block> blocks;
  std::vector<StepRecord> records;
  std::vector<BlockRange> ranges;
  std::vector<CountedRange> counted{};  ///< of cells that count, on levels and trees
  std::vector<Event> raised{};          ///< events that take effect in it, in the order of the simulation's servers
};

/// A whole file: header and content.
[[nodiscard]] Bytes encode_step(const StepIndex& index);
/// Throws Error(file) if the content is not such a file, cut off, or changed; `path` is for the sentence.
[[nodiscard]] StepIndex decode_step(BytesView file, const std::string& path);

/// The file that the announcement refers to.
struct Announced {
  Bytes declarations;
  std::vector<std::string> events;
};
[[nodiscard]] Bytes encode_announced(const Announced& announced, std::uint64_t session);
[[nodiscard]] Announced decode_announced(BytesView file, const std::string& path);

/// The header of a data file of `bytes` bytes of values.
[[nodiscard]] FileHeader data_header(const StepIndex& step, int writer, std::uint64_t bytes);
/// Throws Error(file) unless this is the header of that file.
void check_header(const FileHeader& header, FileKind kind, std::uint64_t size, const std::string& path);

}  // namespace sidestream::staging
