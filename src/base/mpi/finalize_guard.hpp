// Work to be done when a program calls MPI_Finalize.
#pragma once

#include <mpi.h>

#include <functional>

namespace sidestream {

/// Runs `work` at the beginning of MPI_Finalize, while MPI still works, unless it is destroyed before. MPI runs guards
/// in the reverse order of their construction, so that `work` may be collective if all ranks made theirs in the same
/// order.
class FinalizeGuard {
 public:
  /// MPI must be initialised and not finalised. `work` must not throw.
  explicit FinalizeGuard(std::function<void()> work);
  ~FinalizeGuard();
  FinalizeGuard(const FinalizeGuard&) = delete;
  FinalizeGuard& operator=(const FinalizeGuard&) = delete;

 private:
  static int on_delete(MPI_Comm comm, int key, void* guard, void* state);

  std::function<void()> work_;
  int key_ = MPI_KEYVAL_INVALID;
  bool armed_ = true;
};

}  // namespace sidestream
