// The task of `threshold` and `clip`: cells of blocks, merged into one set of cells.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "sidestream/kit/analysis/common_options.hpp"
#include "visualisation/extract/part_query.hpp"

namespace sidestream {

template <class Query>
class PartTask final : public Task {
 public:
  PartTask(Query query, const Settings& settings, const Metadata& metadata)
      : query_(std::move(query)),
        selection_(selection_of(query_, metadata)),
        layout_(layout_of(query_, metadata)),
        file_(settings.text("file")),
        pieces_(read_pieces(settings)),
        notice_(file_),
        empty_(file_) {
    if constexpr (by_values) {
      seen_.emplace(seen_values_of(query_));
      selection_.variables.push_back(seen_->entry());
    }
  }

  Selection selection() const override { return selection_; }
  Bytes local(const LocalInput& input) override { return to_bytes(parts_of(query_, input)); }
  Bytes combine(const CombineInput& input) override {
    const auto has_cells = [](const Bytes& partial) { return !partial.empty(); };
    const bool some = std::any_of(input.partials.begin(), input.partials.end(), has_cells);
    empty_.look({some ? 1 : 0}, input, [&](const auto&) { return why(input); });
    if (seen_) seen_->forget();
    notice_.tell(add_part(file_, pieces_, layout_, input));
    return {};
  }
  void discard(const Iteration&) noexcept override {
    if (seen_) seen_->forget();
  }

 private:
  static constexpr bool by_values = std::is_same_v<Query, ThresholdQuery>;

  [[nodiscard]] std::string why(const CombineInput& input) const {
    if constexpr (by_values) {
      return why_empty(query_, *seen_, input);
    } else {
      return why_empty(query_, input);
    }
  }

  Query query_;
  std::optional<SeenValues> seen_;  ///< only for a threshold
  Selection selection_;
  CellLayout layout_;
  std::string file_;
  Pieces pieces_;
  RepeatedPointsNotice notice_;
  EmptyNotice empty_;
};

}  // namespace sidestream
