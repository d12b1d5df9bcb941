// The tree of cells over all ranks: p8est's forest of one cube, with the queries that the solver needs.
#pragma once

#include <mpi.h>
#include <p8est_extended.h>
#include <p8est_ghost.h>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "euler.hpp"

namespace blast {

/// A cell of the unit cube by its level and its indices in units of its own size.
struct Leaf {
  std::int32_t level = 0;
  std::array<std::int32_t, 3> at{0, 0, 0};
  [[nodiscard]] double size() const { return 1.0 / static_cast<double>(std::int64_t{1} << level); }
  [[nodiscard]] double centre(int axis) const { return (at[static_cast<std::size_t>(axis)] + 0.5) * size(); }
  bool operator==(const Leaf&) const = default;
};

/// A face between two cells, of the finer one's size. Cells are numbered with local leaves first, then ghosts; -1: the
/// boundary of the cube.
struct Face {
  std::int32_t low = -1, high = -1;  ///< the cells on both sides along its axis
  std::int8_t axis = 0;
  std::int8_t part_low = -1,
              part_high = -1;  ///< its quarter of that cell's side, the lower axis first; -1: all
};

/// Requested refinement of a leaf.
enum class Mark : std::int8_t { coarsen = -1, keep = 0, refine = 1 };

class Forest {
 public:
  /// Collective: the cube in cells of `level`, divided evenly. Its sides are boundaries unless `periodic`.
  Forest(MPI_Comm comm, bool periodic, int level);
  /// Collective: leaves of a checkpoint in their order. `leaves` are those of this rank; ranks follow each other.
  /// Leaves and `values` are redistributed.
  Forest(MPI_Comm comm, bool periodic, const std::vector<Leaf>& leaves, std::vector<Values>& values);
  ~Forest();
  Forest(const Forest&) = delete;
  Forest& operator=(const Forest&) = delete;

  /// Collective: refines and coarsens by `marks`, within these levels, and distributes the leaves evenly. Neighbours,
  /// including corners, differ by at most one level. `values` is updated: parents get the mean of their children.
  /// Children get their parent's value plus `slopes` (of each leaf, along each axis, per length of the leaf; empty:
  /// none) where `fits` accepts all eight. The result for a cell depends on the leaves and marks, not on their
  /// distribution.
  void adapt(const std::vector<Mark>& marks, int least, int most, std::vector<Values>& values,
             const std::vector<std::array<Values, 3>>& slopes, const std::function<bool(const Values&)>& fits);

  [[nodiscard]] MPI_Comm comm() const { return comm_; }
  /// Leaves of this rank in Morton order, then the ghosts: leaves of others that share a face with one of them.
  [[nodiscard]] const std::vector<Leaf>& leaves() const { return leaves_; }
  [[nodiscard]] std::size_t local() const { return local_; }
  [[nodiscard]] std::int64_t global() const { return forest_->global_num_quadrants; }
  /// Number of leaves on lower ranks.
  [[nodiscard]] std::int64_t first() const { return forest_->global_first_quadrant[forest_->mpirank]; }
  [[nodiscard]] const std::vector<Face>& faces() const { return faces_; }
  /// The faces on a side (0: x low, 1: x high, ... 5) of a local leaf by position: one, or four in order of their
  /// quarter; -1 for none.
  [[nodiscard]] const std::array<std::int32_t, 4>& side(std::size_t leaf, std::size_t number) const {
    return sides_[6 * leaf + number];
  }
  /// The cell on the other side of a face.
  [[nodiscard]] std::int32_t beyond(std::size_t leaf_side, const Face& face) const {
    return leaf_side % 2 == 0 ? face.low : face.high;
  }

  /// Collective: gets the values of ghosts from their owners. `values` has an entry for each of leaves(). T is copied
  /// as bytes.
  template <class T>
  void exchange(std::vector<T>& values) const {
    std::vector<void*> mirrors;
    for (const std::int32_t leaf : mirrors_) mirrors.push_back(&values[static_cast<std::size_t>(leaf)]);
    p8est_ghost_exchange_custom(forest_, ghost_, sizeof(T), mirrors.data(), values.data() + local_);
  }

 private:
  struct Change;
  static void add_face(p8est_iter_face_info_t* info, void* self);
  void add(const Face& face);
  void deal();
  void look();
  void put(const std::vector<Mark>& marks, const std::vector<Values>& values);
  void take(std::vector<Values>& values) const;

  MPI_Comm comm_;
  p8est_connectivity_t* cube_ = nullptr;
  p8est_t* forest_ = nullptr;
  p8est_ghost_t* ghost_ = nullptr;
  std::size_t local_ = 0;
  std::vector<Leaf> leaves_;
  std::vector<std::int32_t> mirrors_;
  std::vector<Face> faces_;
  std::vector<std::array<std::int32_t, 4>> sides_;
};

}  // namespace blast
