// Runs sessions of one case repeatedly. Each time memory runs out at another point: the n-th allocation of a stage of
// one process. By default n is in the middle of each stage. With SIDESTREAM_TEST_ALL a sample of n is tried, with
// SIDESTREAM_FAULTS=all every n, and with a number that many n of each stage. Every session must end in time, and its
// results are checked.
#include <execinfo.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <set>

#include "faults/check.hpp"
#include "support/test_all.hpp"

using sidestream::testing::Case;
using sidestream::testing::Ending;
using sidestream::testing::Fault;
using sidestream::testing::number_of;
using sidestream::testing::Results;

namespace {

char now_running[200] = "";  // text for the signal handler

void on_alarm(int) {
  const auto say = [](const char* text) { return write(STDERR_FILENO, text, std::strlen(text)) >= 0; };
  void* frames[60];
  if (say("still running: ") && say(now_running) && say("\n")) {
    backtrace_symbols_fd(frames, backtrace(frames, 60), STDERR_FILENO);
  }
  _exit(3);
}

unsigned limit() {
  const char* const set = std::getenv("SIDESTREAM_FAULT_LIMIT");
  return set ? static_cast<unsigned>(std::atoi(set)) : 120;
}

/// The number of allocations of a stage that fail, one in each session, or -1 for all.
long wanted(const Case& one) {
  if (const char* const set = std::getenv("SIDESTREAM_FAULTS"))
    return std::strcmp(set, "all") == 0 ? -1 : std::atol(set);
  if (!sidestream::testing::test_all()) return 1;
  return one.placement == "job" ? 2 : one.groups ? 3 : 5;
}

/// The allocations of a stage that fail, out of `total`: one in the middle, or the first two and further ones at equal
/// distances.
std::set<long> sample(long total, long many) {
  if (many < 0) many = total;
  std::set<long> chosen;
  if (many == 1 && total > 0) return {(total + 1) / 2};
  for (long n = 1; n <= total && n <= 2 && many > 2; ++n) chosen.insert(n);
  for (long k = 1; k <= many && total > 0; ++k) chosen.insert(1 + (total - 1) * k / many);
  return chosen;
}

class Sweep {
 public:
  Sweep(const Case& one, const std::string& folder) : one_(one), folder_(folder) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  }

  int run() {
    reference_ = session({}).second;
    allocated_ = session({}).first;  // a second time, because the first session makes some things only once
    if (rank_ == 0 && reference_.outcomes.size() != sidestream::testing::steps) {
      std::printf("%s: without a fault the session failed\n", one_.name.c_str());
      ++wrong_;
    }
    for (const auto& target : one_.targets) {
      for (const std::string& stage : target.stages) try_stage({target.rank, stage, 0});
    }
    if (rank_ == 0) {
      std::printf("%s: %ld sessions, %ld of them ended with an error, %ld were wrong\n", one_.name.c_str(), sessions_,
                  failed_, wrong_);
    }
    // An allocation must fail in most stages, or nothing was tried.
    wrong_ += rank_ == 0 && stages_with_a_fault_ < 6;
    MPI_Bcast(&wrong_, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    return wrong_ > 0;
  }

 private:
  /// The end of a session on each rank and, on rank 0, its results.
  std::pair<std::vector<Ending>, Results> session(const Fault& fault) {
    const std::string folder = folder_ + "/" + std::to_string(sessions_++);
    if (rank_ == 0) std::filesystem::create_directories(folder);
    std::snprintf(now_running, sizeof now_running, "%s, rank %d, with memory that runs out at: %s", one_.name.c_str(),
                  rank_, fault.text().c_str());
    if (rank_ == 0 && std::getenv("SIDESTREAM_FAULT_TRACE")) std::fprintf(stderr, "%s\n", now_running);
    alarm(limit());
    const Ending mine = sidestream::testing::run_session(MPI_COMM_WORLD, one_, fault, folder);
    std::vector<Ending> endings(static_cast<std::size_t>(one_.ranks));
    MPI_Allgather(&mine, sizeof mine, MPI_BYTE, endings.data(), sizeof mine, MPI_BYTE, MPI_COMM_WORLD);
    alarm(0);
    Results results;
    if (rank_ == 0) results = sidestream::testing::read_results(one_, folder + "/results");
    if (rank_ == 0) std::filesystem::remove_all(folder);
    return {endings, results};
  }

  void try_stage(const Fault& fault) {
    const long total = allocated_[static_cast<std::size_t>(fault.rank)].allocations[number_of(fault.stage)];
    if (rank_ == 0 && total == 0) {  // stages without allocations, as publishing in shared memory should be
      std::printf("%s: %s of rank %d allocates nothing\n", one_.name.c_str(), fault.stage.c_str(), fault.rank);
    }
    std::set<long> chosen = sample(total, wanted(one_));
    if (fault.stage == "start" && total > 0) chosen.insert(total);  // clients end their start without the servers
    bool failed = false;
    bool had_any = false;  // in a session with a fault; spilling allocates, but depends on timing
    for (const long n : chosen) failed |= fails(fault, n, had_any);
    stages_with_a_fault_ += failed;
    if (rank_ == 0 && !chosen.empty() && !had_any) {
      std::printf("%s: %s of rank %d allocated nothing when it was tried\n", one_.name.c_str(), fault.stage.c_str(),
                  fault.rank);
    }
    if (rank_ != 0 || !had_any || failed) return;
    std::printf("%s: no allocation failed in %s of rank %d, which had %ld\n", one_.name.c_str(), fault.stage.c_str(),
                fault.rank, total);
    ++wrong_;
  }

  /// True if the n-th allocation failed, or, in a further try, an earlier one: allocations of threads differ between
  /// sessions. `had_any` becomes true if the stage allocated anything or never began.
  bool fails(Fault fault, long n, bool& had_any) {
    for (int tries = 0; tries < 4; ++tries) {
      fault.n = n;
      const auto [endings, results] = session(fault);
      if (rank_ == 0) report_fault(fault, endings, results);
      const long reached = endings[static_cast<std::size_t>(fault.rank)].reached;
      had_any |= reached != 0;
      if (reached >= n) return true;
      n = std::max(1L, std::min(reached, n / 2));
    }
    return false;
  }

  void report_fault(const Fault& fault, const std::vector<Ending>& endings, const Results& results) {
    bool error = false;
    for (const Ending& ending : endings) error |= ending.errors > 0;
    failed_ += error;
    const auto wrong = sidestream::testing::mistakes(one_, fault, endings, results, reference_);
    wrong_ += !wrong.empty();
    if (wrong.empty()) return;
    std::printf("%s, %s:\n", one_.name.c_str(), fault.text().c_str());
    for (const std::string& what : wrong) std::printf("  %s\n", what.c_str());
    for (std::size_t r = 0; r < endings.size(); ++r) {
      if (endings[r].errors > 0) std::printf("  (rank %zu: %s)\n", r, endings[r].first);
    }
    std::fflush(stdout);
  }

  const Case& one_;
  std::string folder_;
  int rank_ = 0;
  Results reference_;              ///< results without a fault
  std::vector<Ending> allocated_;  ///< allocations without a fault
  long sessions_ = 0, failed_ = 0, wrong_ = 0, stages_with_a_fault_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  int size = 1, rank = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  void* frame = nullptr;
  backtrace(&frame, 1);  // loads code that the handler needs
  std::signal(SIGALRM, on_alarm);
  int status = 2;
  for (const Case& one : sidestream::testing::cases()) {
    if (argc < 3 || one.name != argv[1] || one.ranks != size) continue;
    std::string folder = std::string(argv[2]) + "/faults-" + one.name;
    if (rank == 0) std::filesystem::remove_all(folder);
    status = Sweep(one, folder).run();
    if (rank == 0) std::filesystem::remove_all(folder);
  }
  if (status == 2 && rank == 0) std::fprintf(stderr, "usage: faults CASE FOLDER, with as many ranks as the case has\n");
  MPI_Finalize();
  return status;
}
