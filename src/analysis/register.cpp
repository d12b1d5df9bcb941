#include "analysis/common/kinds.hpp"

namespace sidestream {

void register_analyses(Registry& registry) {
  registry.add(statistics_kind());
  registry.add(histogram_kind());
  registry.add(histogram2d_kind());
  registry.add(python_kind());
}

}  // namespace sidestream
