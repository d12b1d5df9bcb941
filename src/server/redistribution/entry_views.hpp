// From what was assembled for all tasks to what each entry of one task's selection asked for.
#pragma once

#include <vector>

#include "server/redistribution/redistribution.hpp"
#include "sidestream/data/metadata.hpp"
#include "sidestream/extend/analysis.hpp"

namespace sidestream {

/// `entries`: as the task asked, without the arrays of meshes; these are found by the meshes. Points into `views`.
[[nodiscard]] std::vector<EntryViews> entry_views(const std::vector<Selected>& entries, const Metadata& metadata,
                                                  const Views& views);

/// The views of one decomposition, or null if nobody asked for it. `like`: of another variable, in the same pieces.
[[nodiscard]] const PieceViews* find_pieces(const Views& views, const Selected& like, std::int32_t variable);

}  // namespace sidestream
