// Copies of values between boxes on any ranks.
#pragma once

#include <mpi.h>

#include <span>
#include <vector>

#include "box.hpp"

namespace advection {

/// A box and its owner's rank.
struct Owned {
  Box box;
  int owner = 0;
};

/// Periods of a level in cells along each axis; 0: not periodic.
using Period = Index3;

/// Made once for a set of boxes and run as long as they stay. All ranks make it from the same boxes.
class CopyPlan {
 public:
  CopyPlan() = default;
  /// Each box in `to` gets the values of overlapping boxes in `from`, including periodic images. Does not communicate.
  CopyPlan(MPI_Comm comm, std::span<const Owned> from, std::span<const Owned> to, const Period& period);

  /// Collective. `from` and `to` have an entry per box, which is used on the box's rank and must cover it. Where boxes
  /// of `from` overlap, their values must agree.
  void run(std::span<const Field* const> from, std::span<Field* const> to) const;

 private:
  struct Part {
    std::size_t from, to;
    Box box;       // in the target
    Index3 shift;  // from the source to the target
    int sender, receiver;
  };
  void add(std::span<const Owned> from, std::size_t number, const Owned& to, const Period& period);
  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  std::vector<Part> parts_;  // parts that this rank sends or receives
};

}  // namespace advection
