// The number of each cell's halo, as an array over the whole mesh.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cosmology/halos/finder/box_runs.hpp"
#include "cosmology/halos/finder/halo.hpp"
#include "cosmology/halos/finder/halo_options.hpp"
#include "sidestream/extend/task.hpp"

namespace sidestream::halos {

struct LabelQuery {
  std::string file;
  Pieces pieces = Pieces::automatic;
};

/// The options of `labels`.
[[nodiscard]] OptionTable<LabelQuery> label_options();

/// Collective: writes a data set with the numbers of halos as int32, -1 for cells without one, and the positions of
/// cells. `runs`: of this server's halos. Servers have contiguous planes of the mesh, 4 bytes for each of their cells.
void write_labels(const LabelQuery& query, const Field& field, const std::vector<NumberedPiece<Run>>& runs,
                  const CombineInput& input);

}  // namespace sidestream::halos
