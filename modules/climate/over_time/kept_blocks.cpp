#include "climate/over_time/kept_blocks.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace sidestream::over_time {

namespace {

auto place_of(const KeptBlock& kept) {
  return std::tie(kept.entry, kept.block.id, kept.points.lo[2], kept.points.lo[1], kept.points.lo[0]);
}

}  // namespace

void KeptBlocks::begin() {
  for (KeptBlock& kept : kept_) kept.here = false;
}

KeptBlock& KeptBlocks::find(std::int32_t entry, const Block& block) {
  KeptBlock wanted{entry, block, variables_[static_cast<std::size_t>(entry)].points(block), {}, true, true};
  const auto before = [](const KeptBlock& a, const KeptBlock& b) { return place_of(a) < place_of(b); };
  const auto [first, last] = std::equal_range(kept_.begin(), kept_.end(), wanted, before);
  const auto found =
      std::find_if(first, last, [&](const KeptBlock& kept) { return kept.block.same_shape(wanted.block); });
  if (found != last) {
    found->here = true;
    return *found;
  }
  const auto components = static_cast<std::size_t>(variables_[static_cast<std::size_t>(entry)].components);
  wanted.values = Accumulation(needs_, static_cast<std::size_t>(wanted.points.count()) * components);
  return *kept_.insert(last, std::move(wanted));
}

bool KeptBlocks::lacks() const noexcept {
  return std::ranges::any_of(kept_, [](const KeptBlock& kept) { return kept.here && kept.fresh; });
}

bool KeptBlocks::has_more() const noexcept {
  return std::ranges::any_of(kept_, [](const KeptBlock& kept) { return !kept.here && !kept.values.empty(); });
}

/// An empty block that is gone may count on another server now: if it comes back, its values are there.
void KeptBlocks::settle() noexcept {
  std::erase_if(kept_, [](const KeptBlock& kept) { return !kept.here && kept.values.empty(); });
  for (KeptBlock& kept : kept_) kept.fresh = false;
}

void KeptBlocks::reset() {
  std::erase_if(kept_, [](const KeptBlock& kept) { return !kept.here; });
  for (KeptBlock& kept : kept_) kept.values.reset();
}

std::size_t KeptBlocks::bytes() const noexcept {
  std::size_t bytes = 0;
  for (const KeptBlock& kept : kept_) bytes += kept.values.bytes();
  return bytes;
}

/// The points of a block that are kept; empty if there are none.
Box KeptBlocks::overlap(const KeptBlock& kept, const Wanted& wanted) const {
  if (kept.entry != wanted.entry || kept.fresh || kept.block.level != wanted.block.level) return {};
  if (kept.block.is_list() || wanted.block.is_list()) {
    const bool same = kept.block.id == wanted.block.id && kept.block.same_shape(wanted.block);
    return same ? kept.points : Box{};
  }
  return intersection(kept.points, variables_[static_cast<std::size_t>(wanted.entry)].points(wanted.block));
}

void KeptBlocks::put_part(ByteWriter& writer, const KeptBlock& kept, const Box& region) const {
  const Variable& variable = variables_[static_cast<std::size_t>(kept.entry)];
  writer.put(kept.entry);
  writer.put(kept.block);
  writer.put(region);
  writer.put(kept.here);
  const bool whole = region == kept.points;
  (whole ? kept.values : kept.values.part(kept.points, region, variable.components, variable.order)).put(writer);
}

KeptBlock KeptBlocks::got_part(ByteReader& reader) const {
  KeptBlock kept;
  reader.get(kept.entry);
  reader.get(kept.block);
  reader.get(kept.points);
  reader.get(kept.here);
  kept.values = Accumulation::got(reader, needs_);
  return kept;
}

/// Each server names what it lacks, and sends what others lack: one gathering and one exchange.
void KeptBlocks::exchange(Communicator& servers) {
  std::vector<Wanted> lacked;
  for (const KeptBlock& kept : kept_) {
    if (kept.here && kept.fresh) lacked.push_back({kept.entry, kept.block});
  }
  const std::vector<Bytes> all = servers.all_gather(bytes_of(lacked));
  std::vector<MemberMessage> messages;
  std::vector<Wanted> wanted;
  for (std::size_t server = 0; server < all.size(); ++server) {
    ByteWriter writer;
    for (const Wanted& one : records_of<Wanted>(all[server])) {
      wanted.push_back(one);
      for (const KeptBlock& kept : kept_) {
        const Box region = overlap(kept, one);
        if (!region.empty() && !kept.values.empty()) put_part(writer, kept, region);
      }
    }
    if (!writer.bytes().empty()) messages.push_back({static_cast<int>(server), writer.take()});
  }
  std::vector<KeptBlock> parts;
  for (const MemberMessage& message : servers.exchange(std::move(messages))) {
    for (ByteReader reader(message.bytes); !reader.at_end();) parts.push_back(got_part(reader));
  }
  give_up(wanted);
  take(std::move(parts));
}

/// Where several parts have a point, as nodes between blocks, that of a block which is gone counts, then the lowest id.
void KeptBlocks::take(std::vector<KeptBlock> parts) {
  std::ranges::stable_sort(parts, [](const KeptBlock& a, const KeptBlock& b) {
    return std::tie(a.here, a.block.id) < std::tie(b.here, b.block.id);
  });
  for (KeptBlock& kept : kept_) {
    if (!kept.here || !kept.fresh) continue;
    const Variable& variable = variables_[static_cast<std::size_t>(kept.entry)];
    std::vector<std::uint8_t> taken(static_cast<std::size_t>(kept.points.count() * variable.components), 0);
    const auto fill = [&](bool of_same_id) {
      for (const KeptBlock& part : parts) {
        const bool fits = part.entry == kept.entry && part.block.level == kept.block.level &&
                          (part.block.id == kept.block.id) == of_same_id && kept.points.contains(part.points);
        if (!fits || part.block.is_list() != kept.block.is_list() || (kept.block.is_list() && !of_same_id)) continue;
        kept.values.take(part.values, part.points, kept.points, variable.components, variable.order, taken);
      }
    };
    fill(true);
    fill(false);
  }
}

/// Drops the parts of blocks that are not here for which some server has a block now.
void KeptBlocks::give_up(std::span<const Wanted> wanted) {
  std::vector<KeptBlock> left;
  for (KeptBlock& kept : kept_) {
    std::vector<Box> rest{kept.points};
    for (const Wanted& one : wanted) {
      if (!kept.here) rest = difference(rest, overlap(kept, one));
    }
    if (rest.size() == 1 && rest.front() == kept.points) {
      left.push_back(std::move(kept));
      continue;
    }
    const Variable& variable = variables_[static_cast<std::size_t>(kept.entry)];
    for (const Box& box : rest) {
      KeptBlock& piece = left.emplace_back(KeptBlock{kept.entry, kept.block, box, {}, false, false});
      piece.values = kept.values.part(kept.points, box, variable.components, variable.order);
      piece.block.cells = {{0, 0, 0}, {0, 0, 0}};  // no block of the simulation has this shape
    }
  }
  std::ranges::stable_sort(left, [](const KeptBlock& a, const KeptBlock& b) { return place_of(a) < place_of(b); });
  kept_ = std::move(left);
}

void KeptBlocks::put(ByteWriter& writer) const {
  for (const KeptBlock& kept : kept_) {
    if (!kept.values.empty()) put_part(writer, kept, kept.points);
  }
}

void KeptBlocks::get(ByteReader& reader) {
  while (!reader.at_end()) {
    kept_.push_back(got_part(reader));
    kept_.back().here = false;
  }
  std::ranges::stable_sort(kept_, [](const KeptBlock& a, const KeptBlock& b) { return place_of(a) < place_of(b); });
}

}  // namespace sidestream::over_time
