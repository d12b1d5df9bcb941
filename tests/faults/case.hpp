// A case of the fault sweep: a placement, its processes, and the point at which memory runs out.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace sidestream::testing {

inline constexpr std::array<std::string_view, 9> stage_names{"open", "declare", "start", "publish",  "keep",
                                                             "end",  "close",   "serve", "iteration"};
/// The index of a stage in `stage_names`.
[[nodiscard]] constexpr std::size_t number_of(std::string_view stage) {
  std::size_t n = 0;
  while (stage_names[n] != stage) ++n;
  return n;
}

/// A process, and its stages that are tried.
struct Target {
  int rank;
  std::vector<std::string> stages;
};

struct Case {
  std::string name, placement;
  int ranks = 0;
  int separate = 0;      ///< this number of last ranks are a job of their own: servers of `sidecar`, or an endpoint
  bool has_mark = true;  ///< the analysis that marks work on an iteration can be registered
  std::vector<Target> targets;
  bool groups = false;  ///< servers are divided into two groups, `a` and `b`
};

/// Memory runs out once, at the n-th allocation of a stage of one process. With `n` 0 it never does.
struct Fault {
  int rank = -1;
  std::string stage;
  long n = 0;

  [[nodiscard]] std::string text() const {
    return n == 0 ? "no fault" : "rank " + std::to_string(rank) + ", " + stage + ", allocation " + std::to_string(n);
  }
};

/// All cases; by name.
[[nodiscard]] const std::vector<Case>& cases();

}  // namespace sidestream::testing
