#include "server/redistribution/entry_views.hpp"

#include <algorithm>

namespace sidestream {

const PieceViews* find_pieces(const Views& views, const Selected& like, std::int32_t variable) {
  Selected wanted = like;
  wanted.variable = variable;
  const auto found = std::find_if(views.pieces.begin(), views.pieces.end(),
                                  [&](const PieceViews& pieces) { return same_pieces(pieces.selected, wanted); });
  return found == views.pieces.end() ? nullptr : &*found;
}

std::vector<EntryViews> entry_views(const std::vector<Selected>& entries, const Metadata& metadata,
                                    const Views& views) {
  std::vector<EntryViews> result;
  for (const Selected& entry : entries) {
    EntryViews& one = result.emplace_back();
    one.variable = entry.variable;
    one.views.resize(metadata.variables.size(), nullptr);
    const auto give = [&](std::int32_t variable) {
      const auto v = static_cast<std::size_t>(variable);
      if (entry.decomposition.is_published()) {
        one.views[v] = &views.blocks[v];
      } else if (const PieceViews* pieces = find_pieces(views, entry, variable)) {
        one.views[v] = &pieces->views;
      }
    };
    give(entry.variable);
    for (const std::int32_t array :
         metadata.mesh_of(metadata.variables[static_cast<std::size_t>(entry.variable)]).arrays) {
      if (array >= 0) give(array);
    }
  }
  return result;
}

}  // namespace sidestream
