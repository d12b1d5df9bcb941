#include "sidestream/kit/reduce/bins/bins.hpp"

namespace sidestream {

const double* line_of(const ArrayView& array, int component, const Index3& first, int axis, Index begin, Index count,
                      std::vector<double>& room) {
  const Index stride = array.strides[static_cast<std::size_t>(axis)];
  if (array.type == Type::float64 && stride == 1) {
    return array.at<double>(first[0], first[1], first[2], component) + begin;
  }
  room.resize(static_cast<std::size_t>(count));
  with_type(array.type, [&](auto zero) {
    using T = decltype(zero);
    const T* from = array.at<T>(first[0], first[1], first[2], component) + begin * stride;
    for (Index i = 0; i < count; ++i) room[static_cast<std::size_t>(i)] = static_cast<double>(from[i * stride]);
  });
  return room.data();
}

}  // namespace sidestream
