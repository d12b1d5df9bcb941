// Radix-k compositing of sparse drawings.
//
// In each round the members of a group that stand at the same place of its parts exchange the pixels that the others
// complete; then each part continues by itself, with a fraction of the picture. Nearest samples, lists of translucent
// samples and sums of light do not depend on the order of merging.
//
// Stripes of a picture are dealt to the members as cards are: round by round, one to each part in turn.
#include "visualisation/graphics/compositing.hpp"

#include <algorithm>
#include <utility>

#include "sidestream/kit/base/records.hpp"

namespace sidestream::rendering {

namespace {

/// The lengths of the parts of an encoded drawing, which follow them: runs, fragments, slabs.
struct Lengths {
  std::uint64_t runs = 0, fragments = 0, slabs = 0;
};

struct Parts {
  BytesView runs, fragments, slabs;
};

/// The lengths come last, so that the runs, which are most of it, need not be copied.
Parts parts_of(BytesView encoded) {
  if (encoded.empty()) return {};
  const std::size_t body = encoded.size() - std::min(encoded.size(), sizeof(Lengths));
  const auto lengths = record_of<Lengths>(encoded.subspan(body));
  if (lengths.runs > body || lengths.fragments > body - lengths.runs ||
      lengths.slabs != body - lengths.runs - lengths.fragments) {
    fail(Code::internal, "a drawing of {} bytes has parts of {}, {} and {}", body, lengths.runs, lengths.fragments,
         lengths.slabs);
  }
  return {encoded.first(lengths.runs), encoded.subspan(lengths.runs, lengths.fragments),
          encoded.subspan(lengths.runs + lengths.fragments, lengths.slabs)};
}

void close(Bytes& encoded, std::size_t runs, std::size_t fragments) {
  const Lengths lengths{runs, fragments, encoded.size() - runs - fragments};
  const BytesView bytes = bytes_of(lengths);
  encoded.insert(encoded.end(), bytes.begin(), bytes.end());
}

/// The part of a drawing whose rows the members complete; empty if nothing is drawn there.
Bytes select(BytesView encoded, const Stripes& stripes, const Members& members, int samples) {
  const Parts parts = parts_of(encoded);
  const auto of_members = [&](std::int64_t row, std::int64_t rows, std::int64_t samples_of_row) {
    if (row < 0 || row >= rows) fail(Code::internal, "row {} of a picture lies outside its {} rows", row, rows);
    return members.contains(stripes.owner(row * samples_of_row));
  };
  const auto wanted = [&](std::int64_t row) { return of_members(row, stripes.height(), 1); };
  const auto wanted_pixels = [&](std::int64_t row) { return of_members(row, stripes.height() / samples, samples); };
  Bytes out;
  select_runs(parts.runs, wanted, out);
  const std::size_t runs = out.size();
  SparseRows<Fragment>::select(parts.fragments, wanted, out);
  const std::size_t fragments = out.size() - runs;
  SparseRows<SlabRecord>::select(parts.slabs, wanted_pixels, out);
  if (!out.empty()) close(out, runs, fragments);
  return out;
}

/// Some drawings of a picture of `pixel_rows` rows of pixels as one.
Bytes merged(std::span<const Bytes> drawings, std::int64_t width, std::int64_t pixel_rows) {
  std::vector<BytesView> lists;
  for (const Bytes& drawing : drawings) lists.push_back(parts_of(drawing).runs);
  Bytes out = merged_runs(lists, width);
  const std::size_t runs = out.size();
  for (const Bytes& drawing : drawings) {
    const BytesView more = parts_of(drawing).fragments;
    out.insert(out.end(), more.begin(), more.end());
  }
  const std::size_t fragments = out.size() - runs;
  SparseRows<SlabRecord> slabs(0, pixel_rows);
  for (const Bytes& drawing : drawings) slabs.merge(parts_of(drawing).slabs);
  for (std::int64_t y = 0; y < pixel_rows; ++y) add_up(slabs.row(y));
  slabs.encode(out);
  close(out, runs, fragments);
  return out;
}

void merge(BytesView encoded, Drawing& drawing) {
  const Parts parts = parts_of(encoded);
  merge_runs(parts.runs, drawing.opaque);
  drawing.fragments.merge(parts.fragments);
  drawing.slabs.merge(parts.slabs);
}

/// One round of a group of several members: sends other parts the pixels that they complete; returns the remaining
/// pixels and the received ones. `group` becomes this member's part.
std::vector<Bytes> exchange_round(BytesView held, const Stripes& stripes, Members& group, int samples,
                                  Communicator& communicator) {
  const std::vector<Members> parts = stripes.parts_of(group);
  const auto mine =
      std::ranges::find_if(parts, [&](const Members& part) { return part.contains(communicator.rank()); });
  // Parts may differ by one member. The number of the own part spreads what they send over the receivers.
  const auto place = communicator.rank() - mine->first + static_cast<int>(mine - parts.begin());
  group = *mine;
  std::vector<Bytes> here;
  std::vector<MemberMessage> to;
  for (const Members& part : parts) {
    Bytes selected = select(held, stripes, part, samples);
    if (part.first == group.first) {
      here.push_back(std::move(selected));
    } else if (!selected.empty()) {
      to.push_back({part.first + place % part.count, std::move(selected)});
    }
  }
  for (MemberMessage& message : communicator.exchange(std::move(to))) here.push_back(std::move(message.bytes));
  return here;
}

}  // namespace

Bytes encode(const Drawing& drawing) {
  Bytes out = encode_runs(drawing.opaque);
  const std::size_t runs = out.size();
  drawing.fragments.encode(out);
  const std::size_t fragments = out.size() - runs;
  drawing.slabs.encode(out);
  close(out, runs, fragments);
  return out;
}

Drawing composite(std::span<const Bytes> partials, std::int64_t width, int samples, const Stripes& stripes,
                  Communicator& communicator) {
  std::vector<Bytes> came;
  std::span<const Bytes> held = partials;
  Members group{0, communicator.size()};
  for (int left = stripes.rounds(); left > 0; --left) {
    if (group.count == 1) {  // other groups continue
      static_cast<void>(communicator.exchange({}));
      continue;
    }
    // Several drawings become one, so that each part of it is sent once.
    const Bytes one = held.size() > 1 ? merged(held, width, stripes.height() / samples) : Bytes();
    const BytesView whole = held.size() > 1 ? BytesView(one) : held.empty() ? BytesView() : BytesView(held[0]);
    if (held.size() > 1) came.clear();
    came = exchange_round(whole, stripes, group, samples, communicator);
    held = came;
  }
  const Stripe mine = stripes.of(communicator.rank());
  Drawing stripe(width, mine.first_row, mine.rows(), samples);
  for (const Bytes& drawing : held) merge(drawing, stripe);
  return stripe;
}

Stripes::Stripes(std::int64_t height, std::int64_t unit, int members, int radix)
    : unit_(unit),
      units_(height / unit),
      stripes_(std::min<std::int64_t>(members, units_)),
      members_(members),
      radix_(radix),
      owners_(static_cast<std::size_t>(units_)) {
  deal({0, members}, 0, 1);
}

/// Deals the stripes `stripe`, `stripe + stride`, ...: no more than the group has members.
void Stripes::deal(const Members& group, std::int64_t stripe, std::int64_t stride) {
  if (stripe >= stripes_) return;
  if (group.count == 1) {
    std::fill(owners_.begin() + first_unit(stripe), owners_.begin() + first_unit(stripe + 1), group.first);
    return;
  }
  const std::vector<Members> parts = parts_of(group);
  const auto count = static_cast<std::int64_t>(parts.size());
  for (std::int64_t p = 0; p < count; ++p) {
    deal(parts[static_cast<std::size_t>(p)], stripe + p * stride, stride * count);
  }
}

Stripe Stripes::of(int member) const {
  const auto first = std::find(owners_.begin(), owners_.end(), member);
  const auto end = std::find_if(first, owners_.end(), [&](int owner) { return owner != member; });
  return first == end ? Stripe{} : Stripe{(first - owners_.begin()) * unit_, (end - owners_.begin()) * unit_};
}

std::vector<int> Stripes::members_by_row() const {
  std::vector<int> members = owners_;
  members.erase(std::unique(members.begin(), members.end()), members.end());
  return members;
}

int Stripes::rounds() const noexcept {
  int rounds = 0;
  for (int largest = members_; largest > 1; ++rounds) {
    const int parts = std::min(radix_, largest);
    largest = (largest + parts - 1) / parts;
  }
  return rounds;
}

std::vector<Members> Stripes::parts_of(const Members& group) const {
  const int count = std::min(radix_, group.count);
  std::vector<Members> parts;
  int first = group.first;
  for (int p = 0; p < count; ++p) {
    parts.push_back({first, group.count / count + (p < group.count % count ? 1 : 0)});
    first += parts.back().count;
  }
  return parts;
}

}  // namespace sidestream::rendering
