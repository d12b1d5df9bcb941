// A mesh with axes of different kinds, for tests of what places of cells decide.
#pragma once

#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "support/fake_domain.hpp"

namespace sidestream::testing {

/// A rectilinear mesh whose second axis runs downwards.
inline FakeDomain stretched_domain(const std::vector<FakeField>& fields) {
  std::array<std::vector<double>, 3> axes;
  for (int i = 0; i <= 14; ++i) axes[0].push_back(-1 + i * i / 98.0);
  for (int i = 0; i <= 11; ++i) axes[1].push_back(1 - i / 5.5);
  for (int i = 0; i <= 13; ++i) axes[2].push_back(-1 + i / 6.5);
  return FakeDomain({{0, 0, 0}, {14, 11, 13}}, std::make_shared<RectilinearGeometry>(Index3{0, 0, 0}, std::move(axes)),
                    fields);
}

}  // namespace sidestream::testing
