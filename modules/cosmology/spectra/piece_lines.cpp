#include "cosmology/spectra/piece_lines.hpp"

namespace sidestream::spectra {

void read_lines(const ArrayView& array, int c, int axis, Index length, const LineBatch& batch, double* out, Index row,
                double less) {
  const Index along = array.strides[static_cast<std::size_t>(axis)];
  const Index across = array.strides[static_cast<std::size_t>(batch.across)];
  with_type(array.type, [&](auto zero) {
    using T = decltype(zero);
    const T* from = array.at<T>(batch.first[0], batch.first[1], batch.first[2], c);
    if (along == 1) {
      for (Index l = 0; l < batch.lines; ++l) {
        for (Index n = 0; n < length; ++n) out[l * row + n] = static_cast<double>(from[l * across + n]) - less;
      }
    } else if (along <= across) {
      for (Index l = 0; l < batch.lines; ++l) {
        for (Index n = 0; n < length; ++n) out[l * row + n] = static_cast<double>(from[l * across + n * along]) - less;
      }
    } else {
      for (Index n = 0; n < length; ++n) {
        for (Index l = 0; l < batch.lines; ++l)
          out[l * row + n] = static_cast<double>(from[l * across + n * along]) - less;
      }
    }
  });
}

const double* line_in_place(const ArrayView& array, int c, int axis, const LineBatch& batch, Index line) {
  if (array.type != Type::float64 || array.strides[static_cast<std::size_t>(axis)] != 1) return nullptr;
  return array.at<double>(batch.first[0], batch.first[1], batch.first[2], c) +
         line * array.strides[static_cast<std::size_t>(batch.across)];
}

Index absent_points(const std::vector<BlockView>& pieces) {
  Index points = 0;
  for (const BlockView& view : pieces) {
    for (const Box& box : view.absent) points += box.count();
  }
  return points;
}

}  // namespace sidestream::spectra
