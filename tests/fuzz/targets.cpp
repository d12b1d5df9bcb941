#include "targets.hpp"

#include <array>

namespace sidestream::fuzz {

std::span<const Target> targets() noexcept {
  static constexpr std::array all{
      Target{"contexts", run_contexts},       Target{"expressions", run_expressions},
      Target{"record", run_record},           Target{"json", run_json},
      Target{"tables", run_tables},           Target{"chunk", run_chunk},
      Target{"tree_flags", run_tree_flags},
#ifdef SIDESTREAM_FUZZ_TREE_VALUES
      Target{"tree_values", run_tree_values},
#endif
#ifdef SIDESTREAM_FUZZ_DAMARIS
      Target{"damaris", run_damaris},
#endif
  };
  return all;
}

}  // namespace sidestream::fuzz
