#include "timing.hpp"

#include <algorithm>
#include <cstdio>

#include "input.hpp"

namespace oscillators {

namespace {

constexpr int fields = 4;

// All ranks' times on rank 0, ordered by rank; every rank has the same number of steps. Empty elsewhere.
std::vector<StepTimes> gather(MPI_Comm comm, const std::vector<StepTimes>& mine) {
  static_assert(sizeof(StepTimes) == fields * sizeof(double));
  int rank = 0, ranks = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  std::vector<StepTimes> all(rank == 0 ? mine.size() * static_cast<std::size_t>(ranks) : 0);
  const int count = static_cast<int>(mine.size()) * fields;
  MPI_Gather(mine.data(), count, MPI_DOUBLE, all.data(), count, MPI_DOUBLE, 0, comm);
  return all;
}

double median(const std::vector<StepTimes>& times, double StepTimes::*field) {
  std::vector<double> values;
  for (const StepTimes& step : times) values.push_back(step.*field);
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

void write_times(MPI_Comm comm, const std::string& file, const std::vector<StepTimes>& mine) {
  const std::vector<StepTimes> all = gather(comm, mine);
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  int good = 1;  // only rank 0 knows; all ranks must learn it
  if (rank == 0) {
    std::FILE* const out = std::fopen(file.c_str(), "w");
    good = out != nullptr;
    if (good) {
      std::fputs("rank,step,start,compute,publish,end\n", out);
      for (std::size_t n = 0; n < all.size(); ++n) {
        std::fprintf(out, "%zu,%zu,%.9f,%.9f,%.9f,%.9f\n", n / mine.size(), n % mine.size(), all[n].start,
                     all[n].compute, all[n].publish, all[n].end);
      }
      good = std::fclose(out) == 0;
    }
  }
  MPI_Bcast(&good, 1, MPI_INT, 0, comm);
  if (!good) throw UserError("--times " + file + ": the file cannot be written; name one in a writable directory.");
}

std::string describe_times(MPI_Comm comm, const std::vector<StepTimes>& mine) {
  const std::vector<StepTimes> all = gather(comm, mine);
  if (all.empty()) return "";
  const StepTimes& last = mine.back();
  char text[200];
  std::snprintf(text, sizeof text,
                "%zu steps in %.2f s; medians per step: compute %.2f ms, publish %.3f ms, end of step %.3f ms.",
                mine.size(), last.start + last.compute + last.publish + last.end,
                1e3 * median(all, &StepTimes::compute), 1e3 * median(all, &StepTimes::publish),
                1e3 * median(all, &StepTimes::end));
  return text;
}

}  // namespace oscillators
