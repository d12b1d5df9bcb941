// Ranges of colours and of space that a picture finds in its data.
//
// 1. ShownRanges: each server adds its values and places; `joined` (collective) takes minima and maxima over the
//    servers. Scales without finite values get a usable range.
// 2. RunningRanges: scales that only grow over a run. The ranges so far are rows of a table beside the pictures; a run
//    that resumes reads them on rank 0 and broadcasts them.
#include "visualisation/render/shown_ranges.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/numbers.hpp"
#include "sidestream/kit/base/records.hpp"
#include "sidestream/kit/data/beside_results.hpp"
#include "sidestream/kit/data/file_pattern.hpp"

namespace sidestream::rendering {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

void include(ColourRange& range, double value) {
  if (!std::isfinite(value)) return;
  range.low = std::min(range.low, value);
  range.high = std::max(range.high, value);
}

}  // namespace

bool ShownRanges::are_found() const {
  return scene_->finds_domain() ||
         std::any_of(scene_->scales.begin(), scene_->scales.end(), [](const auto& scale) { return scale.is_open(); });
}

bool ShownRanges::is_open(const Layer& layer) const {
  return layer.colouring == Layer::Colouring::by_field && scene_->scales[layer.scale].is_open();
}

Ranges ShownRanges::nothing() const { return Ranges(count(), {infinity, -infinity}); }

void ShownRanges::add_places(const BlockView& view, Ranges& seen) const {
  std::vector<double> values;
  for (const Box& box : view.owned) {
    values.resize(static_cast<std::size_t>(box.count()));
    for (std::size_t a = 0; a < 3 && !values.empty(); ++a) {
      if (static_cast<std::int32_t>(a) >= view.array.components) {
        include(axes(seen)[a], 0);
        continue;
      }
      copy_to_double(view.array, static_cast<int>(a), box, values.data(), box);
      for (const double value : values) include(axes(seen)[a], value);
    }
  }
}

void ShownRanges::add_balls(const ParticlesQuery& query, const Piece& piece, Ranges& seen) const {
  for (const auto& place : piece.points) {
    for (std::size_t a = 0; a < 3; ++a) {
      const double radius = static_cast<int>(a) < query.dimensions ? query.radius : 0;
      include(axes(seen)[a], place[a] - radius);
      include(axes(seen)[a], place[a] + radius);
    }
  }
}

void ShownRanges::add_values(const Layer& layer, const Piece& piece, Ranges& seen) const {
  const bool powers = scene_->scales[layer.scale].scaling == ColourScaling::logarithmic;
  for (const double value : piece.data[layer.attribute]) {
    if (!powers || value > 0) include(seen[layer.scale], value);
  }
}

void ShownRanges::add_values(const Layer& layer, const VolumeQuery& query, const LocalInput& input,
                             Ranges& seen) const {
  const auto scale = static_cast<std::size_t>(layer.scale);
  rendering::add_values(query, input, scene_->scales[scale].scaling == ColourScaling::logarithmic, seen[scale]);
}

ColourRange ShownRanges::usable(const ColourScale& scale, ColourRange found) {
  if (scale.fixed) return *scale.fixed;
  for (const double value : scale.values) {
    if (scale.scaling != ColourScaling::logarithmic || value > 0) include(found, value);
  }
  return usable_range(found.low, found.high, scale.scaling);
}

Ranges ShownRanges::joined(std::span<const Ranges> seen, Communicator& servers,
                           const std::function<void(std::span<ColourRange>)>& remember) const {
  std::vector<double> low(count(), infinity), high(count(), -infinity);
  for (const Ranges& ranges : seen) {
    for (std::size_t s = 0; s < low.size(); ++s) {
      low[s] = std::min(low[s], ranges[s].low);
      high[s] = std::max(high[s], ranges[s].high);
    }
  }
  servers.minimum(low);
  servers.maximum(high);
  Ranges all(low.size());
  for (std::size_t s = 0; s < all.size(); ++s) all[s] = {low[s], high[s]};
  const std::span scales = std::span(all).first(scene_->scales.size());
  remember(scales);
  for (std::size_t s = 0; s < scales.size(); ++s) scales[s] = usable(scene_->scales[s], scales[s]);
  return all;
}

Ranges ShownRanges::from(BytesView joined) const {
  if (are_found()) return seen_in(joined);
  Ranges ranges;
  for (const ColourScale& scale : scene_->scales) ranges.push_back(usable(scale, {infinity, -infinity}));
  return ranges;
}

Ranges ShownRanges::seen_in(BytesView partial) const {
  if (partial.size() != count() * sizeof(ColourRange)) {
    fail(Code::internal, "render got {} bytes of ranges, expected {}", partial.size(), count() * sizeof(ColourRange));
  }
  return records_of<ColourRange>(partial);
}

Domain ShownRanges::domain(const Ranges& ranges) const {
  Domain domain = scene_->domain;
  if (!scene_->finds_domain()) return domain;
  const std::size_t first = scene_->scales.size();
  if (!(ranges[first].low <= ranges[first].high)) return domain;  // nothing exists
  for (std::size_t a = 0; a < 3; ++a) {
    const ColourRange& found = ranges[first + a];
    domain.low[a] = scene_->domain_known ? std::min(domain.low[a], found.low) : found.low;
    domain.high[a] = scene_->domain_known ? std::max(domain.high[a], found.high) : found.high;
  }
  if (domain.diagonal() > 0) return domain;
  for (std::size_t a = 0; a < 3; ++a) {  // a single point: shows its surroundings
    domain.low[a] -= 0.5;
    domain.high[a] += 0.5;
  }
  return domain;
}

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
  const auto* tables = dynamic_cast<const ResultServices*>(&input.results);
  // Allocated before the collective call; after it nothing may fail on one server only.
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
