#include "transport/mpi/source.hpp"

#include <algorithm>
#include <limits>

#include "base/polite_wait.hpp"

namespace sidestream::mpi {

std::uint64_t piece_bytes(const BlockRecord& record, const Box& points) {
  return packed_bytes(points, record.components, record.type);
}

void pack_piece(const Arrival& arrival, const Box& points, std::byte* out) {
  pack(arrival.record.view(arrival.data), points, arrival.record.order, {out, piece_bytes(arrival.record, points)});
}

Source::Source(std::shared_ptr<MpiCommunicator> comm, Shelf& shelf)
    : comm_(std::move(comm)), shelf_(shelf), packs_(std::numeric_limits<std::uint64_t>::max()) {}

Source::~Source() {
  if (mpi_is_finalized()) return;
  for (Sending& sending : sending_) {
    for (MPI_Request& request : sending.requests) MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

void Source::request(Letter letter) { waiting_.push_back(std::move(letter)); }

bool Source::busy_with(std::int64_t index) const {
  return std::any_of(sending_.begin(), sending_.end(), [&](const Sending& s) { return s.index == index; }) ||
         std::any_of(waiting_.begin(), waiting_.end(), [&](const Letter& l) { return l.header.index == index; });
}

std::uint64_t Source::take_bytes_sent(std::int64_t index) {
  const auto found = bytes_.find(index);
  if (found == bytes_.end()) return 0;
  const std::uint64_t bytes = found->second;
  bytes_.erase(found);
  return bytes;
}

void Source::send_large(int peer, const Arrival& arrival, const WantedItem& item, Sending& sending) {
  const std::uint64_t bytes = piece_bytes(arrival.record, item.points);
  const std::byte* data = arrival.data;
  if (!(arrival.record.box == item.points)) {
    std::byte* packed = packs_.take(bytes);
    sending.packed.push_back(packed);
    pack_piece(arrival, item.points, packed);
    data = packed;
  }
  post_send(comm_->comm(), peer, value_tag, data, bytes, sending.requests);
}

void Source::answer_fetch(const Letter& letter) {
  const std::vector<WantedItem> items = letter.records<WantedItem>();
  Bytes there(items.size(), std::byte{0});
  std::vector<std::optional<Arrival>> found(items.size());
  std::uint64_t together = 0;
  for (std::size_t n = 0; n < items.size(); ++n) {
    found[n] = shelf_.find(letter.header.index, items[n].variable, items[n].block);
    if (found[n] && !found[n]->record.box.contains(items[n].points)) found[n].reset();
    if (!found[n]) continue;
    there[n] = std::byte{1};
    const std::uint64_t bytes = piece_bytes(found[n]->record, items[n].points);
    bytes_[letter.header.index] += bytes;
    if (is_small(bytes)) together += bytes;
  }
  outbox_.send(comm_->comm(), letter.from, letter_tag,
               write_letter(LetterKind::answer, letter.header.index, letter.header.number, there));
  Sending& sending = sending_.emplace_back();
  sending.index = letter.header.index;
  if (together > 0) {
    std::byte* const packed = packs_.take(together);
    sending.packed.push_back(packed);
    std::byte* at = packed;
    for (std::size_t n = 0; n < items.size(); ++n) {
      const std::uint64_t bytes = found[n] ? piece_bytes(found[n]->record, items[n].points) : small_piece;
      if (!is_small(bytes)) continue;
      pack_piece(*found[n], items[n].points, at);
      at += bytes;
    }
    post_send(comm_->comm(), letter.from, value_tag, packed, together, sending.requests);
  }
  for (std::size_t n = 0; n < items.size(); ++n) {
    if (!found[n] || is_small(piece_bytes(found[n]->record, items[n].points))) continue;
    send_large(letter.from, *found[n], items[n], sending);
  }
}

void Source::answer_ranges(const Letter& letter) {
  std::vector<BlockRange> ranges;
  for (const RangeRequest& request : letter.records<RangeRequest>()) {
    for (const Arrival& arrival : shelf_.of(letter.header.index, request.variable)) {
      if (arrival.record.block.cells.empty()) continue;
      BlockRange& range = ranges.emplace_back();
      range.block = arrival.record.block.id;
      range.variable = request.variable;
      measure_range(arrival.record.view(arrival.data), arrival.record.points(), request.component, range);
    }
  }
  outbox_.send(comm_->comm(), letter.from, letter_tag,
               write_letter(LetterKind::range_answer, letter.header.index, letter.header.number,
                            std::span<const BlockRange>(ranges)));
}

bool Source::move() {
  bool active = false;
  for (auto it = waiting_.begin(); it != waiting_.end();) {
    if (!shelf_.is_complete(it->header.index)) {
      ++it;
      continue;
    }
    if (it->header.kind == LetterKind::fetch) {
      answer_fetch(*it);
    } else {
      answer_ranges(*it);
    }
    it = waiting_.erase(it);
    active = true;
  }
  active |= !outbox_.sweep();
  sending_.remove_if([&](Sending& sending) {
    active = true;
    if (!test_all(sending.requests)) return false;
    for (std::byte* packed : sending.packed) packs_.give_back(packed);
    return true;
  });
  return active;
}

}  // namespace sidestream::mpi
