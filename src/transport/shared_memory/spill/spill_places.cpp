#include "transport/shared_memory/spill/spill_places.hpp"

#include <algorithm>

#include "sidestream/kit/base/fail.hpp"

namespace sidestream::shared_memory {

std::optional<std::uint64_t> SpillPlaces::take(std::uint64_t bytes) {
  std::uint64_t begin = 0;
  if (!places_.empty()) {
    const std::uint64_t oldest = places_.front().begin, end = places_.back().end;
    const bool wrapped = places_.back().begin < oldest;
    const std::uint64_t limit = wrapped ? oldest : size_;
    begin = end;
    if (bytes > limit - end) {
      if (wrapped || bytes > oldest) return std::nullopt;
      begin = 0;
    }
  } else if (bytes > size_) {
    return std::nullopt;
  }
  places_.push_back({begin, begin + bytes, open});
  return begin;
}

SpillPlaces::Place& SpillPlaces::at(std::uint64_t offset) {
  const auto found =
      std::find_if(places_.rbegin(), places_.rend(), [&](const Place& place) { return place.begin == offset; });
  if (found == places_.rend()) fail(Code::internal, "nothing was put at {} of a spill file", offset);
  return *found;
}

void SpillPlaces::commit(std::uint64_t offset, std::int64_t iteration) { at(offset).iteration = iteration; }

void SpillPlaces::give_back(std::uint64_t offset) {
  at(offset).iteration = unused;
  while (!places_.empty() && places_.back().iteration == unused) places_.pop_back();
  trim();
}

void SpillPlaces::release_upto(std::int64_t count) {
  if (count <= released_) return;
  released_ = count;
  trim();
}

void SpillPlaces::trim() {
  while (!places_.empty() && places_.front().iteration < released_) places_.pop_front();
}

}  // namespace sidestream::shared_memory
