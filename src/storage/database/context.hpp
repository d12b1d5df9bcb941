// A context that is read: every length is checked against the file before memory is taken for it, every byte against
// its checksum before it is used.
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

/// The bytes of a record, checked. Throws Error(file).
[[nodiscard]] Bytes read_record(const std::string& directory, const Entry& entry);

/// Where values go: an array of the variable's type over `box`.
struct Target {
  void* data = nullptr;
  Box box;
  std::array<Index, 4> strides{};  ///< in elements: i, j, k, component
};

class TreePieces;

/// Where the chunks of a piece are: of each, and behind the last one.
struct ChunkPlaces {
  std::vector<std::uint64_t> stored{};  ///< in the segment
  std::vector<std::uint64_t> values{};  ///< in the values of the piece
};

/// One context. Reads tables when they are asked for and keeps them. Everything throws Error(file) with the file's
/// name. Used by one thread.
class Context {
 public:
  Context(std::string directory, const Entry& entry) : Context(directory, entry, read_record(directory, entry)) {}
  /// With the record at hand.
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
  /// All bytes of one chunk of a piece, decoded. The view holds until the next call.
  [[nodiscard]] BytesView chunk(std::size_t group, const PieceRow& piece, std::uint64_t number);
  /// Holds until the next call with another piece. Of a piece that is cut by level this reads the flags of its tree.
  [[nodiscard]] const ChunkPlaces& places(std::size_t group, const PieceRow& piece);
  /// The same into `out`, which has as many bytes as it has values.
  void read_chunk(std::size_t group, const PieceRow& piece, std::uint64_t number, std::span<std::byte> out);
  /// The tree of a block of an octree. Throws also where its flags were not stored. Holds until the next call.
  [[nodiscard]] LinkedTree& tree(std::size_t group, std::uint32_t block);
  /// Checks that all segments are there that a group says it has. Throws where one is missing.
  void check_segments(std::size_t group) const;
  /// Checks the stored bytes of all chunks of a piece.
  void verify(std::size_t group, const PieceRow& piece);
  /// For whoever has the blocks of a group already.
  void give_blocks(std::size_t group, BytesView bytes);
  [[nodiscard]] Bytes read_blocks(std::size_t group);
  /// Gives up the pieces of a group, for whoever goes through those of all: they are read again when they are asked
  /// for.
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
  /// `room` gives memory for the values, and is asked when it is known that the file has them.
  void fetch(std::size_t group, const PieceRow& piece, std::uint64_t number,
             const std::function<std::span<std::byte>()>& room);
  /// Checks that the file has the bytes of a chunk, which begin at `at`; then reads them into what `room` gives.
  void load(std::size_t group, const PieceRow& piece, const ChunkRow& row, std::uint64_t at,
            const std::function<std::span<std::byte>()>& room);
  void place_chunks(std::size_t group, const PieceRow& piece);
  [[nodiscard]] const Packing& packing(std::uint32_t variable);
  /// Loads a module if it needs one. Throws Error(file) if there is none.
  [[nodiscard]] const TreeCodec& tree_codec();

  std::string directory_;
  Entry entry_;
  Schema schema_;
  std::vector<GroupEntry> groups_;
  std::vector<Group> read_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, PlacedFile> files_;
  std::optional<CodecKinds> kinds_;
  std::shared_ptr<const TreeCodec> tree_codec_;
  std::map<std::uint32_t, Packing> packings_;
  Bytes stored_, raw_;
  ChunkPlaces places_;  ///< of the piece that was asked for last
  const PieceRow* last_piece_ = nullptr;
  std::uint64_t last_chunk_ = 0;
  std::unique_ptr<TreePieces> trees_;
};

/// The number of points of `region` that no block of the level has. The others are written to `target`, whose box holds
/// `region`, from the block of lowest id that has them. Of meshes whose blocks are boxes.
[[nodiscard]] std::int64_t read_box(Context& context, std::uint32_t variable, std::int32_t level, const Box& region,
                                    const Target& target);

/// Entries [first, first + count) of the values of all blocks of a list, one block after the other by ascending id;
/// gapless. Throws also where there are fewer.
void read_list(Context& context, std::uint32_t variable, std::int64_t first, std::int64_t count, std::byte* out);

/// The whole of a piece, in the order of the variable, gapless: `out` has bytes_of_piece bytes.
void read_piece(Context& context, std::size_t group, const PieceRow& piece, std::span<std::byte> out);

/// Of a piece that is cut by level, the values in cells of the levels down to `deepest`, which come first: no byte of
/// finer ones is read. `out` has as many bytes as these are.
void read_levels(Context& context, std::size_t group, const PieceRow& piece, std::int32_t deepest,
                 std::span<std::byte> out);

/// What is damaged in a share of a context, a sentence each: `number` of `shares` alike. Never throws Error.
[[nodiscard]] std::vector<std::string> verify(Context& context, int number = 0, int shares = 1);

}  // namespace sidestream::database
