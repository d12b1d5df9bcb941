#include "comparison.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

#include "clock.hpp"
#include "plain_file.hpp"

namespace io {

namespace {

namespace fs = std::filesystem;

std::set<std::string> files_of(const std::string& folder) {
  std::set<std::string> files;
  for (const auto& file : fs::recursive_directory_iterator(folder)) {
    if (file.is_regular_file()) files.insert(file.path().string());
  }
  return files;
}

/// What is still on its way to the disk would be paid by the next method.
void settle(const std::set<std::string>& files, bool keep) {
  for (const std::string& path : files) {
    if (!keep) {
      fs::remove(path);
    } else {
      PlainFile(path, O_RDONLY).sync();
    }
  }
}

struct Times {
  double mean, slowest;
};

Times over_ranks(const Fields& fields, double seconds) {
  Times times{};
  MPI_Allreduce(&seconds, &times.mean, 1, MPI_DOUBLE, MPI_SUM, fields.comm);
  MPI_Allreduce(&seconds, &times.slowest, 1, MPI_DOUBLE, MPI_MAX, fields.comm);
  times.mean /= fields.ranks;
  return times;
}

Sample take(Fields& fields, Contender& contender, int step, Sync sync, bool keep) {
  fields.fill(step);
  const std::set<std::string> before = fields.rank == 0 ? files_of(contender.folder) : std::set<std::string>{};
  MPI_Barrier(fields.comm);
  const double start = now();
  contender.method->write(fields, step, sync);
  const double visible = now() - start;
  contender.method->wait(fields, step, sync);
  const double written = now() - start;
  const Times all = over_ranks(fields, written), seen = over_ranks(fields, visible);
  Sample sample{contender.name, sync, step, fields.bytes(), all.mean, all.slowest, seen.mean, seen.slowest, 0};
  if (fields.rank == 0) {
    const std::set<std::string> after = files_of(contender.folder);
    sample.files = static_cast<int>(after.size() - before.size());
    settle(after, keep || contender.method->appends());
  }
  MPI_Barrier(fields.comm);
  return sample;
}

}  // namespace

std::vector<Sample> compare(Fields& fields, std::vector<Contender>& contenders, const Course& course) {
  std::vector<Sample> samples;
  for (int step = 0; step < course.steps; ++step) {
    for (const Sync sync : course.modes) {
      for (std::size_t n = 0; n < contenders.size(); ++n) {
        Contender& next = contenders[(n + static_cast<std::size_t>(step)) % contenders.size()];
        samples.push_back(take(fields, next, step, sync, course.keep));
      }
    }
  }
  return samples;
}

}  // namespace io
