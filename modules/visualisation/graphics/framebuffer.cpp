#include "visualisation/graphics/framebuffer.hpp"

#include <cstring>
#include <optional>

#include "sidestream/kit/base/fail.hpp"

namespace sidestream::rendering {
namespace {

struct Run {
  std::uint32_t row = 0, column = 0, count = 0, reserved = 0;
};

/// Up to this many consecutive empty samples cost less than a new run.
constexpr std::int64_t bridged = sizeof(Run) / sizeof(Sample);

void append(Bytes& out, const void* data, std::size_t bytes) {
  const std::size_t old = out.size();
  out.resize(old + bytes);
  std::memcpy(out.data() + old, data, bytes);
}

/// Iterates over runs.
class RunReader {
 public:
  explicit RunReader(BytesView bytes) : bytes_(bytes) {}
  /// The next run, or nothing at the end; its samples are at `samples()`.
  std::optional<Run> next() {
    if (place_ == bytes_.size()) return std::nullopt;
    Run run;
    if (bytes_.size() - place_ < sizeof run) broken();
    std::memcpy(&run, bytes_.data() + place_, sizeof run);
    start_ = place_;
    place_ += sizeof run;
    if ((bytes_.size() - place_) / sizeof(Sample) < run.count) broken();
    place_ += run.count * sizeof(Sample);
    return run;
  }
  [[nodiscard]] const std::byte* samples() const noexcept { return bytes_.data() + start_ + sizeof(Run); }
  [[nodiscard]] BytesView whole() const noexcept { return bytes_.subspan(start_, place_ - start_); }

 private:
  [[noreturn]] void broken() const {
    fail(Code::internal, "a picture's runs end at byte {} of {} in the middle of a run", place_, bytes_.size());
  }
  BytesView bytes_;
  std::size_t place_ = 0, start_ = 0;
};

void encode_row(const Sample* row, std::int64_t width, std::int64_t y, Bytes& out) {
  std::int64_t x = 0;
  while (x < width) {
    while (x < width && row[x] == empty_sample) ++x;
    if (x == width) return;
    const std::int64_t first = x;
    std::int64_t end = x;  // after the last sample that is not empty
    while (x < width && x - end <= bridged) {
      if (row[x++] != empty_sample) end = x;
    }
    x = end;
    const Run run{static_cast<std::uint32_t>(y), static_cast<std::uint32_t>(first),
                  static_cast<std::uint32_t>(end - first), 0};
    append(out, &run, sizeof run);
    append(out, row + first, static_cast<std::size_t>(end - first) * sizeof(Sample));
  }
}

/// Merges the samples of a run into its row.
void put(const Run& run, const std::byte* samples, Sample* row) {
  for (std::uint32_t x = 0; x < run.count; ++x) {
    Sample sample;
    std::memcpy(&sample, samples + x * sizeof sample, sizeof sample);
    row[run.column + x] = std::min(row[run.column + x], sample);
  }
}

}  // namespace

Bytes encode_runs(const Framebuffer& framebuffer) {
  Bytes out;
  for (std::int64_t y = framebuffer.first_row(); y < framebuffer.end_row(); ++y) {
    encode_row(framebuffer.row(y), framebuffer.width(), y, out);
  }
  return out;
}

void select_runs(BytesView runs, const std::function<bool(std::int64_t row)>& wanted, Bytes& out) {
  RunReader reader(runs);
  while (const auto run = reader.next()) {
    if (wanted(run->row)) append(out, reader.whole().data(), reader.whole().size());
  }
}

void merge_runs(BytesView runs, Framebuffer& framebuffer) {
  RunReader reader(runs);
  while (const auto run = reader.next()) {
    if (run->row < framebuffer.first_row() || run->row >= framebuffer.end_row() ||
        std::int64_t{run->column} + run->count > framebuffer.width()) {
      fail(Code::internal, "a run of {} samples at row {}, column {} lies outside rows {} to {} of {} samples",
           run->count, run->row, run->column, framebuffer.first_row(), framebuffer.end_row(), framebuffer.width());
    }
    put(*run, reader.samples(), framebuffer.row(run->row));
  }
}

Bytes merged_runs(std::span<const BytesView> lists, std::int64_t width) {
  std::vector<RunReader> readers;
  std::vector<std::optional<Run>> at;
  for (const BytesView list : lists) at.push_back(readers.emplace_back(list).next());
  std::vector<Sample> row(static_cast<std::size_t>(width), empty_sample);
  Bytes out;
  const auto next_row = [&] {
    std::optional<std::uint32_t> least;
    for (const auto& run : at) {
      if (run && (!least || run->row < *least)) least = run->row;
    }
    return least;
  };
  while (const auto y = next_row()) {
    for (std::size_t n = 0; n < at.size(); ++n) {
      for (; at[n] && at[n]->row == *y; at[n] = readers[n].next()) {
        if (std::int64_t{at[n]->column} + at[n]->count > width) {
          fail(Code::internal, "a run of {} samples at column {} lies outside a picture of {}", at[n]->count,
               at[n]->column, width);
        }
        put(*at[n], readers[n].samples(), row.data());
      }
    }
    encode_row(row.data(), width, *y, out);
    std::fill(row.begin(), row.end(), empty_sample);
  }
  return out;
}

}  // namespace sidestream::rendering
