// Reader of a context. Lengths are checked against the file before memory is allocated for them, and bytes against
// their checksum before they are used.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sidestream/extend/tree_codec.hpp"
#include "storage/codecs/packing.hpp"
#include "storage/database/schema.hpp"
#include "storage/database/segment.hpp"
#include "storage/database/table.hpp"
#include "storage/trees/linked_tree.hpp"

namespace sidestream::database {

/// Reads the bytes of a record and checks them. Throws Error(file).
[[nodiscard]] Bytes read_record(const std::string& directory, const Entry& entry);

/// The destination of values: an array of the variable's type over `box`.
struct Target {
  void* data = nullptr;
  Box box;
  std::array<Index, 4> strides{};  ///< in elements: i, j, k, component
};

class TreePieces;

/// The places of the chunks of a piece: where each chunk begins, and where the last one ends.
struct ChunkPlaces {
  std::vector<std::uint64_t> stored{};  ///< offsets in the segment
  std::vector<std::uint64_t> values{};  ///< offsets in the values of the piece
};

/// One context. Reads tables on request and keeps them. Everything throws Error(file) with the file's name. Used by one
/// thread.
class Context {
 public:
  Context(std::string directory, const Entry& entry) : Context(directory, entry, read_record(directory, entry)) {}
  /// Constructs from a record that the caller has read.
  Context(std::string directory, const Entry& entry, BytesView record);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  [[nodiscard]] const Entry& entry() const noexcept { return entry_; }
  [[nodiscard]] const Schema& schema() const noexcept { return schema_; }
  [[nodiscard]] const Metadata& metadata() const noexcept { return schema_.metadata; }
  [[nodiscard]] const std::vector<GroupEntry>& groups() const noexcept { return groups_; }
  [[nodiscard]] const std::vector<Block>& blocks(std::size_t group);
  [[nodiscard]] const Pieces& pieces(std::size_t group);
  /// The piece of a variable on a block of a group, or null.
  [[nodiscard]] const PieceRow* find(std::size_t group, std::uint32_t variable, std::uint32_t block);
  /// All bytes of one chunk of a piece, decoded. The view is valid until the next call.
  [[nodiscard]] BytesView chunk(std::size_t group, const PieceRow& piece, std::uint64_t number);
  /// Places of a piece's chunks. Reads the flags of the tree if the piece is cut by level. Valid until the next call
  /// with another piece.
  [[nodiscard]] const ChunkPlaces& places(std::size_t group, const PieceRow& piece);
  /// Decodes a chunk into `out`, which has the size of the values.
  void read_chunk(std::size_t group, const PieceRow& piece, std::uint64_t number, std::span<std::byte> out);
  /// The tree of a block of an octree. Also throws if its flags were not stored. Valid until the next call.
  [[nodiscard]] LinkedTree& tree(std::size_t group, std::uint32_t block);
  /// Checks that all segments of a group exist. Throws if one is missing.
  void check_segments(std::size_t group) const;
  /// Checks the stored bytes of all chunks of a piece.
  void verify(std::size_t group, const PieceRow& piece);
  /// Sets the blocks of the group, which the caller has read.
  void give_blocks(std::size_t group, BytesView bytes);
  [[nodiscard]] Bytes read_blocks(std::size_t group);
  /// Bytes of tables and values that were read from segments so far.
  [[nodiscard]] std::uint64_t bytes_read() const noexcept { return bytes_read_; }
  /// Looks up the codecs that the values need, so that later calls do not depend on environment variables. A missing
  /// codec is an error only of the call that reads its values.
  void prepare_codecs();
  /// Frees the pieces of a group, for a caller that processes one group after the other. They are read again on
  /// request.
  void forget_pieces(std::size_t group);

 private:
  friend class TreePieces;
  struct Group {
    std::optional<std::vector<Block>> blocks;
    std::optional<Pieces> pieces;
  };
  [[nodiscard]] const PlacedFile& file(std::uint32_t group, std::uint32_t number);
  [[nodiscard]] Bytes checked(std::size_t group, std::uint64_t offset, std::uint64_t size, std::uint64_t checksum,
                              const char* what);
  [[nodiscard]] std::uint64_t bytes_of(std::size_t group, const PieceRow& piece);
  /// Reads a chunk. `target` returns memory for the values; it is called only once the file is known to contain them.
  void fetch(std::size_t group, const PieceRow& piece, std::uint64_t number,
             const std::function<std::span<std::byte>()>& target);
  /// Checks that the file has the bytes of a chunk, which begin at `at`, then reads them into the memory of `target`.
  void load(std::size_t group, const PieceRow& piece, const ChunkRow& row, std::uint64_t at,
            const std::function<std::span<std::byte>()>& target);
  void place_chunks(std::size_t group, const PieceRow& piece);
  [[nodiscard]] const Packing& packing(std::uint32_t variable);
  /// The codec of trees. Loads a module if necessary. Throws Error(file) if there is none.
  [[nodiscard]] const TreeCodec& tree_codec();

  std::string directory_;
  Entry entry_;
  Schema schema_;
  std::vector<GroupEntry> groups_;
  std::vector<Group> read_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, PlacedFile> files_;
  std::optional<CodecKinds> kinds_;
  std::optional<FoundTreeCodec> tree_codec_;
  std::map<std::uint32_t, Packing> packings_;
  Bytes stored_, raw_;
  std::uint64_t bytes_read_ = 0;
  ChunkPlaces places_;  ///< places of the piece requested last
  const PieceRow* last_piece_ = nullptr;
  std::uint64_t last_chunk_ = 0;
  std::unique_ptr<TreePieces> trees_;
};

/// Reads the points of `region`, for meshes whose blocks are boxes. Each point comes from the block of lowest id that
/// has it, and goes to `target`, whose box contains `region`. Returns the number of points that are in no block of the
/// level.
[[nodiscard]] std::int64_t read_box(Context& context, std::uint32_t variable, std::int32_t level, const Box& region,
                                    const Target& target);

/// Reads entries [first, first + count) of a list into contiguous memory. Blocks are concatenated by ascending id. Also
/// throws if there are fewer entries.
void read_list(Context& context, std::uint32_t variable, std::int64_t first, std::int64_t count, std::byte* out);

/// Reads a part of the values of a piece, in their order, from byte `offset` on. Only its chunks are read.
void read_part(Context& context, std::size_t group, const PieceRow& piece, std::uint64_t offset,
               std::span<std::byte> out);

/// Reads a whole piece into contiguous memory, in the order of the variable. `out` has bytes_of_piece bytes.
void read_piece(Context& context, std::size_t group, const PieceRow& piece, std::span<std::byte> out);

/// Reads the values in cells down to the level `deepest`, from a piece that is cut by level. These values come first in
/// the piece, and no byte of finer levels is read. `out` has the size of these values.
void read_levels(Context& context, std::size_t group, const PieceRow& piece, std::int32_t deepest,
                 std::span<std::byte> out);

/// Finds damage in share `number` of `shares` equal shares of a context. Returns a sentence for each. Never throws
/// Error.
[[nodiscard]] std::vector<std::string> verify(Context& context, int number = 0, int shares = 1);

}  // namespace sidestream::database
