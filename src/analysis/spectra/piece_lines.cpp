#include "analysis/spectra/piece_lines.hpp"

namespace sidestream::spectra {

void read_lines(const ArrayView& array, int c, int axis, Index length, const LineBatch& batch, double* out, Index row) {
  const Index along = array.strides[static_cast<std::size_t>(axis)];
  const Index across = array.strides[static_cast<std::size_t>(batch.across)];
  with_type(array.type, [&](auto zero) {
    using T = decltype(zero);
    const T* from = array.at<T>(batch.first[0], batch.first[1], batch.first[2], c);
    if (along <= across) {
      for (Index l = 0; l < batch.lines; ++l) {
        for (Index n = 0; n < length; ++n) out[l * row + n] = static_cast<double>(from[l * across + n * along]);
      }
    } else {
      for (Index n = 0; n < length; ++n) {
        for (Index l = 0; l < batch.lines; ++l) out[l * row + n] = static_cast<double>(from[l * across + n * along]);
      }
    }
  });
}

Index absent_points(const std::vector<BlockView>& pieces) {
  Index points = 0;
  for (const BlockView& view : pieces) {
    for (const Box& box : view.absent) points += box.count();
  }
  return points;
}

}  // namespace sidestream::spectra
