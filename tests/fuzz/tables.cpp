#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "storage/database/context.hpp"
#include "targets.hpp"

namespace sidestream::fuzz {

namespace {

using namespace database;

/// The head of an input: the numbers of rows of each kind, which follow, then values.
struct Counts {
  std::uint16_t blocks, pieces, chunks, codec;
};

/// A directory in memory that is made once. A segment is a link to an unnamed file.
class Segment {
 public:
  Segment() : file_(::memfd_create("segment", MFD_CLOEXEC)) {
    std::string pattern = (std::filesystem::temp_directory_path() / "sidestream-fuzz-XXXXXX").string();
    directory = ::mkdtemp(pattern.data());
    std::filesystem::create_symlink(fmt::format("/proc/{}/fd/{}", ::getpid(), file_),
                                    std::filesystem::path(directory) / segment_name(0, 0, 0));
  }
  ~Segment() {
    std::error_code ignored;
    std::filesystem::remove_all(directory, ignored);
    ::close(file_);
  }
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;
  void become(BytesView bytes) const {
    if (::ftruncate(file_, 0) != 0 ||
        ::pwrite(file_, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
      throw std::runtime_error("cannot write to memory");
    }
  }
  std::string directory;

 private:
  int file_;
};

/// A schema of two meshes and four variables; `which` chooses the codecs.
Schema schema_with(unsigned which) {
  static const std::vector<std::vector<std::string>> lists{
      {}, {"gzip"}, {"byte-shuffle", "gzip"}, {"half"}, {"quantise-2", "gzip"}, {"bit-shuffle", "gzip"}};
  const auto variable = [](const char* name, const char* mesh, const char* type, int centering, const char* order) {
    return fmt::format(
               "{{\"name\": \"{}\", \"mesh\": \"{}\", \"type\": \"{}\", \"centering\": {}, \"role\": \"none\", "
               "\"components\": {}, \"order\": \"{}\", \"unit\": \"\", \"label\": \"\", \"group\": \"\", "
               "\"codec\": [\"",
               name, mesh, type, centering, name[0] == 'v' ? 3 : 1, order) +
           "gzip\"]}";
  };
  std::string text = fmt::format(
      "{{\"provenance\": \"\", \"chunk\": 64, \"meshes\": [{{\"name\": \"b\", \"type\": \"uniform\", \"dimensions\": 3, "
      "\"cells\": [[0, 0, 0], [8, 8, 8]], \"origin\": [0, 0, 0], \"spacing\": [1, 1, 1], \"periodic\": [false, false, "
      "false], \"refinement\": [], \"arrays\": {{}}}}, {{\"name\": \"l\", \"type\": \"points\", \"dimensions\": 3, "
      "\"cells\": [[0, 0, 0], [0, 0, 0]], \"periodic\": [false, false, false], \"refinement\": [], \"arrays\": "
      "{{}}}}], \"variables\": [{}, {}, {}, {}]}}",
      variable("a", "b", "float64", 0, "column"), variable("v", "b", "float32", 7, "row"),
      variable("l", "l", "float64", 0, "column"), variable("vl", "l", "float32", 7, "column"));
  Schema schema = read_schema(text, "the fuzzer");
  for (auto& list : schema.codecs) list = lists[which % lists.size()];
  return schema;
}

Bytes record_of_group(const Schema& schema, const GroupEntry& group) {
  const std::string text = schema_text(schema);
  Bytes record(24 + (text.size() + 7) / 8 * 8 + sizeof group);
  const std::uint64_t length = text.size(), count = 1;
  std::memcpy(record.data(), "SDSRECRD", 8);
  std::memcpy(record.data() + 8, &length, 8);
  std::memcpy(record.data() + 16, &count, 8);
  std::memcpy(record.data() + 24, text.data(), text.size());
  std::memcpy(record.data() + record.size() - sizeof group, &group, sizeof group);
  return record;
}

/// Corrects the checksums of the chunks that pieces point to.
void seal_chunks(Bytes& bytes, const GroupEntry& group) {
  const std::size_t pieces = group.blocks * sizeof(BlockRow), chunks = pieces + group.pieces * sizeof(PieceRow);
  for (std::size_t p = 0; p < group.pieces; ++p) {
    PieceRow piece;
    std::memcpy(&piece, bytes.data() + pieces + p * sizeof piece, sizeof piece);
    std::uint64_t at = piece.offset;
    for (std::uint64_t n = piece.chunk; n < group.chunks && at < bytes.size(); ++n) {
      ChunkRow row;
      std::byte* place = bytes.data() + chunks + n * sizeof row;
      std::memcpy(&row, place, sizeof row);
      if (row.bytes > bytes.size() - at) break;
      row.checksum = checksum_of(BytesView(bytes).subspan(at, row.bytes));
      std::memcpy(place, &row, sizeof row);
      at += row.bytes;
    }
  }
}

/// Reads everything of a context.
void read_everything(Context& context) {
  static_cast<void>(verify(context));
  for (std::uint32_t v = 0; v < context.metadata().variables.size(); ++v) {
    const Variable& of = context.metadata().variables[v];
    std::array<std::byte, 9 * 9 * 9 * 3 * 8> values{};
    if (context.metadata().mesh_of(of).is_list()) {
      refused_or_read([&] { read_list(context, v, 1, 7, values.data()); });
    } else {
      const Box box{{1, 0, 2}, {8, 9, 3}};
      const database::Target target{values.data(), box, packed_strides(box, of.components, of.order)};
      refused_or_read([&] { static_cast<void>(read_box(context, v, 0, box, target)); });
    }
  }
}

}  // namespace

void run_tables(BytesView input) {
  static const Segment segment;
  Counts counts{};
  if (input.size() < sizeof counts) return;
  std::memcpy(&counts, input.data(), sizeof counts);
  Bytes bytes(input.begin() + sizeof counts, input.end());
  GroupEntry group;
  group.blocks = counts.blocks % 8;
  group.pieces = counts.pieces % 16;
  group.chunks = counts.chunks % 64;
  const std::size_t first = group.blocks * sizeof(BlockRow);
  const std::size_t all = first + group.pieces * sizeof(PieceRow) + group.chunks * sizeof(ChunkRow);
  if (bytes.size() < all) bytes.resize(all);
  seal_chunks(bytes, group);
  group.blocks_checksum = checksum_of(BytesView(bytes).first(first));
  group.rest_checksum = checksum_of(BytesView(bytes).subspan(first, all - first));
  segment.become(bytes);
  refused_or_read([&] {
    Context context(segment.directory, Entry{}, record_of_group(schema_with(counts.codec), group));
    read_everything(context);
  });
}

}  // namespace sidestream::fuzz
