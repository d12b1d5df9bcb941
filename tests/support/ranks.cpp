#include "support/ranks.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "support/deadline.hpp"

namespace sidestream::testing {
namespace {

MPI_Comm current = MPI_COMM_NULL;

int rank_in(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

std::vector<int> parse_counts(const std::string& text, int size) {
  std::vector<int> counts;
  std::istringstream words(text);
  for (std::string word; std::getline(words, word, ',');) {
    const int count = std::atoi(word.c_str());
    if (count < 1 || count > size) {
      throw std::invalid_argument("--ranks " + text + ": expected numbers from 1 to " + std::to_string(size) +
                                  ", the ranks that mpirun has started (mpirun -n), separated by commas");
    }
    counts.push_back(count);
  }
  return counts;
}

/// Waits for all ranks without MPI_Barrier. With more ranks than cores, MPI_Barrier would spin and take time from ranks
/// that run tests.
void wait_for_all() {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  for (int done = 0; MPI_Test(&request, &done, MPI_STATUS_IGNORE), done == 0;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

/// Runs the tests on the members of a run.
int run_here(int count, const RunOptions& options, int argc, char** argv, int& asked) {
  const int rank = rank_in(current);
  if (!options.folder.empty()) {
    const auto folder = std::filesystem::path(options.folder) / std::to_string(count);
    std::filesystem::create_directories(folder);
    std::filesystem::current_path(folder);
  }
  if (rank == 0 && options.counts.size() > 1) std::printf("-- %d rank%s\n", count, count == 1 ? "" : "s");
  std::fflush(stdout);
  doctest::Context context(argc, argv);
  context.setOption("no-intro", true);
  // CTest runs it, and mpirun would use colours, in a log.
  if (options.limit != 0) context.setOption("no-colors", true);
  if (rank != 0) context.setOption("minimal", true);  // prints only failures
  INFO("rank " << rank << " of " << count);
  const int result = context.run();
  asked = context.shouldExit() ? 1 : 0;
  return result;
}

}  // namespace

MPI_Comm test_ranks() { return current; }

RunOptions::RunOptions(int argc, char** argv, int size) {
  const auto value = [&](int at) {
    if (at + 1 >= argc) throw std::invalid_argument(std::string(argv[at]) + " needs a value");
    return std::string(argv[at + 1]);
  };
  for (int at = 1; at < argc; ++at) {
    const std::string name = argv[at];
    if (name == "--ranks") counts = parse_counts(value(at), size);
    if (name == "--folder") folder = std::filesystem::absolute(value(at));
    if (name == "--limit") limit = static_cast<unsigned>(std::stoul(value(at)));
  }
  if (counts.empty()) counts.push_back(size);
}

int run_tests(int count, const RunOptions& options, int argc, char** argv, int& asked) {
  const int rank = rank_in(MPI_COMM_WORLD);
  const bool member = rank < count;
  MPI_Comm_split(MPI_COMM_WORLD, member ? 0 : MPI_UNDEFINED, rank, &current);
  int result = 0;
  if (member) {
    const Deadline deadline(options.limit, rank, count);
    result = run_here(count, options, argc, argv, asked);
    wait_for_all();
    MPI_Comm_free(&current);
  } else {
    wait_for_all();
  }
  return result;
}

}  // namespace sidestream::testing
