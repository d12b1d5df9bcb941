// The values of a context for programs: by box, by list or by block, down to a level.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "storage/database/context.hpp"

namespace sidestream::database {

/// A block of a context and its row in the tables.
struct PlacedBlock {
  Block block;
  std::size_t group = 0;
  std::uint32_t row = 0;
};

/// Provides the visible part of a context. Everything throws Error. Used by one thread.
class StoredValues {
 public:
  /// `noun`: name of the context in messages, such as `checkpoint`.
  StoredValues(std::unique_ptr<Context> context, std::string noun);

  [[nodiscard]] Context& context() const noexcept { return *context_; }
  [[nodiscard]] const Metadata& metadata() const noexcept { return context_->metadata(); }
  /// Finds a variable. Throws Error(usage) with the known names.
  [[nodiscard]] const Variable& variable(const std::string& name) const;
  [[nodiscard]] const Mesh& mesh(const std::string& name) const;

  /// The codecs of a variable, separated by blanks, with `or` between lists.
  [[nodiscard]] std::string codec(const Variable& variable) const;

  /// Hides levels finer than `deepest`; nothing: hides none.
  void limit_levels(std::optional<std::int32_t> deepest);
  [[nodiscard]] std::optional<std::int32_t> deepest() const noexcept { return deepest_; }

  /// The visible blocks of a mesh by level and id. Blocks of trees have all of their cells; see `seen`.
  [[nodiscard]] std::vector<PlacedBlock> blocks(const Mesh& mesh) const;
  /// The block without hidden levels. Reads the flags of a tree if levels are limited.
  [[nodiscard]] Block seen(const PlacedBlock& placed) const;
  /// Visible bytes of a variable on a block; nothing if they were not stored.
  [[nodiscard]] std::optional<std::uint64_t> bytes_on(const Variable& variable, const PlacedBlock& placed) const;
  /// Reads all visible values. `out` has exactly `bytes_on` bytes.
  void read(const Variable& variable, const PlacedBlock& placed, std::span<std::byte> out) const;

  /// First index of each visible level of a tree, followed by the end. Throws Error if its flags were not stored.
  [[nodiscard]] std::vector<Index> starts(const PlacedBlock& placed) const;
  /// The visible flags of a tree; nothing if they were not stored.
  [[nodiscard]] std::optional<std::vector<std::uint8_t>> flags(const PlacedBlock& placed, Role role) const;

  /// Reads the points `box` of a level into `data`, which is contiguous over `array`. Throws Error(file) if a point is
  /// in no block.
  void read_box(const Variable& variable, std::int32_t level, const Box& box, const Box& array, void* data) const;
  /// Reads entries [first, first + count) of a list; blocks are concatenated by ascending id.
  void read_list(const Variable& variable, std::int64_t first, std::int64_t count, std::byte* out);
  [[nodiscard]] std::int64_t list_length(const Variable& variable);
  /// Reads the first block of that id that has values.
  void read_block(const Variable& variable, std::int64_t id, std::span<std::byte> out);

 private:
  /// The values of a variable on a block.
  struct Place {
    PlacedBlock placed;
    const PieceRow* row = nullptr;
  };
  [[nodiscard]] bool hides(const Block& block) const { return deepest_ && block.level > *deepest_; }
  /// True if a block has a tree whose finer levels are hidden.
  [[nodiscard]] bool cuts(const Block& block) const;
  [[nodiscard]] const std::vector<Place>& places(const Variable& variable);
  void read_piece(const Variable& variable, const PlacedBlock& placed, const PieceRow& row,
                  std::span<std::byte> out) const;

  std::unique_ptr<Context> context_;
  std::string noun_;
  std::optional<std::int32_t> deepest_;
  std::optional<std::int32_t> placed_;  ///< the variable of `found_places_`
  std::vector<Place> found_places_;     ///< places of all visible pieces, by ascending block id
};

}  // namespace sidestream::database
