// A block has a region for each of its neighbours, mostly one box of few cells. So regions of the same block are
// written as one head and their boxes, relative to the first corner of the first, in 16 bits if they fit: 12 bytes
// each.
#include "transport/mpi/range_packet.hpp"

#include <algorithm>
#include <limits>

#include "sidestream/kit/base/records.hpp"

namespace sidestream::mpi {

namespace {

struct RegionsHead {
  std::int64_t block = 0;
  std::int64_t count = 0;
  std::int32_t variable = -1;
  std::int32_t component = 0;
  std::int32_t refined = -1, owned = -1;
  RangeRegion::Kind kind = RangeRegion::Kind::cells;
  std::int32_t wide = 0;  ///< 1: boxes are 64-bit numbers
  Index3 origin{};
};

bool same_head(const RangeRegion& a, const RangeRegion& b) {
  return a.block == b.block && a.variable == b.variable && a.component == b.component && a.kind == b.kind &&
         a.refined == b.refined && a.owned == b.owned;
}

/// True if all numbers of the boxes fit into 16 bits.
bool fit(std::span<const RangeRegion> regions, const Index3& origin) {
  constexpr Index least = std::numeric_limits<std::int16_t>::min(), most = std::numeric_limits<std::int16_t>::max();
  return std::all_of(regions.begin(), regions.end(), [&](const RangeRegion& region) {
    for (std::size_t a = 0; a < 3; ++a) {
      for (const Index i : {region.points.lo[a], region.points.hi[a]}) {
        if (i < origin[a] + least || i > origin[a] + most) return false;
      }
    }
    return true;
  });
}

template <class T>
void put_boxes(ByteWriter& out, std::span<const RangeRegion> regions, const Index3& origin) {
  for (const RangeRegion& region : regions) {
    std::array<T, 6> box{};
    for (std::size_t a = 0; a < 3; ++a) {
      box[a] = static_cast<T>(region.points.lo[a] - origin[a]);
      box[3 + a] = static_cast<T>(region.points.hi[a] - origin[a]);
    }
    out.put(box);
  }
}

template <class T>
Box get_box(ByteReader& in, const Index3& origin) {
  const auto numbers = in.get<std::array<T, 6>>();
  Box box;
  for (std::size_t a = 0; a < 3; ++a) {
    box.lo[a] = origin[a] + numbers[a];
    box.hi[a] = origin[a] + numbers[3 + a];
  }
  return box;
}

ByteReader reader_of(BytesView bytes) {
  return {bytes, Code::system, "a message about ranges ends too early; run the same build everywhere"};
}

}  // namespace

Bytes write_question(std::span<const RangeRequest> requests, std::span<const RangeRegion> regions) {
  ByteWriter out;
  out.put(requests.size());
  out.put_all(requests);
  for (std::size_t begin = 0; begin < regions.size();) {
    std::size_t end = begin + 1;
    while (end < regions.size() && same_head(regions[begin], regions[end])) ++end;
    const std::span<const RangeRegion> some = regions.subspan(begin, end - begin);
    const RangeRegion& first = some.front();
    const bool narrow = fit(some, first.points.lo);
    out.put(RegionsHead{first.block, static_cast<std::int64_t>(some.size()), first.variable, first.component,
                        first.refined, first.owned, first.kind, narrow ? 0 : 1, first.points.lo});
    narrow ? put_boxes<std::int16_t>(out, some, first.points.lo) : put_boxes<std::int64_t>(out, some, first.points.lo);
    begin = end;
  }
  return out.take();
}

RangeQuestion read_question(BytesView bytes) {
  ByteReader in = reader_of(bytes);
  RangeQuestion question;
  in.get_all(question.requests, in.get<std::size_t>());
  while (!in.at_end()) {
    const auto head = in.get<RegionsHead>();
    for (std::int64_t n = 0; n < head.count; ++n) {
      const Box box = head.wide ? get_box<std::int64_t>(in, head.origin) : get_box<std::int16_t>(in, head.origin);
      question.regions.push_back(
          {head.block, 0, head.kind, 0, head.variable, head.component, head.refined, head.owned, box});
    }
  }
  return question;
}

Bytes write_ranges(const MeasuredRanges& ranges) {
  ByteWriter out;
  out.put(ranges.blocks.size());
  out.put_all(std::span(ranges.blocks));
  out.put_all(std::span(ranges.regions));
  return out.take();
}

MeasuredRanges read_ranges(BytesView bytes) {
  ByteReader in = reader_of(bytes);
  MeasuredRanges ranges;
  in.get_all(ranges.blocks, in.get<std::size_t>());
  in.get_all(ranges.regions, in.left() / sizeof(Range));
  return ranges;
}

}  // namespace sidestream::mpi
