// Work to be done when a program calls MPI_Finalize.
#pragma once

#include <mpi.h>

#include <functional>
#include <utility>

#include "base/mpi/communicator.hpp"
#include "base/mpi/polite_wait.hpp"

namespace sidestream {

/// Runs `work` at the beginning of MPI_Finalize, while MPI still works, unless it is destroyed before. MPI runs guards
/// in the reverse order of their construction, so that `work` may be collective if all ranks made theirs in the same
/// order.
class FinalizeGuard {
 public:
  /// MPI must be initialised and not finalised. `work` must not throw.
  explicit FinalizeGuard(std::function<void()> work) : work_(std::move(work)) {
    check_mpi(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &key_, nullptr), "MPI_Comm_create_keyval");
    check_mpi(MPI_Comm_set_attr(MPI_COMM_SELF, key_, this), "MPI_Comm_set_attr");
  }
  ~FinalizeGuard() {
    const bool pending = std::exchange(armed_, false);
    if (mpi_is_finalized()) return;
    // In MPI_Finalize the attribute is already being deleted.
    if (pending) MPI_Comm_delete_attr(MPI_COMM_SELF, key_);
    MPI_Comm_free_keyval(&key_);
  }
  FinalizeGuard(const FinalizeGuard&) = delete;
  FinalizeGuard& operator=(const FinalizeGuard&) = delete;

 private:
  // MPI_Finalize deletes the attributes of MPI_COMM_SELF before it does anything else (MPI 3.1, 8.7.1).
  static int on_delete(MPI_Comm, int, void* guard, void*) {
    auto* self = static_cast<FinalizeGuard*>(guard);
    if (std::exchange(self->armed_, false)) self->work_();
    return MPI_SUCCESS;
  }

  std::function<void()> work_;
  int key_ = MPI_KEYVAL_INVALID;
  bool armed_ = true;
};

}  // namespace sidestream
