#include "comparison.hpp"

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <random>
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

/// Flushes data and removes files, so that the next method does not pay for them.
void settle(const std::set<std::string>& files, bool keep) {
  for (const std::string& path : files) {
    if (!keep) {
      fs::remove(path);
    } else {
      PlainFile file(path, O_RDONLY);
      file.sync();
      file.forget_beginning();
    }
  }
}

/// Warms memory for files, which is slow on a virtual machine if unused for a while. All methods begin with enough
/// recently used memory.
void warm(const Fields& fields, const std::string& folder) {
  const std::string path = folder + "/warm-" + std::to_string(fields.rank);
  PlainFile file(path, O_WRONLY | O_CREAT | O_TRUNC);
  for (const auto& values : fields.values) file.write(values.data(), fields.bytes_here(values));
  fs::remove(path);
  file.close();
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
  warm(fields, contender.folder);
  MPI_Barrier(fields.comm);
  const std::set<std::string> before = fields.rank == 0 ? files_of(contender.folder) : std::set<std::string>{};
  MPI_Barrier(fields.comm);
  const double start = now();
  contender.method->write(fields, step, sync);
  const double visible = now() - start;
  contender.method->wait(fields, step, sync);
  const double written = now() - start;
  const Times all = over_ranks(fields, written), seen = over_ranks(fields, visible);
  const double behind = over_ranks(fields, contender.method->writes_behind() ? written - visible : 0).slowest;
  Sample sample{contender.name, sync, step, fields.bytes(), all.mean, all.slowest, seen.mean, seen.slowest, behind, 0};
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
  std::vector<std::size_t> order(contenders.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::mt19937 random;  // the same on all ranks
  for (int step = 0; step < course.steps; ++step) {
    for (const Sync sync : course.modes) {
      if (step > 0) std::shuffle(order.begin(), order.end(), random);  // the first step also orders the tables
      for (const std::size_t n : order) samples.push_back(take(fields, contenders[n], step, sync, course.keep));
    }
  }
  return samples;
}

}  // namespace io
