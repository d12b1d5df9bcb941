// Early end of a run in good order: on a signal, or because a rank failed.
#pragma once

#include "mini_app/stop.hpp"

namespace oscillators {

/// Agreement of the ranks after each step; the greatest wins.
enum class Verdict : int { go_on = 0, stop = 1, failed = 2 };

/// Collective over `comm`: the worst verdict of all ranks; a caught signal counts as `stop`.
[[nodiscard]] inline Verdict agree(MPI_Comm comm, Verdict mine) {
  return static_cast<Verdict>(mini_app::agreed_verdict(comm, static_cast<int>(mine)));
}

}  // namespace oscillators
