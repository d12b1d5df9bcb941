// The ranks of the simulation, as far as they have to agree. ranks.cpp is the only file here that calls MPI.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace sidestream::interop {

/// The communicator of the host. Starts MPI if the host has not, and then ends it, too.
class Ranks {
 public:
  /// `fortran_handle` is what MPI_Comm_c2f gave; -1: all ranks.
  explicit Ranks(std::int64_t fortran_handle);
  /// The ranks [first, last) of all ranks. Collective over these. Throws Error.
  Ranks(int first, int last);
  /// The number of this rank among all; 0 if MPI has not started.
  [[nodiscard]] static int this_rank();
  /// Throws Error(usage) if MPI may not be called from this thread: it was started for another one only.
  static void check_thread();
  /// The ranks of a communicator, which becomes this object's.
  [[nodiscard]] static std::unique_ptr<Ranks> taking(MPI_Comm comm);
  /// Only this process. Throws Error(system).
  [[nodiscard]] static std::unique_ptr<Ranks> one_process();
  /// True if MPI runs, or may be started here: not in a launcher's job, nor where the program may yet start it.
  [[nodiscard]] static bool can_be_one_process();
  ~Ranks();
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  [[nodiscard]] MPI_Comm comm() const noexcept { return comm_; }
  [[nodiscard]] int rank() const noexcept { return rank_; }
  [[nodiscard]] int size() const noexcept { return size_; }
  /// Every rank's text, by rank, on every rank. Collective. Throws Error(system). The first call says on standard error
  /// if some of all ranks of the job do not come.
  [[nodiscard]] std::vector<std::string> gather(const std::string& text) const;
  /// True if both are the same ranks in the same order.
  [[nodiscard]] bool same_as(const Ranks& other) const;
  /// Calls a function while MPI still runs: in MPI_Finalize or, if this object has started MPI, at exit. What sessions
  /// do there comes first if they opened later.
  void before_end(void (*function)()) const;

 private:
  Ranks(MPI_Comm comm, bool own, bool started);
  void meet() const;
  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1;
  bool started_ = false;
  bool own_ = false;          ///< the communicator was made here
  mutable bool met_ = false;  ///< all ranks have called gather
};

}  // namespace sidestream::interop
