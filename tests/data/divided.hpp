// A domain divided into blocks with ranges, as servers know it.
#pragma once

#include "sidestream/data/catalogue.hpp"
#include "support/fake_domain.hpp"

namespace sidestream::testing {

struct Divided {
  Divided(const FakeDomain& of, const Division& boxes) : domain(of), division(boxes) {
    for (std::size_t b = 0; b < boxes.size(); ++b) {
      Block block;
      block.id = static_cast<std::int64_t>(b);
      block.cells = boxes[b];
      blocks.push_back(block);
    }
  }
  /// The value at a point, in the precision of the field's type.
  [[nodiscard]] double value(std::size_t field, const Index3& p, int c = 0) const {
    const double exact = domain.value(field, p, c);
    return with_type(domain.fields[field].type,
                     [&](auto zero) { return static_cast<double>(static_cast<decltype(zero)>(exact)); });
  }
  /// The range over `points`, found by looking at each.
  [[nodiscard]] Range range(std::size_t field, const Box& points) const {
    Range range;
    for (Index k = points.lo[2]; k < points.hi[2]; ++k) {
      for (Index j = points.lo[1]; j < points.hi[1]; ++j) {
        for (Index i = points.lo[0]; i < points.hi[0]; ++i) {
          const double v = value(field, {i, j, k});
          if (v == v) range.add({v, v});
        }
      }
    }
    return range;
  }
  /// Finds what servers measure of a field.
  void measure(std::size_t field) {
    for (const Block& block : blocks) {
      const Box points = domain.metadata.variables[field].points(block.cells);
      BlockRange r;
      r.block = block.id;
      r.variable = static_cast<std::int32_t>(field);
      r.all = range(field, points);
      for (std::size_t mask = 1; mask < 8; ++mask) {
        Box layer = points;
        for (int a = 0; a < 3; ++a) {
          if (mask >> a & 1) layer.hi[a] = layer.lo[a] + 1;
        }
        r.lowest[mask - 1] = range(field, layer);
      }
      ranges.push_back(r);
    }
  }
  [[nodiscard]] std::vector<bool> needs(const Selected& selected) const {
    return Needs(domain.metadata, blocks, ranges).of(selected);
  }

  const FakeDomain& domain;
  Division division;
  std::vector<Block> blocks;
  std::vector<BlockRange> ranges;
};

}  // namespace sidestream::testing
