// Restarting from a checkpoint of the output `database`, on any number of ranks.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sidestream/data/block.hpp"
#include "sidestream/data/iteration.hpp"
#include "sidestream/data/metadata.hpp"
#include "sidestream/error.hpp"
#include "sidestream/sidestream.h"

namespace sidestream {

/// A checkpoint that was found undamaged. Needs no session and no configuration. Opening is collective; each rank then
/// reads the values that it wants, at any time. Every function throws Error.
class Restart {
 public:
  /// Opens the newest checkpoint in the database `directory` that is undamaged in every byte, or the newest of `cycle`.
  /// Collective. Damaged checkpoints are passed over (see `remarks`). The ranks share the checking, which reads the
  /// checkpoint once. Throws the same Error(file) on all ranks if there is none.
  [[nodiscard]] static Restart open(MPI_Comm comm, const std::string& directory,
                                    std::optional<std::int64_t> cycle = std::nullopt);
  Restart(Restart&&) noexcept;
  Restart& operator=(Restart&&) noexcept;
  ~Restart();

  [[nodiscard]] const Iteration& iteration() const noexcept;
  [[nodiscard]] const Metadata& metadata() const noexcept;
  /// Remarks on checkpoints that were passed over, one sentence each, the same on all ranks.
  [[nodiscard]] const std::vector<std::string>& remarks() const noexcept;
  /// The codecs of a variable, separated by blanks, with `or` between lists; empty: none. Throws Error(usage) if there
  /// is no such variable.
  [[nodiscard]] std::string codec(const std::string& variable) const;
  /// The blocks of a mesh as they were declared, by level and id: boxes of cells, or of owned points. Throws
  /// Error(usage) if there is no such mesh.
  [[nodiscard]] std::vector<Block> blocks(const std::string& mesh) const;

  /// Hides levels finer than `deepest` from now on. Blocks on those levels no longer belong to the mesh. Blocks of
  /// octrees then have only the cells of the levels down to `deepest`, which come first; `refined` is 0 on the last of
  /// these levels. Only the flags of finer levels are read. Without a number, all levels are shown again.
  void limit_levels(std::optional<std::int32_t> deepest);

  /// Reads the points `box` of a level into an array of the variable's type, order and components. The array is
  /// contiguous over `array`, which contains `box`. A point that several blocks had comes from the block of lowest id.
  /// Throws Error(file) if a point was in no block. For meshes whose blocks are boxes.
  void read_box(const std::string& variable, std::int32_t level, const Box& box, const Box& array, void* data);
  /// Reads the values of `count` entries (points, cells) of a list from `first` on, with their components; the lists of
  /// all blocks are concatenated by ascending id. For meshes whose blocks are lists.
  void read_list(const std::string& variable, std::int64_t first, std::int64_t count, void* data);
  /// Number of entries of such a list.
  [[nodiscard]] std::int64_t list_length(const std::string& variable) const;
  /// Reads everything that was published for one block, contiguously; `bytes` must be its exact size.
  void read_block(const std::string& variable, std::int64_t block, void* data, std::uint64_t bytes);

 private:
  struct Implementation;
  explicit Restart(std::unique_ptr<Implementation> implementation);
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace sidestream
