// Iterations whose values are arrays in HDF5 files, for all formats; each format finds the arrays by itself.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyse/snapshot.hpp"
#include "storage/hdf5/input.hpp"

namespace sidestream::analysing {

/// A term of a sum that forms a value: an array, or a constant.
struct Term {
  std::string array;  ///< path in the file; empty: a constant
  double number = 0;
  double scale = 1;                 ///< factor
  std::optional<double> missing{};  ///< the number in the array that stands for NaN
};

/// The values of a variable on a block.
struct StoredValues {
  std::shared_ptr<const hdf5::InputFile> file;
  /// Terms of each component. A single array with the scale 1 is read bit by bit.
  std::vector<std::vector<Term>> components;
  bool together = false;  ///< true if all components are in one array, whose last axis counts them
  Index3 first{};         ///< the first point of the arrays, in the order of the variable
};

class ArraysSnapshot final : public Snapshot {
 public:
  /// Returns the id. Names are the file's, where they are unique.
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

/// Adds a list of points as blocks of equal size, which only depends on the number of points. Returns the first point
/// of each block, then the end.
struct PointBlocks {
  std::vector<std::size_t> blocks;
  std::vector<Index> first;
};
[[nodiscard]] PointBlocks add_points(ArraysSnapshot& snapshot, std::int32_t mesh, Index count);

/// The box of points of an array with these extents (slowest axis first in the file) on a mesh of `dimensions` axes.
[[nodiscard]] Box box_of(const hdf5::Extents& extents, int dimensions, Order order);

}  // namespace sidestream::analysing
