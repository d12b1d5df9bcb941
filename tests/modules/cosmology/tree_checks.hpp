// Fields for the tests of merge trees: with or without plateaus, periodic along some axes, some with NaN.
#pragma once

#include <limits>
#include <random>

#include "modules/cosmology/halo_checks.hpp"

namespace sidestream::testing {

inline double noise_with_gaps(const Index3& p, unsigned seed, unsigned values) {
  std::seed_seq seeds{static_cast<unsigned>(p[0] + 100), static_cast<unsigned>(p[1] + 100),
                      static_cast<unsigned>(p[2] + 100), seed};
  unsigned word[1];
  seeds.generate(word, word + 1);
  if (seed % 4 == 3 && word[0] % 11 == 0) return std::numeric_limits<double>::quiet_NaN();
  return static_cast<double>(word[0] / 16 % values);
}

inline FakeDomain noisy(const Index3& size, int dimensions, unsigned seed, Type type = Type::float64,
                        Order order = Order::column) {
  const unsigned values = seed % 2 == 0 ? 1u << 20 : 6;  // with plateaus or without
  const Box cells{{2, -3, 5}, {2 + size[0], -3 + size[1], 5 + size[2]}};
  FakeDomain domain(cells, std::make_shared<UniformGeometry>(std::array{0.0, 0.0, 0.0}, std::array{1.0, 1.0, 1.0}),
                    {{"a", [=](auto&, const Index3& p, int) { return noise_with_gaps(p, seed, values); },
                      Centering::cell, 1, type, order}},
                    dimensions);
  domain.metadata.meshes[0].periodic = {(seed & 1) != 0, (seed & 2) != 0, (seed & 4) != 0};
  return domain;
}

}  // namespace sidestream::testing
