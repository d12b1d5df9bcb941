#include "cosmology/halos/merge_tree/box_forest.hpp"

namespace sidestream::halos {

void BoxForest::build(const LocalInput& input, Built<BorderCell>& built) {
  const std::vector<BlockView>& views = input.of(field_.variable);
  for (std::size_t v = 0; v < views.size(); ++v) {
    for (const Box& box : views[v].counted()) {
      if (box.empty()) continue;
      BlockTree& one = boxes_.emplace_back(views[v], box, field_.lattice, field_.connectivity, field_.component);
      views_.push_back(v);
      built.append(one.take_border(), one.open());
    }
  }
}

void BoxForest::clear() noexcept {
  boxes_.clear();
  views_.clear();
}

std::optional<FoundCell> BoxForest::find(const Index3& place) const {
  for (std::size_t b = 0; b < boxes_.size(); ++b) {
    if (!boxes_[b].box().contains(place)) continue;
    const std::int32_t number = boxes_[b].numbers()[boxes_[b].place_of(place, field_.lattice)];
    if (number < 0) continue;
    const double value = number_at(arrays_[views_[b]].array, place, field_.component);
    return FoundCell{{value, id_of(place)}, boxes_[b].maxima()[static_cast<std::size_t>(number)]};
  }
  return std::nullopt;
}

}  // namespace sidestream::halos
