#include "server/derived/derived_field.hpp"

#include <limits>

namespace sidestream {

InputValues::InputValues(const BlockView& view, const Box& region) : view_(view), region_(region) {
  // Pieces of decompositions have no values at the points that they list as absent.
  own_ = view.absent.empty() ? std::vector<Box>{view.points} : view.owned;
  for (const Box& box : own_) there_.push_back(intersection(box, region));
  for (const HaloPiece& piece : view.halo) there_.push_back(intersection(piece.box, region));
  direct_ = view.absent.empty() && view.halo.empty() && view.points.contains(region);
  field_.box = region;
  field_.components.resize(static_cast<std::size_t>(view.array.components));
}

const std::vector<double>& InputValues::gathered(int component) {
  std::vector<double>& values = field_.components[static_cast<std::size_t>(component)];
  if (!values.empty()) return values;
  values.assign(static_cast<std::size_t>(region_.count()), std::numeric_limits<double>::quiet_NaN());
  for (const Box& box : own_)
    copy_to_double(view_.array, component, intersection(box, region_), values.data(), region_);
  for (const HaloPiece& piece : view_.halo) {
    copy_to_double(piece.array, component, intersection(piece.box, region_), values.data(), region_);
  }
  return values;
}

void InputValues::read(int component, const PointLine& line, double* out) {
  if (direct_) {
    const Index3& p = line.first;
    const Box box{p, {p[0] + line.count, p[1] + 1, p[2] + 1}};
    return copy_to_double(view_.array, component, box, out, box);
  }
  const std::vector<double>& values = gathered(component);
  std::copy_n(values.data() + field_.offset(line.first), line.count, out);
}

Presence::Presence(const Box& region, const std::vector<const InputValues*>& inputs) : region_(region) {
  for (const InputValues* input : inputs) {
    std::vector<Box> rest{region};
    for (const Box& box : input->there()) rest = difference(rest, box);
    for (const Box& box : rest) {
      missing_.resize(static_cast<std::size_t>(region.count()), false);
      for_each_line(box, [&](const PointLine& line, Index) {
        const DerivedField whole{region};
        const auto first = static_cast<std::ptrdiff_t>(whole.offset(line.first));
        std::fill_n(missing_.begin() + first, line.count, true);
      });
    }
  }
}

}  // namespace sidestream
