#include "dump.hpp"

#include "mini_app/output.hpp"

namespace blast {

void write_leaves(const std::string& file, const Solver& solver) {
  struct Entry {
    Leaf leaf;
    Values values;
  };
  static_assert(sizeof(Entry) == 56);
  const Forest& forest = solver.forest();
  int rank = 0, ranks = 1;
  MPI_Comm_rank(forest.comm(), &rank);
  MPI_Comm_size(forest.comm(), &ranks);
  std::vector<Entry> entries;
  for (std::size_t n = 0; n < forest.local(); ++n) entries.push_back({forest.leaves()[n], solver.values()[n]});
  const int bytes = static_cast<int>(entries.size() * sizeof(Entry));
  std::vector<int> counts(static_cast<std::size_t>(ranks)), places(counts.size(), 0);
  MPI_Gather(&bytes, 1, MPI_INT, counts.data(), 1, MPI_INT, 0, forest.comm());
  for (std::size_t r = 1; r < places.size(); ++r) places[r] = places[r - 1] + counts[r - 1];
  std::vector<Entry> all(rank == 0 ? static_cast<std::size_t>(forest.global()) : 0);
  MPI_Gatherv(entries.data(), bytes, MPI_BYTE, all.data(), counts.data(), places.data(), MPI_BYTE, 0, forest.comm());
  mini_app::write_file(forest.comm(), "--dump", file, [&](std::FILE* out) {
    return std::fwrite(all.data(), sizeof(Entry), all.size(), out) == all.size();
  });
}

}  // namespace blast
