#include "visualisation/render/running_ranges.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>

#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/numbers.hpp"
#include "sidestream/kit/base/records.hpp"
#include "sidestream/kit/data/file_pattern.hpp"

namespace sidestream::rendering {
namespace {

constexpr double unbounded = std::numeric_limits<double>::infinity();
constexpr ColourRange nothing{unbounded, -unbounded};

/// "frames/rho-{index:05}.png" -> "frames/rho-ranges.csv"
std::string table_beside(const std::string& file) {
  const std::size_t folder = file.rfind('/') == std::string::npos ? 0 : file.rfind('/') + 1;
  std::string stem;
  bool field = false;
  for (const char c : file.substr(folder, file.rfind('.') - folder)) {
    if (c == '{' || c == '}') field = c == '{';
    if (c != '{' && c != '}' && !field) stem += c;
  }
  while (!stem.empty() && (stem.back() == '-' || stem.back() == '_' || stem.back() == '.')) stem.pop_back();
  return file.substr(0, folder) + stem + (stem.empty() ? "" : "-") + "ranges.csv";
}

double number_in(const std::string& file, const std::vector<std::string>& row, std::size_t column) {
  const std::string text = column < row.size() ? row[column] : "";
  if (const std::optional<double> number = real_of(text)) return *number;
  fail(Code::file, "'{}', with which this run goes on, has '{}' where a number is expected; mend it or move it away",
       file, text);
}

void widen_by(ColourRange& range, const ColourRange& other) {
  range.low = std::min(range.low, other.low);
  range.high = std::max(range.high, other.high);
}

}  // namespace

RunningRanges::RunningRanges(const Scene& scene)
    : scene_(&scene), file_(table_beside(scene.file())), so_far_(scene.scales.size(), nothing) {
  any_ = std::any_of(scene.scales.begin(), scene.scales.end(),
                     [](const ColourScale& scale) { return scale.running && scale.is_open(); });
}

void RunningRanges::widen(std::span<ColourRange> shown, const CombineInput& input) {
  if (!any_) return;
  if (!begun_) so_far_ = kept_before(input);
  begun_ = true;
  for (std::size_t s = 0; s < shown.size(); ++s) {
    if (!scene_->scales[s].running) continue;
    widen_by(so_far_[s], shown[s]);
    shown[s] = so_far_[s];
  }
  if (input.communicator.rank() == 0) keep(input);
}

std::vector<ColourRange> RunningRanges::kept_before(const CombineInput& input) const {
  std::vector<ColourRange> kept(so_far_.size(), nothing);
  const auto* tables = dynamic_cast<const EarlierTables*>(&input.results);
  // Allocated before the collective call, after which nothing may fail on one server only.
  Bytes bytes = bytes_of(kept);
  if (input.communicator.rank() == 0) {
    // Columns iteration, cycle, time, scale, low, high.
    for (const auto& row : tables ? tables->earlier_rows(file_) : std::vector<std::vector<std::string>>()) {
      const double scale = number_in(file_, row, 3);
      if (!(scale >= 0 && scale < static_cast<double>(kept.size()))) continue;
      widen_by(kept[static_cast<std::size_t>(scale)], {number_in(file_, row, 4), number_in(file_, row, 5)});
    }
    bytes = bytes_of(kept);
  }
  input.communicator.broadcast(bytes, 0);
  std::memcpy(kept.data(), bytes.data(), bytes.size());
  return kept;
}

void RunningRanges::keep(const CombineInput& input) const {
  Table table({"scale", "low", "high"}, {});
  for (std::size_t s = 0; s < so_far_.size(); ++s) {
    if (!scene_->scales[s].running || so_far_[s].low > so_far_[s].high) continue;
    table.add_row({static_cast<std::int64_t>(s), so_far_[s].low, so_far_[s].high});
  }
  input.results.add(file_, table);
}

}  // namespace sidestream::rendering
