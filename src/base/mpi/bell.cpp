#include "base/mpi/bell.hpp"

#include "base/mpi/polite_wait.hpp"

namespace sidestream {

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
