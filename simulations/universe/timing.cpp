#include "timing.hpp"

#include "output.hpp"

namespace universe {

void write_times(const Layout& layout, const std::string& file, const std::vector<StepTimes>& mine) {
  constexpr int fields = 4;
  static_assert(sizeof(StepTimes) == fields * sizeof(double));
  const std::size_t steps = mine.size();
  std::vector<StepTimes> all(layout.rank() == 0 ? steps * static_cast<std::size_t>(layout.ranks()) : 0);
  const int count = static_cast<int>(steps) * fields;
  MPI_Gather(mine.data(), count, MPI_DOUBLE, all.data(), count, MPI_DOUBLE, 0, layout.comm());
  write_file(layout, "--times", file, [&](std::FILE* out) {
    std::fputs("rank,step,start,compute,publish,end\n", out);
    for (std::size_t n = 0; n < all.size(); ++n) {
      std::fprintf(out, "%zu,%zu,%.9f,%.9f,%.9f,%.9f\n", n / steps, n % steps, all[n].start, all[n].compute,
                   all[n].publish, all[n].end);
    }
    return std::ferror(out) == 0;
  });
}

}  // namespace universe
