// One iteration of a file of any format, for `sidestream analyse`.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sidestream/data/block.hpp"
#include "sidestream/data/iteration.hpp"
#include "sidestream/data/metadata.hpp"
#include "sidestream/data/range.hpp"

namespace sidestream::analysing {

/// Reads only the requested values. For one thread; processes that open the same file see the same. All functions throw
/// Error(file) with its name if the file is damaged.
class Snapshot {
 public:
  virtual ~Snapshot() = default;
  /// All meshes and variables. Ids in this class and in Block::mesh refer to it.
  [[nodiscard]] virtual const Metadata& metadata() const = 0;
  /// All blocks, in any order.
  [[nodiscard]] virtual const std::vector<Block>& blocks() = 0;
  /// True if the variable has values on blocks()[block], a block of its mesh.
  [[nodiscard]] virtual bool has(std::int32_t variable, std::size_t block) = 0;
  /// Range of the variable's values on blocks()[block], ignoring NaN, if known without reading them; for one component.
  [[nodiscard]] virtual std::optional<Range> range(std::int32_t variable, std::size_t block) {
    static_cast<void>(variable);
    static_cast<void>(block);
    return std::nullopt;
  }
  /// Reads the variable's values on `part` of blocks()[block], a subset of its cells (all cells for a list). `out` is
  /// contiguous over the points of `part`, in the order of the variable.
  virtual void read(std::int32_t variable, std::size_t block, const Block& part, std::span<std::byte> out) = 0;
};

enum class Format : std::int32_t { database, plotfile, fields, openpmd, described };

/// Location of an iteration. One process finds it and sends it to the others, which open files when they read them.
struct StoredIteration {
  Format format = Format::database;
  std::string path;                         ///< path of the file or directory
  std::string part;                         ///< what the format needs to find the iteration in it
  Iteration when;                           ///< its index is not set
  [[nodiscard]] std::string where() const;  ///< for messages: 'plt00040'; 'data', cycle 30
};

using StoredIterations = std::vector<StoredIteration>;

// Summary of the content of files.

/// One line for the iterations (at least one), one for each mesh, and one for each of its variables.
[[nodiscard]] std::string contents_of(const StoredIterations& iterations, const Metadata& metadata);

// Adapter for meshes whose first cell is not (0, 0, 0), which plotfiles may have.

/// Returns the snapshot with all cells counted from (0, 0, 0), as programs declare them; the snapshot itself if that
/// holds.
[[nodiscard]] std::unique_ptr<Snapshot> counted_from_zero(std::unique_ptr<Snapshot> snapshot);

}  // namespace sidestream::analysing
