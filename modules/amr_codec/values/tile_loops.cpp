#include "amr_codec/values/tile_loops.hpp"

#include "amr_codec/values/elements.hpp"

namespace sidestream::trees {

SIDESTREAM_WIDE void take_differences(const std::uint64_t* __restrict words, const double* __restrict predicted,
                                      std::size_t count, double* __restrict row,
                                      std::uint64_t* __restrict differences) {
  for (std::size_t g = 0; g < count; ++g) {
    row[g] = std::bit_cast<double>(words[g]);
    differences[g] = zigzag(ordered(words[g]) - expected<double>(predicted[g]));
  }
}

SIDESTREAM_WIDE void take_differences(const std::uint32_t* __restrict words, const double* __restrict predicted,
                                      std::size_t count, double* __restrict row,
                                      std::uint32_t* __restrict differences) {
  for (std::size_t g = 0; g < count; ++g) {
    row[g] = static_cast<double>(std::bit_cast<float>(words[g]));
    differences[g] = zigzag(ordered(words[g]) - expected<float>(predicted[g]));
  }
}

SIDESTREAM_WIDE void put_values(const std::uint64_t* __restrict differences, const double* __restrict predicted,
                                std::size_t count, double* __restrict row, std::uint64_t* __restrict words) {
  for (std::size_t g = 0; g < count; ++g) {
    const std::uint64_t word = ordered(expected<double>(predicted[g]) + unzigzag(differences[g]));
    words[g] = word;
    row[g] = std::bit_cast<double>(word);
  }
}

SIDESTREAM_WIDE void put_values(const std::uint32_t* __restrict differences, const double* __restrict predicted,
                                std::size_t count, double* __restrict row, std::uint32_t* __restrict words) {
  for (std::size_t g = 0; g < count; ++g) {
    const std::uint32_t word = ordered(expected<float>(predicted[g]) + unzigzag(differences[g]));
    words[g] = word;
    row[g] = static_cast<double>(std::bit_cast<float>(word));
  }
}

}  // namespace sidestream::trees
