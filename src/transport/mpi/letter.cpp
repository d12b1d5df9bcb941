#include "transport/mpi/letter.hpp"

#include <algorithm>

#include "base/communicator.hpp"
#include "base/fail.hpp"
#include "base/persist.hpp"
#include "base/polite_wait.hpp"

namespace sidestream::mpi {

void Letter::check_length(std::size_t record) const {
  if (body.size() % record == 0) return;
  fail(Code::system, "rank {} sent a message of {} bytes where records of {} were expected", from, body.size(), record);
}

Bytes write_letter(LetterKind kind, std::int64_t index, std::int64_t number, BytesView body) {
  if (body.size() > longest_message - sizeof(LetterHeader)) {
    fail(Code::system,
         "a message of {} bytes about blocks or results is too long, {} are possible; use fewer blocks on a "
         "rank",
         body.size(), longest_message);
  }
  LetterHeader header;
  header.layout = letter_layout();
  header.kind = kind;
  header.index = index;
  header.number = number;
  Bytes bytes(sizeof header + body.size());
  std::memcpy(bytes.data(), &header, sizeof header);
  if (!body.empty()) std::memcpy(bytes.data() + sizeof header, body.data(), body.size());
  return bytes;
}

Mailbox::~Mailbox() {
  if (mpi_is_finalized()) return;
  for (Incoming& letter : incoming_) {
    if (!letter.complete) MPI_Wait(&letter.request, MPI_STATUS_IGNORE);
  }
}

void Mailbox::accept() {
  for (;;) {
    int there = 0;
    MPI_Message message;
    MPI_Status status;
    check_mpi(MPI_Improbe(MPI_ANY_SOURCE, letter_tag, comm_, &there, &message, &status), "MPI_Improbe");
    if (!there) return;
    int count = 0;
    check_mpi(MPI_Get_count(&status, MPI_BYTE, &count), "MPI_Get_count");
    // A deque keeps its elements in place: MPI writes into them. MPI has given the message out: memory is waited for.
    persist([&] { incoming_.emplace_back(); });
    Incoming& letter = incoming_.back();
    letter.from = status.MPI_SOURCE;
    persist([&] { letter.bytes.resize(static_cast<std::size_t>(count)); });
    letter.complete = false;
    check_mpi(MPI_Imrecv(letter.bytes.data(), count, MPI_BYTE, &message, &letter.request), "MPI_Imrecv");
  }
}

std::optional<Letter> Mailbox::take() {
  accept();
  for (auto it = incoming_.begin(); it != incoming_.end(); ++it) {
    if (!it->complete) {
      int done = 0;
      check_mpi(MPI_Test(&it->request, &done, MPI_STATUS_IGNORE), "MPI_Test");
      it->complete = done != 0;
    }
    const bool earlier = std::any_of(incoming_.begin(), it, [&](const Incoming& e) { return e.from == it->from; });
    if (!it->complete || earlier) continue;
    Letter letter;
    letter.from = it->from;
    const Bytes& bytes = it->bytes;
    const LetterHeader expected;
    if (bytes.size() >= sizeof expected) std::memcpy(&letter.header, bytes.data(), sizeof letter.header);
    if (bytes.size() < sizeof expected || letter.header.magic != expected.magic ||
        letter.header.layout != letter_layout()) {
      fail(
          Code::system,
          "rank {} sent a message that this version of Sidestream does not know; start all ranks with the same library",
          letter.from);
    }
    // Others wait for what it asks for or says.
    persist([&] { letter.body.assign(bytes.begin() + sizeof expected, bytes.end()); });
    // Erasing in the middle would move requests' buffers' owners, which is fine: the memory they point to stays.
    incoming_.erase(it);
    return letter;
  }
  return std::nullopt;
}

}  // namespace sidestream::mpi
