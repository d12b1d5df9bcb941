#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "../measure.hpp"
#include "clock.hpp"
#include "parts.hpp"

namespace io {

std::string visible_time(Fields& fields, Stream& stream, int steps, int rounds) {
  // As many targets as the buffer has room for, used before, like its memory.
  std::vector<std::vector<char>> targets(static_cast<std::size_t>(steps));
  std::size_t bytes = 0;
  for (const auto& values : fields.values) bytes += fields.bytes_here(values);
  for (auto& target : targets) target.assign(bytes, 1);
  const auto copy = [&](int step) {
    char* to = targets[static_cast<std::size_t>(step)].data();
    for (const auto& values : fields.values) {
      std::memcpy(to, values.data(), fields.bytes_here(values));
      to += fields.bytes_here(values);
    }
  };
  std::vector<double> copied, published, ratios;
  double longest = 0;
  for (int round = 0; round < rounds; ++round) {
    for (int step = 0; step < steps; ++step) {
      fields.fill(round * steps + step);
      const double first = slowest(fields.comm, [&] {
        if (step % 2 == 0) copy(step);
      });
      const double mine =
          slowest(fields.comm, [&] { stream.publish(fields, round * steps + step, name_of(Sync::yes)); });
      const double last = slowest(fields.comm, [&] {
        if (step % 2 != 0) copy(step);
      });
      // The first round maps pages and creates files.
      if (round == 0) continue;
      copied.push_back(step % 2 == 0 ? first : last);
      published.push_back(mine);
      ratios.push_back(mine / copied.back());
      longest = std::max(longest, mine);
    }
    stream.wait_for(Sync::yes, (round + 1) * steps);  // until here the disk was late
    MPI_Barrier(fields.comm);
  }
  return fmt::format(
      "visible to the simulation, {} steps of {:.1f} MiB waiting for the disk: {:.2f} ms, memcpy {:.2f} ms; longest {:.2f} ms\n"
      "ratio visible / memcpy: {:.3f}   (at most 1.1 wanted)\n",
      steps, static_cast<double>(fields.bytes()) / (1 << 20), 1e3 * benchmark::median(published),
      1e3 * benchmark::median(copied), 1e3 * longest, benchmark::median(ratios));
}

namespace {

/// Work of a simulation between publications: reads and writes its fields.
void compute(Fields& fields, int sweeps) {
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    for (auto& values : fields.values) {
      for (std::size_t n = 1; n + 1 < values.size(); ++n) {
        values[n] = 0.25 * (values[n - 1] + values[n + 1]) + 0.5 * values[n];
      }
    }
  }
}

}  // namespace

std::string spare_time(Fields& fields, Stream& stream, int steps) {
  fields.fill(0);
  // Long enough for the server to finish before the next publication.
  int contexts = 0, sweeps = 1;
  const double pack = slowest(fields.comm, [&] {
    stream.publish(fields, 0, name_of(Sync::no));
    stream.wait_for(Sync::no, ++contexts);
  });
  compute(fields, 1);
  const double sweep = slowest(fields.comm, [&] { compute(fields, 1); });
  sweeps = std::max(1, static_cast<int>(1.5 * pack / sweep + 1));
  std::vector<double> with, without;
  for (int step = 1; step <= steps; ++step) {
    for (const bool packs : {step % 2 == 0, step % 2 != 0}) {
      const double seconds = slowest(fields.comm, [&] {
        stream.publish(fields, step, packs ? name_of(Sync::no) : nullptr);
        compute(fields, sweeps);
      });
      (packs ? with : without).push_back(seconds);
      if (packs) stream.wait_for(Sync::no, ++contexts);
      MPI_Barrier(fields.comm);
    }
  }
  const double ratio = benchmark::median(with) / benchmark::median(without);
  return fmt::format(
      "a step of {:.0f} ms, of which the server works {:.0f} ms\nratio step with codecs on the spare core / without output: {:.3f}   "
      "(at most 1.03 wanted)\n",
      1e3 * benchmark::median(without), 1e3 * pack, ratio);
}

}  // namespace io
