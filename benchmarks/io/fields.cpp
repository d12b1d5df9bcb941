#include "fields.hpp"

namespace io {

namespace {

/// Factors of `parts`, one per axis, as close to each other as possible.
Index3 factors_of(int parts) {
  std::array<int, 3> cuts{0, 0, 0};
  MPI_Dims_create(parts, 3, cuts.data());
  return {cuts[2], cuts[1], cuts[0]};  // fewest cuts along the fastest axis
}

}  // namespace

Box part_of(const Index3& grid, int number, int parts) {
  const Index3 cuts = factors_of(parts);
  const Index3 at{number % cuts[0], number / cuts[0] % cuts[1], number / cuts[0] / cuts[1]};
  Box box;
  for (int a = 0; a < 3; ++a) {
    box.lo[a] = grid[a] * at[a] / cuts[a];
    box.hi[a] = grid[a] * (at[a] + 1) / cuts[a];
  }
  return box;
}

Fields::Fields(MPI_Comm communicator, const Index3& size, int variables) : comm(communicator), grid(size) {
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  box = part_of(grid, rank, ranks);
  for (int v = 0; v < variables; ++v) {
    names.push_back("field" + std::to_string(v));
    values.emplace_back(static_cast<std::size_t>(box.count()));
  }
}

std::uint64_t Fields::bytes() const {
  return static_cast<std::uint64_t>(grid[0] * grid[1] * grid[2]) * sizeof(double) * values.size();
}

void Fields::fill(int step) {
  for (std::size_t v = 0; v < values.size(); ++v) {
    double* to = values[v].data();
    for (std::int64_t k = box.lo[2]; k < box.hi[2]; ++k) {
      for (std::int64_t j = box.lo[1]; j < box.hi[1]; ++j) {
        for (std::int64_t i = box.lo[0]; i < box.hi[0]; ++i) *to++ = value_at(grid, static_cast<int>(v), step, i, j, k);
      }
    }
  }
}

}  // namespace io
