// Redistribution of a distributed array between pencils along different axes.
//
// Both divisions are arithmetic, so each server finds the receivers of its boxes (meeting) without communication. Data
// moves in rounds of some planes: `messages_of` packs the intersections with the receivers' boxes and gives the sent
// planes up, and `unpack` copies what arrives into the new array. So a server holds little more than one array,
// although both exist during the exchange. Errors of allocation are agreed on before anything is given up.
#include "cosmology/spectra/pencils.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/records.hpp"

namespace sidestream::spectra {
namespace {

constexpr Index values_under_way = Index{1} << 20;  // 16 MiB

/// Begin of part `n` of `parts` of `extent` indices, divided like decompositions of selections.
Index part_begin(Index extent, Index parts, Index n) noexcept {
  return extent / parts * n + std::min(n, extent % parts);
}

/// The part that contains an index.
Index part_at(Index extent, Index parts, Index index) noexcept {
  const Index each = extent / parts, more = extent % parts;
  if (index < more * (each + 1)) return index / (each + 1);
  return more + (index - more * (each + 1)) / each;
}

/// Packs the values of a box, the first axis fastest, preceded by the box.
Bytes packed(PencilArray& from, const Box& box) {
  Bytes bytes(sizeof(Box) + static_cast<std::size_t>(box.count()) * sizeof(Complex));
  std::memcpy(bytes.data(), &box, sizeof box);
  std::byte* to = bytes.data() + sizeof box;
  const std::size_t row = static_cast<std::size_t>(box.extent(0)) * sizeof(Complex);
  for (Index c = box.lo[2]; c < box.hi[2]; ++c) {
    for (Index b = box.lo[1]; b < box.hi[1]; ++b, to += row) {
      std::memcpy(to, from.line(b, c) + (box.lo[0] - from.box().lo[0]), row);
    }
  }
  return bytes;
}

void unpack(BytesView bytes, PencilArray& to) {
  const auto box = record_of<Box>(bytes.first(sizeof(Box)));
  const std::byte* at = bytes.data() + sizeof box;
  const std::size_t row = static_cast<std::size_t>(box.extent(0)) * sizeof(Complex);
  for (Index c = box.lo[2]; c < box.hi[2]; ++c) {
    for (Index b = box.lo[1]; b < box.hi[1]; ++b, at += row) {
      std::memcpy(static_cast<void*>(to.line(b, c) + (box.lo[0] - to.box().lo[0])), at, row);
    }
  }
}

/// Number of planes of an array per round.
Index planes_at_once(const Box& box) {
  return std::max<Index>(1, values_under_way / std::max<Index>(1, box.extent(0) * box.extent(1)));
}

/// Runs `work`, and throws on all servers if one ran out of memory.
template <class Work>
void agreed(Communicator& servers, Work&& work) {
  std::int64_t failed = 0;
  try {
    work();
  } catch (const std::bad_alloc&) {
    failed = 1;
  }
  servers.maximum({&failed, 1});
  if (failed != 0) {
    fail(Code::system, "a server has no memory to divide a transformed field anew; use more servers or more memory");
  }
}

/// Messages with some planes of all arrays, by receiver.
std::vector<MemberMessage> messages_of(std::vector<PencilArray>& from, const PencilLayout& layout, int step,
                                       Index round) {
  std::vector<MemberMessage> messages;
  for (PencilArray& array : from) {
    const Index some = planes_at_once(array.box());
    Box box = array.box();
    box.lo[2] = std::min(box.hi[2], array.box().lo[2] + round * some);
    box.hi[2] = std::min(box.hi[2], box.lo[2] + some);
    if (box.empty()) continue;
    for (const int server : layout.meeting(step, box)) {
      messages.push_back({server, packed(array, intersection(box, layout.box(step, server)))});
    }
    array.give_up_below(box.hi[2]);
  }
  return messages;
}

}  // namespace

AxisOrder order_from(int first) noexcept { return {first, first == 0 ? 1 : 0, first == 2 ? 1 : 2}; }

Decomposition decomposition_of(const Mesh& mesh, const AxisOrder& order, bool slabs) {
  if (slabs && mesh.dimensions > 1) return Decomposition::slabs(order[static_cast<std::size_t>(mesh.dimensions - 1)]);
  return Decomposition::pencils(order[0]);
}

ServerGrid grid_of(const Mesh& mesh, const AxisOrder& order, bool slabs, int servers) {
  const Decomposition decomposition = decomposition_of(mesh, order, slabs);
  const Index third = mesh.cells.extent(order[2]);
  ServerGrid grid;
  const Box first = piece_of(decomposition, mesh, servers, 0);
  while (grid.second < servers) {
    const Box next = piece_of(decomposition, mesh, servers, static_cast<int>(grid.second));
    if (next.empty() || next.lo[static_cast<std::size_t>(order[2])] != first.lo[static_cast<std::size_t>(order[2])])
      break;
    ++grid.second;
  }
  grid.third = std::max<Index>(1, std::min<Index>(third, servers / grid.second));
  return grid;
}

Index3 PencilLayout::parts(int step) const noexcept {
  if (step == 0) return {1, grid_.second, grid_.third};
  if (step == 1) return {grid_.second, 1, grid_.third};
  return {grid_.second, grid_.third, 1};
}

Box PencilLayout::box(int step, int server) const noexcept {
  const Index3 cut = parts(step);
  Box box;
  const Index n = server;
  if (n >= grid_.second * grid_.third) return box;
  const Index fast = n % grid_.second, slow = n / grid_.second;
  const Index3 at = step == 0 ? Index3{0, fast, slow} : step == 1 ? Index3{fast, 0, slow} : Index3{fast, slow, 0};
  for (std::size_t a = 0; a < 3; ++a) {
    box.lo[a] = part_begin(extents_[a], cut[a], at[a]);
    box.hi[a] = part_begin(extents_[a], cut[a], at[a] + 1);
  }
  return box;
}

std::vector<int> PencilLayout::meeting(int step, const Box& box) const {
  const Index3 cut = parts(step);
  Index3 first{}, last{};
  for (std::size_t a = 0; a < 3; ++a) {
    first[a] = part_at(extents_[a], cut[a], box.lo[a]);
    last[a] = part_at(extents_[a], cut[a], box.hi[a] - 1);
  }
  std::vector<int> servers;
  // One of the three axes is not cut. The indices along the other two give the place in the grid, the lower one
  // fastest.
  for (Index c = first[2]; c <= last[2]; ++c) {
    for (Index b = first[1]; b <= last[1]; ++b) {
      for (Index a = first[0]; a <= last[0]; ++a) {
        const Index fast = step == 0 ? b : a, slow = step == 2 ? b : c;
        servers.push_back(static_cast<int>(slow * grid_.second + fast));
      }
    }
  }
  return servers;
}

PencilArray::PencilArray(const Box& of) : box_(of) {
  if (box_.empty()) return;
  constexpr std::size_t large_page = std::size_t{1} << 21, cache_line = 64, at_once = 4 * large_page;
  // Planes at distances of a multiple of a page would make the numbers of a line along the third axis compete for the
  // same cache lines.
  constexpr std::size_t apart = 3 * cache_line;
  std::size_t plane = plane_values() * sizeof(Complex);
  if (plane >= 16 * apart) plane += apart;
  const auto together = static_cast<Index>(std::max<std::size_t>(1, at_once / plane));
  for (Index third = box_.lo[2]; third < box_.hi[2]; third += together) {
    const Index some = std::min(together, box_.hi[2] - third);
    const std::size_t bytes = static_cast<std::size_t>(some) * plane;
    const std::size_t page = bytes >= large_page ? large_page : cache_line;
    const std::size_t rounded = (bytes + page - 1) / page * page;
    Allocation& allocation = allocations_.emplace_back();
    allocation.end = third + some;
    if (page == large_page) {
      const std::shared_ptr<PageCache> cache = PageCache::common();
      allocation.memory = {cache->take(rounded, page), PageDeleter{cache, rounded}};
      // Only advice: without large pages small ones are used.
      static_cast<void>(::madvise(allocation.memory.get(), rounded, MADV_HUGEPAGE));
    } else {
      allocation.memory = {std::aligned_alloc(page, rounded), PageDeleter{}};
      if (!allocation.memory) throw std::bad_alloc();
    }
    auto* at = static_cast<std::byte*>(allocation.memory.get());
    for (Index n = 0; n < some; ++n, at += plane) planes_.push_back(reinterpret_cast<Complex*>(at));
  }
}

void PencilArray::give_up_below(Index third) noexcept {
  for (Allocation& allocation : allocations_) {
    // Returned to the system, because incoming data needs it.
    if (allocation.end <= third) std::free(allocation.memory.release());
  }
}

PencilArray redistribute(std::vector<PencilArray> from, const PencilLayout& layout, int step, Communicator& servers) {
  const Box mine = layout.box(step, servers.rank());
  std::array<std::int64_t, 2> most{from.size() == 1 && from[0].box() == mine ? 0 : 1, 0};
  if (from.empty() && mine.empty()) most[0] = 0;
  for (const PencilArray& array : from) {
    const Index some = planes_at_once(array.box());
    most[1] = std::max<std::int64_t>(most[1], (array.box().extent(2) + some - 1) / some);
  }
  servers.maximum(most);
  if (most[0] == 0) return from.empty() ? PencilArray() : std::move(from[0]);
  PencilArray to;
  // Untouched memory takes no pages yet. So this may fail, and all servers learn of it, before anything is given up.
  agreed(servers, [&] { to = PencilArray(mine); });
  for (std::int64_t round = 0; round < most[1]; ++round) {
    std::vector<MemberMessage> messages;
    agreed(servers, [&] { messages = messages_of(from, layout, step, round); });
    for (const MemberMessage& message : servers.exchange(std::move(messages))) unpack(message.bytes, to);
  }
  return to;
}

void transform_columns(Complex* plane, Index width, ComplexLines& lines) {
  if (lines.size() == 1) return;
  const Index row = lines.row();
  for (Index first = 0; first < width; first += ComplexLines::together) {
    const Index some = std::min(ComplexLines::together, width - first);
    Complex* const begin = plane + first;
    for (Index n = 0; n < lines.size(); ++n) copy_column(begin + n * width, 1, some, lines.lines() + n, row);
    lines.transform(some);
    for (Index n = 0; n < lines.size(); ++n) {
      copy_column(lines.results() + n, row, some, begin + n * width, 1);
    }
  }
}

void transform_second(PencilArray& array, ComplexLines& lines) {
  const Box& box = array.box();
  for (Index third = box.lo[2]; third < box.hi[2] && !box.empty(); ++third) {
    transform_columns(array.line(box.lo[1], third), box.extent(0), lines);
  }
}

}  // namespace sidestream::spectra
