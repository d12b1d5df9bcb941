// The kernels of time_statistics against a copy on one core: bytes read and written a second. Mean and variance read a
// value and read and write two sums, 40 bytes; a copy reads and writes 16.
//
// benchmark_over_time [VALUES [ITERATIONS]]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

#include "climate/over_time/accumulation.hpp"
#include "climate/over_time/rows.hpp"
#include "measure.hpp"

namespace {

using sidestream::ArrayView;
using sidestream::Box;
using sidestream::Index;
using sidestream::Order;
using sidestream::over_time::Accumulation;
using sidestream::over_time::Needed;

/// The shortest processor time of an iteration, in seconds, which other programs disturb little.
template <class Work>
double shortest(int iterations, Work&& work) {
  double least = 1e9;
  for (int n = 0; n < iterations; ++n) {
    least = std::min(least, 1e-6 * benchmark::processor_microseconds([&] { work(static_cast<std::size_t>(n)); }));
  }
  return least;
}

double add_all(const std::vector<double>& values, const Needed& needed, int iterations) {
  const Box box{{0, 0, 0}, {static_cast<Index>(values.size()), 1, 1}};
  ArrayView view;
  view.data = values.data();
  view.box = box;
  view.strides = sidestream::packed_strides(box, 1, Order::column);
  Accumulation kept(needed, values.size());
  return shortest(iterations, [&](std::size_t n) {
    kept.prepare(n);
    kept.begin(n, 1);
    sidestream::over_time::for_each_row(
        view, box, Order::column, [&](std::size_t first, std::span<const double> some) { kept.add(first, some); });
  });
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t count = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : std::size_t{1} << 23;
  const int iterations = argc > 2 ? std::atoi(argv[2]) : 30;
  std::vector<double> values(count), copy(count);
  for (std::size_t n = 0; n < count; ++n) values[n] = static_cast<double>(n * 2654435761u % 1000003) / 1e6;
  const double bytes = static_cast<double>(count * sizeof(double));
  const double copied = shortest(iterations, [&](std::size_t) { std::memcpy(copy.data(), values.data(), count * 8); });
  const double copy_rate = 2 * bytes / copied;
  std::printf("copy                        %6.2f GB/s\n", copy_rate / 1e9);
  struct Case {
    const char* name;
    Needed needed;
    double arrays;  // read or written
  };
  Needed mean, moments, extremes, skipping;
  mean.mean = moments.mean = moments.spread = true;
  extremes.low = extremes.high = true;
  skipping = moments;
  skipping.skip_nan = true;
  double ratio = 0;
  for (const Case& one : {Case{"mean", mean, 3}, Case{"minimum, maximum", extremes, 5},
                          Case{"mean, variance, nan: skip", skipping, 7}, Case{"mean, variance", moments, 5}}) {
    const double rate = one.arrays * bytes / add_all(values, one.needed, iterations);
    ratio = rate / copy_rate;
    std::printf("%-26s  %6.2f GB/s, %.2f of a copy; %.2f Gvalues/s\n", one.name, rate / 1e9, ratio,
                rate / one.arrays / 8e9);
  }
  std::printf("bandwidth of mean and variance, of that of a copy: %.2f\n", ratio);
  return copy[count / 2] == values[count / 2] ? 0 : 1;
}
