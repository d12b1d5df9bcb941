// Going on from a checkpoint of the output `database`, on any number of ranks.
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

/// A checkpoint that was found whole. Needs no session and no configuration. Opening is collective; each rank then
/// reads what it wants, when it wants. Every function throws Error.
class Restart {
 public:
  /// Collective. The newest checkpoint in the database `directory` of which every byte is what was written, or the
  /// newest of `cycle`; one that is damaged is passed over (see `remarks`). The ranks share the checking, which reads
  /// the checkpoint once. Throws the same Error(file) on all if there is none.
  [[nodiscard]] static Restart open(MPI_Comm comm, const std::string& directory,
                                    std::optional<std::int64_t> cycle = std::nullopt);
  Restart(Restart&&) noexcept;
  Restart& operator=(Restart&&) noexcept;
  ~Restart();

  [[nodiscard]] const Iteration& iteration() const noexcept;
  [[nodiscard]] const Metadata& metadata() const noexcept;
  /// What was passed over on the way, a sentence each, the same on all ranks.
  [[nodiscard]] const std::vector<std::string>& remarks() const noexcept;
  /// The blocks of a mesh as they were published, by level and id. Throws Error(usage) if there is no such mesh.
  [[nodiscard]] std::vector<Block> blocks(const std::string& mesh) const;

  /// From now on levels finer than `deepest` are as if they were not there: blocks on them are none of the mesh's, and
  /// blocks of octrees have the cells of the levels down to it alone, their first ones, with `refined` 0 on the last
  /// level. Of finer ones nothing is read but the flags. Without a number all levels are there again.
  void limit_levels(std::optional<std::int32_t> deepest);

  /// Fills the points `box` of a level in an array of the variable's type, order and components, without gaps, over
  /// `array` (which holds `box`). Points that several blocks had come from the one of lowest id. Throws Error(file)
  /// where a point was in no block. Of meshes whose blocks are boxes.
  void read_box(const std::string& variable, std::int32_t level, const Box& box, const Box& array, void* data);
  /// Of meshes whose blocks are lists: values `first` to `first + count` of all blocks one after the other, by
  /// ascending id.
  void read_list(const std::string& variable, std::int64_t first, std::int64_t count, void* data);
  /// How many values such a list has.
  [[nodiscard]] std::int64_t list_length(const std::string& variable) const;
  /// All that was published of one block, gapless: `bytes` must be as many as that is.
  void read_block(const std::string& variable, std::int64_t block, void* data, std::uint64_t bytes);

 private:
  struct Implementation;
  explicit Restart(std::unique_ptr<Implementation> implementation);
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace sidestream
