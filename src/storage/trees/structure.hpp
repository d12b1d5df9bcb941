// The structure of a level-ordered tree: which cells are refined, and which leaves are owned.
//
// Packs the structure, and prunes cells that other domains own. modules/amr_codec/stream-format.md, "Flags", specifies
// the bytes; runs of bits are coded as numbers with seven bits a byte (LEB128). All functions are pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sidestream/data/box.hpp"
#include "sidestream/data/mesh.hpp"
#include "sidestream/extend/communicator.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "storage/trees/flag_bits.hpp"

namespace sidestream {

/// A flag for each cell: 0 is false, and every other byte is true.
using Flags = std::span<const std::uint8_t>;

/// Properties that all trees of a mesh share.
struct TreeShape {
  int dimensions = 3;  ///< 1 to 3: a refined cell has 2^dimensions children
  Index roots = 1;     ///< cells of level 0
};

/// The shape of the trees of an octree mesh; nothing for other meshes.
[[nodiscard]] std::optional<TreeShape> tree_shape(const Mesh& mesh);

/// The first cell of each level, followed by the number of cells. Nothing if the flags do not form a tree with as many
/// cells. {0} if there are no cells.
[[nodiscard]] std::optional<std::vector<Index>> tree_starts(const TreeShape& shape, Flags refined);

/// Packs refinement flags to `out`: the bits of all levels except the deepest, compressed with zstd. Returns false if
/// they do not form a tree, or have values other than 0 and 1, which would be lost.
[[nodiscard]] bool pack_refined(const TreeShape& shape, Flags refined, Bytes& out);
/// The inverse of pack_refined(); `refined` has a flag for each cell. Throws Error(file) if `packed` does not encode a
/// tree with as many cells.
void unpack_refined(const TreeShape& shape, BytesView packed, std::span<std::uint8_t> refined);

/// Packs ownership flags to `out`: runs of leaves, then runs of parents whose flag differs from its prediction.
/// `refined`: the flags of the same tree. Returns false as pack_refined() does.
[[nodiscard]] bool pack_owned(const TreeShape& shape, Flags refined, Flags owned, Bytes& out);
/// The inverse of pack_owned(). Throws Error(file) if `packed` does not fit the tree.
void unpack_owned(const TreeShape& shape, Flags refined, BytesView packed, std::span<std::uint8_t> owned);

// Pruning: Strafella and Chapon, "Boosting I/O and visualization for exascale era using Hercule: test case on RAMSES",
// section 2.1.

/// Consecutive cells.
struct CellRun {
  Index first = 0, count = 0;
};

/// A tree without the descendants of cells that contain no owned leaf.
struct PrunedTree {
  std::vector<CellRun> kept;          ///< runs of cells of the original tree, ascending: their values stay
  std::vector<std::uint8_t> refined;  ///< 0 or 1 for each cell that stays
  std::vector<std::uint8_t> owned;    ///< as before, but 0 for cells whose descendants are gone: others own them
  [[nodiscard]] Index cells() const noexcept { return static_cast<Index>(refined.size()); }
};

/// Removes the descendants of each refined cell that contains no owned leaf; the cell becomes a leaf that is not owned.
/// Where such cells are nested, the coarsest one becomes the leaf. Owned leaves stay, and so do their ancestors and the
/// children of those ancestors, so that the result is a tree. Root cells stay. `starts`: where the levels begin
/// (tree_starts). An empty `owned` means that every leaf is owned: then nothing is removed.
[[nodiscard]] PrunedTree pruned(const TreeShape& shape, Flags refined, Flags owned, std::span<const Index> starts);

/// Writes alternating runs of zeros and ones. The first run consists of zeros and may be empty. Each length is a number
/// in groups of seven bits, lowest group first. The highest bit of a byte tells that another byte follows.
class RunWriter {
 public:
  explicit RunWriter(Bytes& out) : out_(out) {}
  /// Adds the bits of `value` where `mask` has ones.
  void add(std::uint64_t mask, std::uint64_t value) {
    for (;;) {
      const std::uint64_t other = (value ^ current_) & mask;
      if (other == 0) break;
      const std::uint64_t before = (other & (~other + 1)) - 1;
      length_ += static_cast<std::uint64_t>(flag_bits::count_bits(mask & before));
      put();
      current_ = ~current_;
      mask &= ~before;
    }
    length_ += static_cast<std::uint64_t>(flag_bits::count_bits(mask));
  }
  void end() {
    if (length_ > 0) put();
    current_ = 0;
  }

 private:
  void put() {
    while (length_ >= 0x80) {
      out_.push_back(static_cast<std::byte>((length_ & 0x7f) | 0x80));
      length_ >>= 7;
    }
    out_.push_back(static_cast<std::byte>(length_));
    length_ = 0;
  }

  Bytes& out_;
  std::uint64_t current_ = 0, length_ = 0;
};

class RunReader {
 public:
  explicit RunReader(BytesView in) : in_(in) {}
  /// Reads runs from the beginning of the bytes; together they have `total` bits.
  void begin(std::uint64_t total) {
    left_ = total;
    is_first_ = true;
  }
  [[nodiscard]] bool done() const noexcept { return left_ == 0; }
  [[nodiscard]] std::size_t rest() const noexcept { return in_.size(); }
  /// Length of the next run. Throws Error(file) if there is none, or if it is longer than the rest.
  [[nodiscard]] std::uint64_t next() {
    std::uint64_t length = 0;
    for (unsigned shift = 0;; shift += 7) {
      if (in_.empty() || shift > 56) wrong();
      const auto byte = static_cast<std::uint64_t>(in_.front());
      in_ = in_.subspan(1);
      length |= (byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    if (length > left_ || (length == 0 && !is_first_)) wrong();
    is_first_ = false;
    left_ -= length;
    return length;
  }

 private:
  [[noreturn]] static void wrong() {
    fail(Code::file, "runs of flags that are not those of the tree; they are damaged");
  }
  BytesView in_;
  std::uint64_t left_ = 0;
  bool is_first_ = true;
};

}  // namespace sidestream
