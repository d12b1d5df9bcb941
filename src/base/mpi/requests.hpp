// Pending sends and receives of bytes of any length.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "base/mpi/polite_wait.hpp"

namespace sidestream {

/// Number of messages that so many bytes take: MPI counts are ints.
inline std::size_t pieces_of(std::size_t bytes, std::size_t piece) { return (bytes + piece - 1) / piece; }

/// Pending sends and receives. Room for them is reserved before the first is posted; whatever is thrown, MPI has
/// released their memory when this object is destroyed.
class Requests {
 public:
  explicit Requests(std::size_t most) { requests_.reserve(most); }
  ~Requests() {
    for (MPI_Request& request : requests_) {
      if (request == MPI_REQUEST_NULL) continue;
      MPI_Cancel(&request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
  }
  Requests(const Requests&) = delete;
  Requests& operator=(const Requests&) = delete;

  void send(const std::byte* data, std::size_t bytes, int to, int tag, std::size_t piece, MPI_Comm comm) {
    for (std::size_t at = 0; at < bytes; at += piece) {
      const int now = static_cast<int>(std::min(piece, bytes - at));
      MPI_Request request;
      check_mpi(MPI_Isend(data + at, now, MPI_BYTE, to, tag, comm, &request), "MPI_Isend");
      requests_.push_back(request);
    }
  }
  void receive(std::byte* data, std::size_t bytes, int from, int tag, std::size_t piece, MPI_Comm comm) {
    for (std::size_t at = 0; at < bytes; at += piece) {
      const int now = static_cast<int>(std::min(piece, bytes - at));
      MPI_Request request;
      check_mpi(MPI_Irecv(data + at, now, MPI_BYTE, from, tag, comm, &request), "MPI_Irecv");
      requests_.push_back(request);
    }
  }
  template <class Wait>
  void finish(Wait&& wait) {
    for (MPI_Request& request : requests_) wait(request);
    requests_.clear();
  }

 private:
  std::vector<MPI_Request> requests_;
};

}  // namespace sidestream
