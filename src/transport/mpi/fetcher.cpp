#include "transport/mpi/fetcher.hpp"

#include <algorithm>
#include <limits>

#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/waiting.hpp"
#include "transport/mpi/source.hpp"

namespace sidestream::mpi {

Fetcher::Fetcher(std::shared_ptr<MpiCommunicator> comm, std::vector<ValueShape> shapes)
    : comm_(std::move(comm)), shapes_(std::move(shapes)), pool_(std::numeric_limits<std::uint64_t>::max()) {}

Fetcher::~Fetcher() {
  if (mpi_is_finalized()) return;
  for (MPI_Request& request : requests_) MPI_Wait(&request, MPI_STATUS_IGNORE);
}

std::uint64_t Fetcher::bytes_of_piece(std::size_t n) const {
  const ValueShape& shape = shapes_.at(static_cast<std::size_t>(wanted_[n].variable));
  return packed_bytes(wanted_[n].points, shape.components, shape.type);
}

std::byte* Fetcher::memory(std::uint64_t bytes) { return taken_.emplace_back(pool_.take(bytes)); }

/// Takes values that lie in this process: whole arrays are read in place, parts are copied.
void Fetcher::take_own(std::int64_t index, std::size_t n, const ValueStore& own) {
  const auto found = own.find(index, wanted_[n].variable, wanted_[n].block.id);
  if (!found || !found->record.box.contains(wanted_[n].points)) return;
  if (found->record.box == wanted_[n].points) {
    values_[n] = found->data;
    return;
  }
  std::byte* at = memory(bytes_of_piece(n));
  pack_piece(*found, wanted_[n].points, at);
  values_[n] = at;
}

void Fetcher::ask(std::int64_t index, std::span<const Wanted> wanted, std::span<const int> holders,
                  const ValueStore& own, SendQueue& send_queue) {
  forget_round();
  ++number_;
  std::map<int, std::vector<WantedItem>> items;
  const std::size_t before = taken_.size();
  try {
    wanted_.assign(wanted.begin(), wanted.end());
    values_.assign(wanted.size(), nullptr);
    for (std::size_t n = 0; n < wanted.size(); ++n) {
      if (holders[n] == comm_->rank()) {
        take_own(index, n, own);
        continue;
      }
      items[holders[n]].push_back({wanted[n].block.id, wanted[n].variable, 0, wanted[n].points});
      asked_[holders[n]].pieces.push_back(n);
    }
    // Reserves all memory before the first request, because every value that was requested must be received.
    for (auto& [holder, asked] : asked_) reserve(asked);
  } catch (...) {
    give_back_from(before);
    forget_round();
    throw;
  }
  for (const auto& [holder, list] : items) {
    retry_while_out_of_memory([&] {
      send_queue.send(comm_->comm(), holder, packet_tag,
                      write_packet(PacketKind::fetch, index, number_, std::span<const WantedItem>(list)));
    });
  }
}

void Fetcher::reserve(Asked& asked) {
  std::uint64_t together = 0;
  for (const std::size_t n : asked.pieces) {
    const std::uint64_t bytes = bytes_of_piece(n);
    if (is_small(bytes)) {
      together += bytes;
    } else {
      asked.large.push_back(memory(bytes));
    }
  }
  if (together > 0) asked.together = memory(together);
}

bool Fetcher::take(const Packet& answer) {
  if (answer.header.number != number_) return false;
  Asked& asked = asked_.at(answer.from);
  if (answer.body.size() != asked.pieces.size()) {
    fail(Code::system, "rank {} answered {} pieces where {} were asked for", answer.from, answer.body.size(),
         asked.pieces.size());
  }
  asked.answered = true;
  if (std::find(answer.body.begin(), answer.body.end(), no_memory) != answer.body.end()) {
    failed_ = answer.from;
    return true;
  }
  std::uint64_t together = 0;
  for (std::size_t p = 0; p < asked.pieces.size(); ++p) {
    const std::uint64_t bytes = bytes_of_piece(asked.pieces[p]);
    if (answer.body[p] == std::byte{0}) continue;
    bytes_ += bytes;
    if (is_small(bytes)) together += bytes;
  }
  std::byte* at = asked.together;
  // The holder has promised these values, so they must be received.
  if (together > 0)
    retry_while_out_of_memory([&] { post_receive(comm_->comm(), answer.from, value_tag, at, together, requests_); });
  auto next_large = asked.large.begin();
  for (std::size_t p = 0; p < asked.pieces.size(); ++p) {
    const std::size_t n = asked.pieces[p];
    const std::uint64_t bytes = bytes_of_piece(n);
    std::byte* const data = is_small(bytes) ? nullptr : *next_large++;
    if (answer.body[p] == std::byte{0}) continue;
    if (is_small(bytes)) {
      values_[n] = at;
      at += bytes;
      continue;
    }
    retry_while_out_of_memory([&] { post_receive(comm_->comm(), answer.from, value_tag, data, bytes, requests_); });
    values_[n] = data;
  }
  return true;
}

bool Fetcher::done() {
  const bool answered = std::all_of(asked_.begin(), asked_.end(), [](const auto& a) { return a.second.answered; });
  return test_all(requests_) && answered;
}

void Fetcher::give_back_from(std::size_t first) noexcept {
  for (std::size_t n = first; n < taken_.size(); ++n) pool_.give_back(taken_[n]);
  taken_.resize(first);
}

void Fetcher::release() {
  give_back_from(0);
  forget_round();
}

void Fetcher::forget_round() noexcept {
  wanted_.clear();
  values_.clear();
  asked_.clear();
  failed_ = -1;
}

}  // namespace sidestream::mpi
