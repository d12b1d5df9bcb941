// Waiting for MPI without keeping a core busy.
// Pending sends and receives of bytes of any length.
#pragma once

#include <mpi.h>
#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace sidestream {

/// Throws Error(system) with MPI's own text if `code` is not MPI_SUCCESS; `call` names the function.
void check_mpi(int code, const char* call);

/// Asks `done` until it is true, at growing intervals, sleeping in between (at most 100 µs). `meanwhile`, if set, is
/// called in between; its exceptions are thrown when the wait is over.
void polite_poll(const std::function<bool()>& done, const std::function<void()>& meanwhile = {});

/// Waits for `request`, testing at growing intervals and sleeping in between (at most 100 µs). A waiting server thus
/// leaves its core to others. `meanwhile`, if set, is called between tests.
void polite_wait(MPI_Request& request, const std::function<void()>& meanwhile = {});

// Notes for people while something is waited for.

/// Writes one line to standard error when the waiting has lasted a moment: `sidestream: note: waiting for ...`. On a
/// terminal the line also shows how long it has lasted, and vanishes when the waiting is over.
class WaitNote {
 public:
  /// `speaks` is true on one process of a group only. `limit` is in seconds; 0: as long as it takes.
  WaitNote(bool speaks, std::string what, double limit = 0);
  ~WaitNote();
  WaitNote(const WaitNote&) = delete;
  WaitNote& operator=(const WaitNote&) = delete;
  /// Call it repeatedly while waiting.
  void look() noexcept;

 private:
  std::string what_;
  double limit_, began_, shown_ = -1;
  bool speaks_, terminal_;
};

/// Writes a hint, once, if something that should be quick takes long.
class LateNote {
 public:
  /// `speaks` is true on one process of a group only. `patience` is in seconds.
  LateNote(bool speaks, double patience, std::string text);
  /// Call it repeatedly while waiting.
  void look() noexcept;

 private:
  std::string text_;
  double end_;
  bool speaks_;
};

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
