#include "computing.hpp"

#include "../measure.hpp"
#include "bare.hpp"
#include "stream.hpp"

namespace transfer {

namespace {

constexpr int steps = 4;  // the first is a warm-up

/// Arithmetic in registers only: concurrent work can only take the core away.
double churn(std::int64_t rounds) {
  double x = 0.5;
  for (std::int64_t n = 0; n < rounds; ++n) x = 3.9 * x * (1 - x);
  return x;
}

volatile double sink = 0;

/// Number of rounds that take about `seconds`.
std::int64_t calibrated(double seconds) {
  const std::int64_t some = 20'000'000;
  const double start = seconds_now();
  sink = churn(some);
  return static_cast<std::int64_t>(static_cast<double>(some) * seconds / (seconds_now() - start));
}

struct ClientTimes {
  double alone = 0;
  double ended[steps] = {};  ///< time when end_iteration returned
  double beside[steps] = {};
};

void run_client(double seconds, const std::function<void(int)>& publish, ClientTimes& times) {
  const std::int64_t rounds = calibrated(seconds);
  const double start = seconds_now();
  sink = churn(rounds);
  times.alone = seconds_now() - start;
  for (int step = 0; step < steps; ++step) {
    publish(step);
    times.ended[step] = seconds_now();
    sink = churn(rounds);
    times.beside[step] = seconds_now() - times.ended[step];
  }
}

}  // namespace

Overlap overlap(MPI_Comm comm, const Case& c, const std::string& placement, double seconds) {
  ClientTimes times;
  Arrivals arrivals =
      with_session(comm, c, placement, steps, [&](const auto& publish) { run_client(seconds, publish, times); });
  arrivals.resize(steps, 0.0);
  const auto largest = [&](double* values, int count) {
    MPI_Allreduce(MPI_IN_PLACE, values, count, MPI_DOUBLE, MPI_MAX, comm);
  };
  largest(arrivals.data(), steps);
  largest(times.ended, steps);
  largest(times.beside, steps);
  largest(&times.alone, 1);
  std::vector<double> delays;
  for (int step = 1; step < steps; ++step)
    delays.push_back(arrivals[static_cast<std::size_t>(step)] - times.ended[step]);
  const std::vector<double> beside(times.beside + 1, times.beside + steps);
  return {bare_stream(comm, c), times.alone, benchmark::median(beside), benchmark::median(delays),
          benchmark::quantile(delays, 1.0)};
}

}  // namespace transfer
