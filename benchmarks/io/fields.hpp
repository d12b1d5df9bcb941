// Fields that every method writes: those of one grid, with a box per rank.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace io {

using Index3 = std::array<std::int64_t, 3>;

struct Box {
  Index3 lo{}, hi{};
  [[nodiscard]] std::int64_t extent(int axis) const { return hi[axis] - lo[axis]; }
  [[nodiscard]] std::int64_t count() const { return extent(0) * extent(1) * extent(2); }
};

/// Part `number` of `parts` of a grid, which is cut along all axes, so that shared files get short lines.
[[nodiscard]] Box part_of(const Index3& grid, int number, int parts);

/// The fields of the ranks of a communicator, float64, i fastest.
class Fields {
 public:
  Fields(MPI_Comm comm, const Index3& grid, int variables);
  void fill(int step);

  MPI_Comm comm;
  int rank = 0, ranks = 1;
  Index3 grid;
  Box box;  ///< box of this rank
  std::vector<std::string> names;
  std::vector<std::vector<double>> values;

  [[nodiscard]] std::uint64_t bytes_here(const std::vector<double>& of) const { return of.size() * sizeof(double); }
  [[nodiscard]] std::uint64_t bytes() const;
};

/// The value of a variable at a point in a step, as readers expect it.
[[nodiscard]] inline double value_at(const Index3& grid, int variable, int step, std::int64_t i, std::int64_t j,
                                     std::int64_t k) {
  return static_cast<double>((k * grid[1] + j) * grid[0] + i) * 1e-3 + step + 0.25 * variable;
}

}  // namespace io
