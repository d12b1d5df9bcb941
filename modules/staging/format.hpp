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
#include "staging/posix_file.hpp"

namespace sidestream::staging {

inline constexpr std::uint32_t format_version = 5;

/// The kind of a file; its value is the file's first eight bytes.
enum class FileKind : std::uint64_t {
  step = 0x0050455453534453,          ///< "SDSSTEP"
  data = 0x0041544144534453,          ///< "SDSDATA"
  declarations = 0x004c434544534453,  ///< "SDSDECL"
};

/// First structure of each file.
struct FileHeader {
  FileKind kind = FileKind::step;
  std::uint32_t version = format_version;
  std::uint32_t layout = 0;  ///< layout_hash()
  std::uint64_t session = 0;
  std::int64_t iteration = 0;
  std::int32_t writer = 0;  ///< writer of the data; 0 in other files
  std::int32_t writers = 0;
  std::uint64_t bytes = 0;         ///< bytes that follow the header
  std::uint32_t checksum = 0;      ///< CRC-32 of those bytes; data files have one for each record instead
  std::uint32_t own_checksum = 0;  ///< CRC-32 of the header before this word
  std::uint64_t reserved = 0;
};

/// Hash of the structures in the files; it differs if they do.
[[nodiscard]] std::uint32_t layout_hash() noexcept;
[[nodiscard]] std::uint32_t checksum(BytesView bytes) noexcept;

/// One array of values in a step: the points of a variable on a block, contiguous, in column order. If the readers want
/// ghost points, also the points that the array has around those of the block.
struct StepRecord {
  std::int64_t block = 0;  ///< index into StepIndex::blocks
  std::int32_t variable = -1;
  std::int32_t components = 1;
  Type type = Type::float64;
  std::int32_t writer = 0;  ///< writer whose data file holds the values
  Box points;
  std::uint64_t offset = 0;  ///< offset from the end of the data file's header
  std::uint64_t bytes = 0;
  std::int32_t number = 0;  ///< number among the records of its writer
  std::uint32_t checksum = 0;
};

/// The contents of one iteration, without the values themselves.
struct StepIndex {
  std::uint64_t session = 0;
  Iteration iteration;
  std::uint64_t events = 0;
  std::int32_t writers = 0;
  std::vector<Block> blocks;
  std::vector<StepRecord> records;
  std::vector<BlockRange> ranges;
  std::vector<CountedRange> counted{};  ///< of cells that count, on levels and trees
  std::vector<Event> raised{};  ///< events that take effect in this iteration, in the order of the simulation's servers
};

/// A whole file: header and content.
[[nodiscard]] Bytes encode_step(const StepIndex& index);
/// Decodes a step file. Throws Error(file) if the content is of another kind, cut off, or changed; `path` is for the
/// message.
[[nodiscard]] StepIndex decode_step(BytesView file, const std::string& path);

/// The declarations file, which the announcement refers to.
struct Announced {
  Bytes declarations;
  std::vector<std::string> events;
};
[[nodiscard]] Bytes encode_announced(const Announced& announced, std::uint64_t session);
[[nodiscard]] Announced decode_announced(BytesView file, const std::string& path);

/// The header of a data file of `bytes` bytes of values.
[[nodiscard]] FileHeader data_header(const StepIndex& step, int writer, std::uint64_t bytes);
/// Throws Error(file) unless the header belongs to a file of this kind and size.
void check_header(const FileHeader& header, FileKind kind, std::uint64_t size, const std::string& path);

}  // namespace sidestream::staging
