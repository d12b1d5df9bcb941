// Analyses written in C: their kinds, and the arguments of their functions.
#pragma once

#include "sidestream/analysis.h"
#include "sidestream/extend/analysis.hpp"
#include "sidestream/extend/registry.hpp"

namespace sidestream {

/// The kind that such a table describes. The table is copied; the objects it points to must outlive the kind. Throws
/// Error(usage) if the table is incomplete.
[[nodiscard]] AnalysisKind kind_of(const sidestream_analysis& table);

/// Registers the result of a plug-in's sidestream_c_plugin(). Throws Error(usage).
void register_c_plugin(const void* header, Registry& registry);

}  // namespace sidestream

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
