// Timing for the benchmarks: medians of interleaved repetitions, one table, ratios last.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <ctime>
#include <vector>

namespace benchmark {

/// Microseconds of `work`.
template <class Work>
double microseconds(Work&& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
}

/// Processor microseconds of `work` in this process: less disturbed by other load.
template <class Work>
double processor_microseconds(Work&& work) {
  const auto now = [] {
    std::timespec time{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return 1e6 * static_cast<double>(time.tv_sec) + 1e-3 * static_cast<double>(time.tv_nsec);
  };
  const double start = now();
  work();
  return now() - start;
}

/// The value below which `share` of the samples lie; 0 without samples.
inline double quantile(std::vector<double> samples, double share) {
  if (samples.empty()) return 0;
  const auto n = std::min(samples.size() - 1, static_cast<std::size_t>(share * static_cast<double>(samples.size())));
  std::nth_element(samples.begin(), samples.begin() + static_cast<std::ptrdiff_t>(n), samples.end());
  return samples[n];
}

inline double median(const std::vector<double>& samples) { return quantile(samples, 0.5); }

}  // namespace benchmark
