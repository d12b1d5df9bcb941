// Values of some boxes into others, whichever ranks have them.
#pragma once

#include <mpi.h>

#include <span>
#include <vector>

#include "box.hpp"

namespace advection {

/// A box and the rank that has it.
struct Owned {
  Box box;
  int owner = 0;
};

/// How a level goes on at its ends: the cells along each axis after which everything is as before; 0: it does not.
using Period = Index3;

/// Made once for some boxes, run as often as they stay. All ranks make it from the same boxes.
class CopyPlan {
 public:
  CopyPlan() = default;
  /// Each of `to` gets what boxes of `from` have of it, also one period further. Does not communicate.
  CopyPlan(MPI_Comm comm, std::span<const Owned> from, std::span<const Owned> to, const Period& period);

  /// Collective. `from` and `to` have an entry for each box, which is used on the rank that has the box and must cover
  /// it. Where several boxes of `from` have a place, they must have the same there.
  void run(std::span<const Field* const> from, std::span<Field* const> to) const;

 private:
  struct Part {
    std::size_t from, to;
    Box box;       // of the target
    Index3 shift;  // from the source to the target
    int sender, receiver;
  };
  void add(std::span<const Owned> from, std::size_t number, const Owned& to, const Period& period);
  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  std::vector<Part> parts_;  // those that this rank sends or receives
};

}  // namespace advection
