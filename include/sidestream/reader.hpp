// Reading databases of the output `database`: checkpoints and `post`.
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

/// A context as listed in a database.
struct ListedContext {
  std::uint64_t slot = 0;  ///< its number in the database
  Iteration iteration;
  std::uint32_t run = 0;  ///< run number of the session that wrote it; the first run is 1
  bool is_checkpoint = false;
  std::uint64_t blocks = 0;        ///< number of blocks of all meshes
  std::uint64_t bytes = 0;         ///< bytes of values before codecs
  std::uint64_t stored_bytes = 0;  ///< bytes of values in the files
};

/// Selects cells of an octree or of a mesh whose blocks are boxes: by default all leaves.
struct CellSelection {
  std::int32_t level = 0;                 ///< the level whose cells `box` counts
  std::optional<Box> box{};               ///< cells that meet it are listed, on any level; nothing: the whole mesh
  std::int32_t coarsest = 0;              ///< cells of coarser levels are omitted
  std::optional<std::int32_t> deepest{};  ///< finer levels are ignored: cells of this level are leaves
  /// If true, only leaves, which cover each place once on its finest level. If false, also parents, and leaves that
  /// count in no block.
  bool leaves = true;
};

/// Cells of a refined mesh. Entry n of each list belongs to cell n; the lists live as long as the object. Cells are
/// sorted by level; cells of trees then by Morton key, others by block with i fastest.
class Cells {
 public:
  Cells(Cells&&) noexcept;
  Cells& operator=(Cells&&) noexcept;
  ~Cells();

  [[nodiscard]] std::size_t size() const noexcept { return level().size(); }
  [[nodiscard]] const std::vector<std::int32_t>& level() const noexcept;
  [[nodiscard]] const std::vector<Index3>& index() const noexcept;          ///< (i, j, k) on the cell's level
  [[nodiscard]] const std::vector<std::uint8_t>& refined() const noexcept;  ///< 1: it contains finer cells
  [[nodiscard]] const std::vector<std::int64_t>& owner()
      const noexcept;  ///< id of the block in which it counts; for octrees -1: none

 private:
  friend class StoredContext;
  struct Implementation;
  explicit Cells(std::unique_ptr<Implementation> implementation);
  std::unique_ptr<Implementation> implementation_;
};

/// The structure of a block of an octree: an entry for each cell, level by level.
struct StoredTree {
  std::vector<Index> starts;          ///< the first cell of each level, and last the number of cells
  std::vector<std::uint8_t> refined;  ///< 1: it is refined
  std::vector<std::uint8_t> owned;    ///< 1: it counts in this block
};

/// One iteration of a database. Each rank reads the values that it wants, at any time, and only the chunks that have
/// them. Every function throws Error: usage for names and numbers that the context lacks, file for damage. One thread
/// at a time.
class StoredContext {
 public:
  StoredContext(StoredContext&&) noexcept;
  StoredContext& operator=(StoredContext&&) noexcept;
  ~StoredContext();

  [[nodiscard]] const Iteration& iteration() const noexcept;
  [[nodiscard]] const Metadata& metadata() const noexcept;
  /// The version and the configuration that wrote it, as text.
  [[nodiscard]] const std::string& provenance() const noexcept;
  /// The codecs of a variable, separated by blanks, with `or` between lists; empty: none.
  [[nodiscard]] std::string codec(const std::string& variable) const;
  /// The times of a mesh's levels from 0 on, if they differ from the iteration's.
  [[nodiscard]] std::vector<double> level_times(const std::string& mesh) const;
  /// Bytes of tables and values that were read by this rank so far, as they are in the files.
  [[nodiscard]] std::uint64_t bytes_read() const noexcept;

  /// Hides levels finer than `deepest` from now on, like Restart::limit_levels.
  void limit_levels(std::optional<std::int32_t> deepest);

  /// The number of blocks of a mesh.
  [[nodiscard]] std::int64_t block_count(const std::string& mesh) const;
  /// A block, counted from 0, by level and id. Parts into which a partitioner has cut a block have ids below 0.
  [[nodiscard]] Block block(const std::string& mesh, std::int64_t number) const;
  /// Bytes of a variable on a block of its mesh; nothing if it was not stored there.
  [[nodiscard]] std::optional<std::uint64_t> block_bytes(const std::string& variable, std::int64_t number) const;
  /// Reads all values on the block into `data`, contiguous, in the order of the variable. `bytes` must be the exact
  /// size.
  void read_block(const std::string& variable, std::int64_t number, void* data, std::uint64_t bytes);

  /// Reads the points `box` of a level into an array of the variable's type, order and components. The array is
  /// contiguous over `array`, which contains `box`. A point that several blocks have comes from the block of lowest id.
  /// Throws Error(file) if a point is in no block. For meshes whose blocks are boxes.
  void read_box(const std::string& variable, std::int32_t level, const Box& box, const Box& array, void* data);
  /// Reads the values of `count` entries (points, cells) of a list from `first` on, with their components; the lists of
  /// all blocks are concatenated by ascending id. For meshes whose blocks are lists.
  void read_list(const std::string& variable, std::int64_t first, std::int64_t count, void* data);
  [[nodiscard]] std::int64_t list_length(const std::string& variable);

  /// The structure of a block of an octree.
  [[nodiscard]] StoredTree tree(const std::string& mesh, std::int64_t number);
  /// Lists cells, each once. A cell of trees that several blocks list comes from a block that has refined it, otherwise
  /// from one that owns it, otherwise from the block of lowest id. Cells of other meshes come from the block of lowest
  /// id. Reads the flags of trees whose bounds meet the box.
  [[nodiscard]] Cells list_cells(const std::string& mesh, const CellSelection& selection = {});
  /// Reads a variable's values in cells that this context has listed, in their order, with interleaved components.
  /// `bytes` must be the exact size. Cells of blocks without the variable become NaN, or 0 for integers. Returns the
  /// number of such cells.
  std::int64_t read_cells(const std::string& variable, const Cells& cells, void* data, std::uint64_t bytes);

 private:
  friend class Reader;
  struct Implementation;
  explicit StoredContext(std::unique_ptr<Implementation> implementation);
  std::unique_ptr<Implementation> implementation_;
};

/// A database. Needs no session and no configuration.
class Reader {
 public:
  /// Opens a database for the ranks of `comm`, which must exist as long as contexts are opened. Collective: throws the
  /// same Error on all ranks. MPI_COMM_NULL: as below.
  [[nodiscard]] static Reader open(MPI_Comm comm, const std::string& directory);
  /// Opens a database for this process only. Calls no function of MPI, which need not be initialised.
  [[nodiscard]] static Reader open(const std::string& directory);
  Reader(Reader&&) noexcept;
  Reader& operator=(Reader&&) noexcept;
  ~Reader();

  /// The contexts in the order of writing. If a run has written an iteration again, both are listed.
  [[nodiscard]] const std::vector<ListedContext>& contexts() const noexcept;
  /// The number of the context of that cycle that was written last. Throws Error(file) if there is none.
  [[nodiscard]] std::int64_t find_cycle(std::int64_t cycle) const;
  /// Remarks on broken parts of the list of contexts, one sentence each.
  [[nodiscard]] const std::vector<std::string>& remarks() const noexcept;
  /// Opens a context, counted from 0: its description and the tables of its blocks. Collective, with the same number on
  /// all ranks. The context may outlive the reader.
  [[nodiscard]] StoredContext open_context(std::int64_t number) const;

 private:
  struct Implementation;
  explicit Reader(std::unique_ptr<Implementation> implementation);
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace sidestream
