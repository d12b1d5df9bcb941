#include "base/mpi/abort_flag.hpp"

#include <algorithm>

#include "base/mpi/polite_wait.hpp"

namespace sidestream {

namespace {

constexpr int tag = 1;

}  // namespace

AbortFlag::AbortFlag(MpiCommunicator& all, std::vector<int> members)
    : all_(all.duplicate()), others_(std::move(members)) {
  const auto mine = std::find(others_.begin(), others_.end(), all_->rank());
  if (mine == others_.end()) {
    others_.clear();
  } else {
    others_.erase(mine);
  }
}

AbortFlag::~AbortFlag() = default;

/// Sends one word to each other member. It is so short that MPI takes it without waiting for the receiver.
void AbortFlag::say(bool raises) {
  if (notified_) return;
  notified_ = true;
  const int word = raises;
  for (const int other : others_) {
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(MPI_Isend(&word, 1, MPI_INT, other, tag, all_->comm(), &request), "MPI_Isend");
    polite_wait(request);
  }
}

void AbortFlag::listen() {
  for (int there = 1; there && spoken_ < others_.size();) {
    MPI_Message message;
    check_mpi(MPI_Improbe(MPI_ANY_SOURCE, tag, all_->comm(), &there, &message, MPI_STATUS_IGNORE), "MPI_Improbe");
    if (!there) return;
    int word = 0;
    check_mpi(MPI_Mrecv(&word, 1, MPI_INT, &message, MPI_STATUS_IGNORE), "MPI_Mrecv");
    raised_ = raised_ || word != 0;
    ++spoken_;
  }
}

bool AbortFlag::is_raised() {
  if (!raised_) listen();
  return raised_;
}

void AbortFlag::settle() {
  say(false);
  polite_poll([this] {
    listen();
    return spoken_ == others_.size();
  });
}

void Bell::send_or_receive() {
  check_mpi(MPI_Ibcast(&word_, 1, MPI_UINT64_T, 0, members_.comm(), &request_), "MPI_Ibcast");
}

void Bell::listen() {
  if (members_.rank() != 0) send_or_receive();
}

bool Bell::rung() {
  if (members_.rank() == 0) return false;
  int done = 0;
  check_mpi(MPI_Test(&request_, &done, MPI_STATUS_IGNORE), "MPI_Test");
  return done != 0;
}

bool Bell::ring(bool word, const std::function<void()>& meanwhile) {
  if (members_.rank() == 0) {
    word_ = word ? 1 : 0;
    if (members_.size() == 1) return word;
    send_or_receive();
  }
  polite_wait(request_, meanwhile);
  return word_ != 0;
}

}  // namespace sidestream
