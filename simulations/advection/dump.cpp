#include "dump.hpp"

#include <cstdio>

namespace advection {

namespace {

struct Entry {
  std::int32_t level;
  Index3 at;
  std::int64_t patch;
  double density;
};
static_assert(sizeof(Entry) == 32);

// The cells of one patch, gathered on rank 0.
std::vector<Entry> entries_of(const Solver& solver, std::size_t number, std::size_t p, int rank) {
  constexpr int tag = 18;
  const Level& level = solver.levels()[number];
  const Patch& patch = level.patches[p];
  std::vector<Entry> entries;
  if (patch.owner == rank) {
    for_each(patch.box, [&](Index i, Index j, Index k) {
      entries.push_back({static_cast<std::int32_t>(number), {i, j, k}, patch.id, level.density[p].at(i, j, k)});
    });
  }
  if (patch.owner == 0) return entries;
  const int bytes = static_cast<int>(patch.box.count() * static_cast<std::int64_t>(sizeof(Entry)));
  if (rank == patch.owner) MPI_Send(entries.data(), bytes, MPI_BYTE, 0, tag, solver.comm());
  if (rank != 0) return {};
  entries.resize(static_cast<std::size_t>(patch.box.count()));
  MPI_Recv(entries.data(), bytes, MPI_BYTE, patch.owner, tag, solver.comm(), MPI_STATUS_IGNORE);
  return entries;
}

}  // namespace

void write_cells(const std::string& file, const Solver& solver) {
  int rank = 0;
  MPI_Comm_rank(solver.comm(), &rank);
  std::FILE* const out = rank == 0 ? std::fopen(file.c_str(), "wb") : nullptr;
  int good = rank != 0 || out != nullptr ? 1 : 0;
  for (std::size_t l = 0; l < solver.levels().size(); ++l) {
    for (std::size_t p = 0; p < solver.levels()[l].patches.size(); ++p) {
      const std::vector<Entry> entries = entries_of(solver, l, p, rank);
      if (out == nullptr) continue;
      if (std::fwrite(entries.data(), sizeof(Entry), entries.size(), out) != entries.size()) good = 0;
    }
  }
  if (out != nullptr && std::fclose(out) != 0) good = 0;
  MPI_Bcast(&good, 1, MPI_INT, 0, solver.comm());
  if (good == 0) throw UserError("--dump " + file + ": the file cannot be written; name one in a writable directory.");
}

}  // namespace advection
