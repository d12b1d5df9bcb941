#include "transport/mpi/partials.hpp"

#include <algorithm>
#include <cstring>

#include "base/fail.hpp"
#include "base/persist.hpp"
#include "base/polite_wait.hpp"

namespace sidestream::mpi {

namespace {

/// Looks often at first, then ever more rarely; `look` returns true when the wait is over.
template <class Look>
void look_until(Look&& look) {
  constexpr int spins = 50;
  constexpr long longest_us = 100;
  long pause = 2;
  for (int tries = 0; !look(); ++tries) {
    if (tries < spins) continue;
    nap(pause);
    pause = std::min(longest_us, pause + pause / 2 + 1);
  }
}

Bytes letter_of(const PartialLetter& partial) {
  return write_letter(LetterKind::partial, partial.iteration.index, 0, std::span<const PartialLetter>(&partial, 1));
}

}  // namespace

Sender::Sender(std::shared_ptr<MpiCommunicator> comm, int server, std::vector<int> others)
    : comm_(std::move(comm)), server_(server), others_(std::move(others)), mailbox_(comm_->comm()) {
  sleep_exactly();
}

std::string Sender::combine(const PartialRound& round, BytesView partial, Bytes& feedback) {
  PartialLetter letter{round.iteration, round.task, round.pass, partial.size(), 0, 0};
  // All servers wait for all of it, and other reducing ones for the answer.
  persist([&] { outbox_.send(comm_->comm(), server_, letter_tag, letter_of(letter)); });
  std::vector<MPI_Request> sending;
  if (!partial.empty()) {
    persist([&] { post_send(comm_->comm(), server_, value_tag, partial.data(), partial.size(), sending); });
  }
  letter.none = 1;
  letter.bytes = 0;
  for (const int other : others_) {
    persist([&] { outbox_.send(comm_->comm(), other, letter_tag, letter_of(letter)); });
  }
  std::optional<Letter> answer;
  look_until([&] {
    if (!answer) answer = mailbox_.take();
    outbox_.sweep();
    if (meanwhile_) meanwhile_();
    return test_all(sending) && answer;
  });
  // `number`: length of the sentence that says what failed; what remains is feedback.
  const auto length = static_cast<std::size_t>(answer->header.number);
  if (answer->header.kind != LetterKind::combined || length > answer->body.size()) {
    fail(Code::system, "rank {} answered a partial result with something else", answer->from);
  }
  persist([&] { feedback.assign(answer->body.begin() + static_cast<std::ptrdiff_t>(length), answer->body.end()); });
  return std::string(reinterpret_cast<const char*>(answer->body.data()), length);
}

void Sender::close() {
  const auto tell = [&](int rank) {
    persist([&] {
      outbox_.send(comm_->comm(), rank, letter_tag, write_letter(LetterKind::last_partial, 0, 0, BytesView{}));
    });
  };
  tell(server_);
  for (const int other : others_) tell(other);
  look_until([&] { return outbox_.sweep(); });
}

Receiver::Receiver(std::shared_ptr<MpiCommunicator> comm, const std::vector<int>& reporters)
    : comm_(std::move(comm)), mailbox_(comm_->comm()) {
  sleep_exactly();
  for (const int rank : reporters) coming_[rank];
}

Receiver::~Receiver() {
  if (mpi_is_finalized()) return;
  for (auto& [rank, queue] : coming_) {
    for (Coming& one : queue) {
      for (MPI_Request& request : one.requests) MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
  }
}

void Receiver::poll() {
  while (const std::optional<Letter> letter = mailbox_.take()) {
    persist([&] { coming_.at(letter->from).emplace_back(); });
    Coming& one = coming_.at(letter->from).back();
    if (letter->header.kind == LetterKind::last_partial) {
      one.last = true;
      continue;
    }
    persist([&] { one.letter = letter->records<PartialLetter>().at(0); });
    persist([&] { one.bytes.resize(one.letter.bytes); });
    if (one.bytes.empty()) continue;
    persist([&] {
      post_receive(comm_->comm(), letter->from, value_tag, one.bytes.data(), one.bytes.size(), one.requests);
    });
  }
  outbox_.sweep();
}

bool Receiver::complete() {
  return std::all_of(coming_.begin(), coming_.end(),
                     [](auto& entry) { return !entry.second.empty() && test_all(entry.second.front().requests); });
}

std::optional<ReceivedRound> Receiver::next() {
  look_until([&] {
    poll();
    return complete();
  });
  ReceivedRound received;
  to_answer_.clear();
  const Coming& first = coming_.begin()->second.front();
  if (first.last) return std::nullopt;
  received.round = {first.letter.iteration, first.letter.task, first.letter.pass};
  for (auto& [rank, queue] : coming_) {
    Coming& one = queue.front();
    const PartialRound round{one.letter.iteration, one.letter.task, one.letter.pass};
    if (one.last || !(round == received.round)) {
      fail(Code::internal, "rank {} and others are in different rounds of partial results", rank);
    }
    if (!one.letter.none) {
      persist([&] { received.partials.emplace_back(); });
      received.partials.back() = std::move(one.bytes);
      persist([&, rank = rank] { to_answer_.push_back(rank); });
    }
    queue.pop_front();
  }
  return received;
}

void Receiver::answer(const std::string& failure, BytesView feedback) {
  Bytes body;
  persist([&] { body.resize(failure.size() + feedback.size()); });
  if (!failure.empty()) std::memcpy(body.data(), failure.data(), failure.size());
  if (!feedback.empty()) std::memcpy(body.data() + failure.size(), feedback.data(), feedback.size());
  for (const int rank : to_answer_) {
    persist([&] {
      outbox_.send(comm_->comm(), rank, letter_tag,
                   write_letter(LetterKind::combined, 0, static_cast<std::int64_t>(failure.size()), body));
    });
  }
  outbox_.sweep();
}

}  // namespace sidestream::mpi
