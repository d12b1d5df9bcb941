// Iterations whose values are arrays of HDF5 files: what they are is found out elsewhere, once for each format.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "analyse/snapshot.hpp"
#include "storage/hdf5/input.hpp"

namespace sidestream::analysing {

/// What a value is the sum of: an array, or the same number everywhere.
struct Term {
  std::string array;  ///< path in the file; empty: a number
  double number = 0;
  double scale = 1;  ///< times this
};

/// The values of a variable on a block.
struct StoredValues {
  std::shared_ptr<const hdf5::InputFile> file;
  /// Of each component. Those of a single array with the scale 1 are the bits of the file.
  std::vector<std::vector<Term>> components;
  bool together = false;  ///< all components are in one array, whose last axis counts them
  Index3 first{};         ///< the point that the arrays begin with; they run as the order of the variable says
};

class ArraysSnapshot final : public Snapshot {
 public:
  /// Returns the id. Names are those of the file, which has each once.
  std::int32_t add(Mesh mesh);
  std::int32_t add(Variable variable);
  std::size_t add(const Block& block);
  void add(std::int32_t variable, std::size_t block, StoredValues values);

  [[nodiscard]] const Metadata& metadata() const override { return metadata_; }
  [[nodiscard]] const std::vector<Block>& blocks() override { return blocks_; }
  [[nodiscard]] bool has(std::int32_t variable, std::size_t block) override {
    return values_.count({variable, block}) > 0;
  }
  void read(std::int32_t variable, std::size_t block, const Block& part, std::span<std::byte> out) override;

 private:
  Metadata metadata_;
  std::vector<Block> blocks_;
  std::map<std::pair<std::int32_t, std::size_t>, StoredValues> values_;
};

/// Adds a list of points as blocks of equal numbers of them, which depend on their number alone; returns where each
/// begins, and behind the last one.
struct PointBlocks {
  std::vector<std::size_t> blocks;
  std::vector<Index> first;
};
[[nodiscard]] PointBlocks add_points(ArraysSnapshot& snapshot, std::int32_t mesh, Index count);

/// The box of points that an array of these extents has, slowest axis first in the file, on a mesh of so many
/// dimensions.
[[nodiscard]] Box box_of(const hdf5::Extents& extents, int dimensions, Order order);

}  // namespace sidestream::analysing
