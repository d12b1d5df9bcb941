// A plane through a mesh, with variables on it.
#include "analysis/common_options.hpp"
#include "analysis/extract.hpp"
#include "analysis/kinds.hpp"

namespace sidestream {
namespace {

class Slice final : public Analysis {
 public:
  Slice(SliceQuery query, const Metadata& metadata, std::string file)
      : query_(std::move(query)),
        selection_(selection_of(query_, metadata)),
        layout_(layout_of(query_, metadata)),
        file_(std::move(file)) {}

  Selection selection() const override { return selection_; }
  Bytes local(const LocalInput& input) override { return to_bytes(extract(query_, input)); }
  Bytes combine(const CombineInput& input) override {
    const std::vector<Piece> pieces = gather_pieces(input.partials, input.communicator);
    input.results.add(file_, merge(pieces, layout_, false));
    return {};
  }

 private:
  SliceQuery query_;
  Selection selection_;
  std::vector<AttributeLayout> layout_;
  std::string file_;
};

}  // namespace

AnalysisKind slice_kind() {
  std::vector<Option> options = slice_options();
  options.push_back(file_option("slice-{index:05}.vtp", "The triangles, one file an iteration."));
  return {
      .name = "slice",
      .text =
          "Cuts a plane of any direction through a mesh of three dimensions and writes it as triangles with "
          "the variables "
          "at their corners, interpolated linearly between the mesh's points. Cell-centred values sit at "
          "cell centres and "
          "stay constant through the outer half of the outermost cells, so that the slice reaches the faces "
          "of the mesh. "
          "A plane that lies in a face of cells, or in an outer face of the mesh, gives one layer of "
          "triangles. Seen from "
          "where the normal points, triangles are counter-clockwise. Where no value was delivered the data "
          "are NaN. A mesh of two dimensions is cut in lines, and with `axis: z` drawn as the plane it is.",
      .options = std::move(options),
      .create = [](const Settings& settings, const Metadata& metadata) -> std::unique_ptr<Analysis> {
        return std::make_unique<Slice>(read_slice(settings, metadata), metadata, settings.text("file"));
      },
  };
}

}  // namespace sidestream
