#include "cosmology/halos/merge_tree/tree_queries.hpp"

#include <limits>

namespace sidestream::halos {

ValuedCell common_saddle(const DescentPath& a, const DescentPath& b) {
  for (std::size_t n = 0; n < a.tops.size(); ++n) {
    for (std::size_t m = 0; m < b.tops.size(); ++m) {
      if (!(a.tops[n] == b.tops[m])) continue;
      return a.from[n].below(b.from[m]) ? a.from[n] : b.from[m];
    }
  }
  return {-std::numeric_limits<double>::infinity(), -1};
}

}  // namespace sidestream::halos
