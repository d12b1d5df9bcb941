#include "pieces.hpp"

#include <algorithm>
#include <utility>

#include "overlap.hpp"

namespace sidestream::arrays {

void Piece::keep() {
  copy = packed(part);
  part.data = copy.data();
  part.strides.clear();
  changeable = true;
}

Piece& Pieces::add(Piece piece) {
  const Place place = all_.insert(all_.end(), std::move(piece));
  if (!place->part.is_global() || place->part.values() == 0) return *place;
  OfArray& array = arrays_[place->part.name];
  if (!array.by_start.emplace(place->part.start, place).second) return *place;  // of another type or shape
  array.longest = std::max(array.longest, place->part.count[0]);
  if (!place->known) ++array.odd;
  return *place;
}

void Pieces::remove(Place place) {
  OfArray& array = arrays_[place->part.name];
  const auto found = array.by_start.find(place->part.start);
  if (found != array.by_start.end() && found->second == place) {
    array.by_start.erase(found);
    if (!place->known) --array.odd;
  }
  all_.erase(place);
}

void Pieces::clear() {
  all_.clear();
  arrays_.clear();
}

std::vector<Pieces::Place> Pieces::overlapping(const Part& part, bool known) {
  std::vector<Place> found;
  const auto array = arrays_.find(part.name);
  if (array == arrays_.end() || !part.is_global()) return found;
  const auto& by_start = array->second.by_start;
  if (known && array->second.odd == 0) {  // blocks do not overlap
    const auto same = by_start.find(part.start);
    if (same != by_start.end()) found.push_back(same->second);
    return found;
  }
  auto next = by_start.lower_bound({part.start[0] - array->second.longest + 1});
  for (; next != by_start.end() && next->first[0] < part.start[0] + part.count[0]; ++next) {
    const Part& other = next->second->part;
    const bool alike = other.type == part.type && other.shape == part.shape && other.count.size() == part.count.size();
    if (alike && overlap(other, part)) found.push_back(next->second);
  }
  return found;
}

}  // namespace sidestream::arrays
