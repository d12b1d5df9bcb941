// What `threshold` and `clip` do alike: cells of blocks, then one set of cells.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "analysis/cells/part_query.hpp"
#include "analysis/common_options.hpp"

namespace sidestream {

template <class Query>
class PartTask final : public Task {
 public:
  PartTask(Query query, const Settings& settings, const Metadata& metadata)
      : query_(std::move(query)),
        selection_(selection_of(query_, metadata)),
        layout_(layout_of(query_, metadata)),
        file_(settings.text("file")),
        pieces_(read_pieces(settings)) {}

  Selection selection() const override { return selection_; }
  Bytes local(const LocalInput& input) override { return to_bytes(parts_of(query_, input)); }
  Bytes combine(const CombineInput& input) override {
    add_part(file_, pieces_, layout_, input);
    return {};
  }

 private:
  Query query_;
  Selection selection_;
  CellLayout layout_;
  std::string file_;
  Pieces pieces_;
};

}  // namespace sidestream
