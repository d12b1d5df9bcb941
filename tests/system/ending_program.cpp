// A simulation that may be told to end: PROGRAM FILE [most=N] [at=N] [who=RANK,...] [signal=N] [twice=1] [when=TEXT]
// [handler=1] [goes_on=1] [pause_us=N] [cells=N] [restart=DIRECTORY]
//
// It smooths a row of cells, whose ranks need their neighbours' values in each step. Rank 0 sends the signal to the
// ranks `who` before it ends iteration `at`; with when=open before the session starts, with when=close after the loop.
// Prints where rank 0 ended, whether all ranks ended there, and its account.
#include <mpi.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <sidestream/restart.hpp>
#include <sstream>
#include <thread>
#include <vector>

#include "program.hpp"
#include "sleep.hpp"

namespace {

volatile sig_atomic_t handled = 0;
void count(int) { handled = handled + 1; }

/// Process ids of the ranks of a communicator. Collective.
std::vector<int> processes_of(MPI_Comm comm) {
  int size = 1, mine = getpid();
  MPI_Comm_size(comm, &size);
  std::vector<int> all(static_cast<std::size_t>(size));
  MPI_Allgather(&mine, 1, MPI_INT, all.data(), 1, MPI_INT, comm);
  return all;
}

class Order {
 public:
  Order(const Options& options, MPI_Comm comm) : processes_(processes_of(comm)) {
    MPI_Comm_rank(comm, &rank_);
    number_ = static_cast<int>(options.number("signal", SIGUSR1));
    times_ = options.number("twice", 0) ? 2 : 1;
    std::istringstream who(options.text("who"));
    for (std::string word; std::getline(who, word, ',');) who_.push_back(std::stoi(word));
  }
  /// Sends it, on rank 0.
  void give() const {
    for (int n = 0; n < times_ && rank_ == 0; ++n) {
      for (const int rank : who_) kill(processes_.at(static_cast<std::size_t>(rank)), number_);
    }
  }

 private:
  std::vector<int> processes_, who_;
  int rank_ = 0, number_ = 0, times_ = 1;
};

class Row {
 public:
  Row(MPI_Comm comm, std::int64_t cells) : comm_(comm) {
    MPI_Comm_rank(comm, &rank_);
    MPI_Comm_size(comm, &size_);
    lo_ = cells * rank_ / size_;
    hi_ = cells * (rank_ + 1) / size_;
    values_.resize(static_cast<std::size_t>(hi_ - lo_) + 2, 0.0);
    for (std::int64_t i = lo_; i < hi_; ++i) values_[at(i)] = 1.0 / static_cast<double>(1 + (i * 7) % 11);
  }
  [[nodiscard]] sidestream::Box box() const { return {{lo_, 0, 0}, {hi_, 1, 1}}; }
  [[nodiscard]] double* data() { return values_.data() + 1; }
  [[nodiscard]] std::size_t count() const { return static_cast<std::size_t>(hi_ - lo_); }
  void step() {
    const int left = rank_ == 0 ? MPI_PROC_NULL : rank_ - 1, right = rank_ + 1 == size_ ? MPI_PROC_NULL : rank_ + 1;
    double* const v = values_.data();
    const std::size_t n = count();
    MPI_Sendrecv(v + 1, 1, MPI_DOUBLE, left, 0, v + n + 1, 1, MPI_DOUBLE, right, 0, comm_, MPI_STATUS_IGNORE);
    MPI_Sendrecv(v + n, 1, MPI_DOUBLE, right, 1, v, 1, MPI_DOUBLE, left, 1, comm_, MPI_STATUS_IGNORE);
    std::vector<double> next = values_;
    for (std::size_t i = 1; i <= n; ++i) next[i] = 0.5 * v[i] + 0.25 * (v[i - 1] + v[i + 1]) + 1e-13;
    values_ = std::move(next);
  }

 private:
  [[nodiscard]] std::size_t at(std::int64_t i) const { return static_cast<std::size_t>(i - lo_) + 1; }
  MPI_Comm comm_;
  int rank_ = 0, size_ = 1;
  std::int64_t lo_ = 0, hi_ = 0;
  std::vector<double> values_;
};

/// True if the number is the same on all ranks. Collective.
bool is_common(MPI_Comm comm, std::int64_t number) {
  std::array<std::int64_t, 2> ends{number, -number};
  MPI_Allreduce(MPI_IN_PLACE, ends.data(), 2, MPI_INT64_T, MPI_MAX, comm);
  return ends[0] == -ends[1];
}

void simulate(sidestream::Session& session, const Options& options, const Order& order) {
  const MPI_Comm comm = session.comm();
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  const std::int64_t cells = options.number("cells", 24), most = options.number("most", 1000);
  const bool goes_on = options.number("goes_on", 0) != 0;
  Row row(comm, cells);
  std::int64_t first = 0;
  if (const std::string from = options.text("restart"); !from.empty()) {
    sidestream::Restart restart = sidestream::Restart::open(comm, from);
    first = restart.iteration().cycle + 1;
    restart.read_box("u", 0, row.box(), row.box(), row.data());
  }
  session.set("n", cells);
  if (row.count() > 0) session.set_block("grid", rank, row.box());
  if (options.text("when") == "open") order.give();
  session.start();
  std::int64_t last = -1;
  for (std::int64_t n = first; n < most; ++n) {
    row.step();
    std::this_thread::sleep_for(std::chrono::microseconds(options.number("pause_us", 0)));
    if (row.count() > 0) static_cast<void>(session.publish("u", rank, row.data(), row.count()));
    if (options.text("when").empty() && n == options.number("at", -1)) order.give();
    static_cast<void>(session.end_iteration(n, static_cast<double>(n)));
    last = last < 0 && session.should_end() ? n : last;
    if (last >= 0 && !goes_on) break;
  }
  if (!is_common(comm, last)) std::printf("error 0: rank %d: ranks ended at different iterations\n", rank);
  if (options.text("when") == "close") order.give();
  const sidestream::Account account = session.close();
  if (rank != 0) return;
  std::printf("last=%d iterations=%d delivered=%d refused=%d dropped=%d unknown=%d handled=%d\n",
              static_cast<int>(last), static_cast<int>(account.iterations), static_cast<int>(account.delivered),
              static_cast<int>(account.refused), static_cast<int>(account.dropped), static_cast<int>(account.unknown),
              static_cast<int>(handled));
}

/// True if the disposition is what it was before the session.
bool is_back(int number, bool handles) {
  struct sigaction now {};
  sigaction(number, nullptr, &now);
  return now.sa_handler == (handles ? count : SIG_DFL) && (now.sa_flags & SA_SIGINFO) == 0;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int status = run_in_turn(argc, argv, [](int count_of, char** arguments, MPI_Comm comm) {
    const Options options(count_of, arguments);
    const bool handles = options.number("handler", 0) != 0;
    const int number = static_cast<int>(options.number("signal", SIGUSR1));
    handled = 0;
    struct sigaction mine {};
    mine.sa_handler = handles ? count : SIG_DFL;
    sigaction(number, &mine, nullptr);
    const Order order(options, comm);
    const int code = run_session(
        options, comm, [](auto& session) { add_sleep(session.registry()); },
        [&](sidestream::Session& session, const Options& given) { simulate(session, given, order); });
    if (!is_back(number, handles)) std::printf("error 0: the signal's disposition has changed\n");
    signal(number, SIG_DFL);
    return code;
  });
  MPI_Finalize();
  return status;
}
