// The cells of a mesh in which a variable lies in a range.
#include "analysis/cells/part_query.hpp"
#include "analysis/common_options.hpp"
#include "analysis/kinds.hpp"

namespace sidestream {
namespace {

class Threshold final : public Task {
 public:
  Threshold(ThresholdQuery query, const Metadata& metadata, std::string file, Pieces pieces)
      : query_(std::move(query)),
        selection_(selection_of(query_, metadata)),
        layout_(layout_of(query_, metadata)),
        file_(std::move(file)),
        pieces_(pieces) {}

  Selection selection() const override { return selection_; }
  Bytes local(const LocalInput& input) override { return to_bytes(parts_of(query_, input)); }
  Bytes combine(const CombineInput& input) override {
    add_part(file_, pieces_, layout_, input);
    return {};
  }

 private:
  ThresholdQuery query_;
  Selection selection_;
  CellLayout layout_;
  std::string file_;
  Pieces pieces_;
};

}  // namespace

AnalysisKind threshold_kind() {
  std::vector<Option> options = threshold_options();
  options.push_back(file_option("threshold-{index:05}.vtu", "The cells, one file an iteration."));
  options.push_back(pieces_option());
  return {
      .name = "threshold",
      .text =
          "The cells of a mesh, or the particles, in which a component of a variable lies in a range, both ends of "
          "which belong to it, as an unstructured mesh with the variable and those under `fields`. NaN lies in no "
          "range. Of a variable at points all points of a cell must have a value in the range, or with `points: any` "
          "one. Meshes are uniform, rectilinear, curvilinear, unstructured or points, of one to three dimensions, with "
          "refinement levels or without; each place counts once, on its finest level. Points and cells come in the "
          "order of their numbers in the mesh, points once each, so that results are the same bytes however the mesh "
          "is divided (docs/parts-of-meshes.md).",
      .options = std::move(options),
      .create = [](const Settings& settings, const Metadata& metadata) -> std::unique_ptr<Task> {
        return std::make_unique<Threshold>(read_threshold(settings, metadata), metadata, settings.text("file"),
                                           read_pieces(settings));
      },
  };
}

}  // namespace sidestream
