// What an analysis written as C functions gets.
#pragma once

#include "sidestream/extend/analysis.hpp"

/// Valid during one callback.
struct sidestream_input {
  const sidestream::Iteration* iteration;
  const sidestream::Metadata* metadata;
  const sidestream::LocalInput* local;        ///< null in a combine of what others have reduced
  const sidestream::CombineInput* combine;    ///< null in local
  const sidestream_input* entries = nullptr;  ///< of the analysis' selection, as many as local->entries
  std::int64_t entry = -1;                    ///< the one that this is; -1: none

  /// The blocks of a variable, or null if it is not declared or there are none to be asked for.
  [[nodiscard]] const std::vector<sidestream::BlockView>* blocks(const char* variable) const {
    const sidestream::Variable* found = local && variable ? metadata->find_variable(variable) : nullptr;
    if (!found) return nullptr;
    return entry < 0 ? &local->of(found->id) : &local->at(static_cast<std::size_t>(entry), found->id);
  }
};
