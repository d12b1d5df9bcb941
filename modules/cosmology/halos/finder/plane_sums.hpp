// Sums of a part of a component for each plane of cells along each axis.
//
// The shortest way to the peak along periodic axes is unknown until the peak is. So a part that may continue elsewhere
// keeps its sums by plane. They are added up exactly over all parts, and weighted with distances at the end.
#pragma once

#include <array>
#include <map>
#include <vector>

#include "sidestream/data/box.hpp"
#include "sidestream/extend/exact_sum.hpp"
#include "sidestream/kit/base/records.hpp"
#include "sidestream/kit/reduce/exact_sum_forms.hpp"

namespace sidestream::halos {

struct Plane {
  Index cells = 0;
  ExactSum mass;  ///< values times volumes

  /// `words`: memory that is used for each plane in turn.
  void write(ByteWriter& out, std::vector<std::uint32_t>& words) const {
    words.clear();
    pack(mass, words);
    out.put(cells);
    out.put(words);
  }
  /// Adds the sums written by `write`.
  void read(ByteReader& in, std::vector<std::uint32_t>& words) {
    cells += in.get<Index>();
    in.get(words);
    static_cast<void>(add_packed(words.data(), words.size(), mass));
  }
};

/// Planes by axis and place. `Place`: what cells of a plane have in common along the axis, an index or also a level.
template <class Place>
class PlaneSums {
 public:
  void add(std::size_t axis, const Place& place, double value, double volume) {
    Plane& plane = planes_[axis][place];
    ++plane.cells;
    plane.mass.add_product(value, volume);
  }
  [[nodiscard]] const std::map<Place, Plane>& along(std::size_t axis) const noexcept { return planes_[axis]; }

  void write(ByteWriter& out) const {
    std::vector<std::uint32_t> words;
    for (const auto& planes : planes_) {
      out.put(planes.size());
      for (const auto& [place, plane] : planes) {
        out.put(place);
        plane.write(out, words);
      }
    }
  }
  /// Adds the sums written by `write`.
  void read(ByteReader& in) {
    std::vector<std::uint32_t> words;
    for (auto& planes : planes_) {
      const auto count = in.get<std::size_t>();
      for (std::size_t n = 0; n < count; ++n) planes[in.get<Place>()].read(in, words);
    }
  }

 private:
  std::array<std::map<Place, Plane>, 3> planes_;
};

}  // namespace sidestream::halos
