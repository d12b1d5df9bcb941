#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <numeric>

#include "../measure.hpp"
#include "comparison.hpp"

namespace io {

namespace {

/// Throughputs as in the study of 2013, bytes per second: mean and minimum over ranks, averaged over the steps after
/// the first, and those of the first step.
struct Row {
  std::string method;
  Sync sync = Sync::no;
  std::vector<double> mean, minimum, visible, slowest;
  double first = 0, files = 0;
  std::vector<double> ratios{};  ///< ratios of times: raw / this one, in the same step
  std::vector<double> behind{};  ///< the same for the time after the simulation could continue
};

double average(const std::vector<double>& values) {
  return values.empty() ? 0 : std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::vector<Row> rows_of(const std::vector<Sample>& samples) {
  std::vector<Row> rows;
  std::map<std::pair<Sync, int>, double> raw;
  for (const Sample& s : samples) {
    if (s.method == "raw") raw[{s.sync, s.step}] = s.slowest;
  }
  for (const Sample& s : samples) {
    const auto same = [&](const Row& row) { return row.method == s.method && row.sync == s.sync; };
    auto row = std::find_if(rows.begin(), rows.end(), same);
    if (row == rows.end()) row = rows.insert(rows.end(), Row{s.method, s.sync, {}, {}, {}, {}});
    const auto bytes = static_cast<double>(s.bytes);
    row->files += s.files;
    if (s.step == 0) {
      row->first = bytes / s.slowest;
      continue;
    }
    row->mean.push_back(bytes / s.mean);
    row->minimum.push_back(bytes / s.slowest);
    row->visible.push_back(s.visible_slowest);
    row->slowest.push_back(s.slowest);
    if (raw.count({s.sync, s.step}) == 0) continue;
    row->ratios.push_back(raw[{s.sync, s.step}] / s.slowest);
    if (s.behind > 0) row->behind.push_back(raw[{s.sync, s.step}] / s.behind);
  }
  return rows;
}

void write_csv(const std::vector<Sample>& samples, const std::string& path, const std::string& what) {
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (file == nullptr) throw Error("cannot write " + path);
  std::fputs("case,method,mode,step,bytes,mean,slowest,visible_mean,visible_slowest,behind,files\n", file);
  for (const Sample& s : samples) {
    fmt::print(file, "{},{},{},{},{},{:.6g},{:.6g},{:.6g},{:.6g},{:.6g},{}\n", what, s.method, name_of(s.sync), s.step,
               s.bytes, s.mean, s.slowest, s.visible_mean, s.visible_slowest, s.behind, s.files);
  }
  if (std::fclose(file) != 0) throw Error("cannot write " + path);
}

}  // namespace

void report(const std::vector<Sample>& samples, const std::string& csv, const std::string& what) {
  const std::vector<Row> rows = rows_of(samples);
  const int steps = samples.empty() ? 0 : samples.back().step + 1;
  for (const Sync sync : {Sync::no, Sync::yes}) {
    if (std::none_of(rows.begin(), rows.end(), [&](const Row& row) { return row.sync == sync; })) continue;
    std::printf("\n%s, %s; MB/s                minimum     mean  initial   visible ms   max/median  files   / raw\n",
                what.c_str(), name_of(sync));
    for (const Row& row : rows) {
      if (row.sync != sync) continue;
      const double median = benchmark::median(row.visible);
      const double most = row.visible.empty() ? 0 : *std::max_element(row.visible.begin(), row.visible.end());
      std::printf("%-28s %10.0f %8.0f %8.0f %12.2f %12.1f %6.1f %7.3f\n", row.method.c_str(),
                  average(row.minimum) / 1e6, average(row.mean) / 1e6, row.first / 1e6, 1e3 * median,
                  median > 0 ? most / median : 0, row.files / std::max(1, steps), benchmark::median(row.ratios));
    }
  }
  if (!csv.empty()) write_csv(samples, csv, what);
  for (const Row& row : rows) {
    if (row.method.rfind("database", 0) != 0 || row.ratios.empty()) continue;
    std::printf("ratio %s / raw, %s, from publishing on: %.3f\n", row.method.c_str(), name_of(row.sync),
                benchmark::median(row.ratios));
    // The simulation only waited for a copy into the buffer, which is not part of writing.
    if (row.behind.empty()) continue;
    std::printf("ratio %s / raw, %s, by the server: %.3f   (at least 0.95 wanted)\n", row.method.c_str(),
                name_of(row.sync), benchmark::median(row.behind));
  }
}

}  // namespace io
