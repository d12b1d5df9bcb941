// One iteration of a file of any format, as `sidestream analyse` reads it.
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

/// Reads what it is asked for and nothing else. Used by one thread; processes that open the same file see the same.
/// Everything throws Error(file) where the file is damaged, with its name.
class Snapshot {
 public:
  virtual ~Snapshot() = default;
  /// What there is. Ids here, in Block::mesh and below count these.
  [[nodiscard]] virtual const Metadata& metadata() const = 0;
  /// All blocks, in any order.
  [[nodiscard]] virtual const std::vector<Block>& blocks() = 0;
  /// Whether the variable has values on blocks()[block], a block of its mesh.
  [[nodiscard]] virtual bool has(std::int32_t variable, std::size_t block) = 0;
  /// Between which numbers the variable's values on blocks()[block] are, NaN left out, as far as that is known without
  /// reading them; of one component.
  [[nodiscard]] virtual std::optional<Range> range(std::int32_t variable, std::size_t block) {
    static_cast<void>(variable);
    static_cast<void>(block);
    return std::nullopt;
  }
  /// The variable's values on `part` of blocks()[block], of which it has cells: of a list all. `out` is gapless, over
  /// the points of `part`, in the order of the variable.
  virtual void read(std::int32_t variable, std::size_t block, const Block& part, std::span<std::byte> out) = 0;
};

enum class Format : std::int32_t { database, plotfile, fields, openpmd, described };

/// Where an iteration is: what one process finds out and tells the others, which open files when they read them.
struct StoredIteration {
  Format format = Format::database;
  std::string path;                         ///< of the file or directory
  std::string part;                         ///< of it: what the format needs to find the iteration
  Iteration when;                           ///< its index means nothing
  [[nodiscard]] std::string where() const;  ///< for messages: 'plt00040'; 'data', cycle 30
};

using StoredIterations = std::vector<StoredIteration>;

}  // namespace sidestream::analysing
