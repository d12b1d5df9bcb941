// Reader of pieces on trees: pieces cut by level, and the flags that define the cuts.
#pragma once

#include <list>
#include <map>
#include <memory>
#include <vector>

#include "storage/database/context.hpp"
#include "storage/trees/chunk_coding.hpp"

namespace sidestream::database {

/// The pieces of a context with values in trees. Keeps the trees used last, and the values that decoding others needs,
/// so that reading all variables in sequence reads the file once.
class TreePieces {
 public:
  explicit TreePieces(Context& context) : context_(context) {}
  [[nodiscard]] LinkedTree& tree(std::size_t group, std::uint32_t block);
  /// Offsets of the chunks in the values of a piece, followed by the end of the last chunk. Throws Error(file) if the
  /// table has a different number of chunks.
  [[nodiscard]] std::vector<std::uint64_t> cuts(std::size_t group, const PieceRow& piece);
  /// See Context::fetch.
  void fetch(std::size_t group, const PieceRow& piece, std::uint64_t number,
             const std::function<std::span<std::byte>()>& target);
  void forget();

 private:
  class Cells;
  using Key = std::pair<std::size_t, std::uint32_t>;
  struct Kept {
    Key key;
    std::unique_ptr<LinkedTree> tree;
  };
  /// A variable on a block.
  struct Decoded {
    LevelCuts cuts;
    std::vector<std::uint64_t> stored;  ///< offsets of chunks in the segment
    VariableCoding coding;
    std::vector<Bytes> chunks;  ///< decoded values
    std::size_t bytes = 0;      ///< size of `chunks`
  };
  struct OfBlock {
    Key key;
    std::map<std::uint32_t, Decoded> variables;
  };
  /// Makes the block the most recent one, and drops values that are not needed for others or exceed the limit.
  void turn_to(const Key& key, std::uint32_t variable);
  void drop(OfBlock& block, std::map<std::uint32_t, Decoded>::iterator at);
  void find_named();
  [[nodiscard]] std::vector<std::uint8_t> read_flags(std::size_t group, std::uint32_t block, const Mesh& mesh);
  void unpack_flags(std::size_t group, const PieceRow& piece, const Variable& variable, BytesView packed,
                    std::span<std::byte> out);
  [[nodiscard]] Bytes stored(std::size_t group, const PieceRow& piece, const ChunkRow& row, std::uint64_t at);
  [[nodiscard]] Decoded& decoded(std::size_t group, const PieceRow& piece);
  [[nodiscard]] BytesView values(std::size_t group, const PieceRow& piece, std::size_t chunk);
  void decode(std::size_t group, const PieceRow& piece, std::size_t chunk, std::span<std::byte> out);
  [[nodiscard]] const PieceRow* companion(std::size_t group, std::uint32_t block, const std::string& name);
  [[nodiscard]] const ChunkRow& row_of(std::size_t group, const PieceRow& piece, std::size_t chunk);

  Context& context_;
  std::list<Kept> trees_;  ///< most recent first
  std::size_t kept_cells_ = 0;
  std::list<OfBlock> blocks_;  ///< likewise
  std::size_t kept_bytes_ = 0;
  std::uint32_t read_ = 0;   ///< the variable that is being read on the first block
  std::vector<bool> named_;  ///< by variable: true if relations of others name it
  int depth_ = 0;            ///< number of chunks that wait for others
};

}  // namespace sidestream::database
