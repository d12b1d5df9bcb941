// Arguments of an analysis written as C functions.
#pragma once

#include "sidestream/extend/analysis.hpp"

/// Valid during one callback.
struct sidestream_input {
  const sidestream::Iteration* iteration;
  const sidestream::Metadata* metadata;
  const sidestream::LocalInput* local;        ///< null in a combine of results that others have reduced
  const sidestream::CombineInput* combine;    ///< null in local
  const sidestream_input* entries = nullptr;  ///< entries of the analysis' selection, as many as local->entries
  std::int64_t entry = -1;                    ///< index of this entry; -1: none

  /// The blocks of a variable, or null if it is not declared or has no blocks here.
  [[nodiscard]] const std::vector<sidestream::BlockView>* blocks(const char* variable) const {
    const sidestream::Variable* found = local && variable ? metadata->find_variable(variable) : nullptr;
    if (!found) return nullptr;
    return entry < 0 ? &local->of(found->id) : &local->at(static_cast<std::size_t>(entry), found->id);
  }
};
