// Merging of parts of components over all servers.
//
// Each server reduces its pairs of parts that touch to a spanning forest and sends it to all others. All build the same
// union-find structure (Forest), so every server knows the component of each of its parts.
#include "cosmology/halos/finder/merge_components.hpp"

#include <algorithm>
#include <span>

#include "sidestream/kit/base/records.hpp"
#include "sidestream/kit/reduce/union_find.hpp"

namespace sidestream::halos {
namespace {

/// Components of parts that are named in pairs.
class Forest {
 public:
  explicit Forest(const std::vector<PartPair>& pairs) {
    for (const PartPair& pair : pairs) names_.insert(names_.end(), pair.begin(), pair.end());
    std::sort(names_.begin(), names_.end());
    names_.erase(std::unique(names_.begin(), names_.end()), names_.end());
    joined_ = UnionFind<std::size_t>(names_.size());
    for (const PartPair& pair : pairs) joined_.join(place(pair[0]), place(pair[1]));
  }
  [[nodiscard]] std::vector<PartPair> pairs() {
    std::vector<PartPair> all;
    for (std::size_t n = 0; n < names_.size(); ++n) {
      const std::size_t root = joined_.find(n);
      if (root != n) all.push_back({names_[root], names_[n]});
    }
    return all;
  }
  [[nodiscard]] std::int64_t root_of(std::int64_t part) {
    const std::size_t n = place(part);
    return n < names_.size() && names_[n] == part ? names_[joined_.find(n)] : part;
  }

 private:
  [[nodiscard]] std::size_t place(std::int64_t name) const {
    return static_cast<std::size_t>(std::lower_bound(names_.begin(), names_.end(), name) - names_.begin());
  }
  std::vector<std::int64_t> names_;
  UnionFind<std::size_t> joined_;
};

}  // namespace

PartNumbers::PartNumbers(std::size_t mine, Communicator& servers)
    : rank_(static_cast<std::size_t>(servers.rank())), ends_{0} {
  for (const Bytes& bytes : servers.all_gather(bytes_of(mine))) {
    ends_.push_back(ends_.back() + static_cast<std::int64_t>(record_of<std::size_t>(bytes)));
  }
}

int PartNumbers::server_of(std::int64_t part) const noexcept {
  return static_cast<int>(std::upper_bound(ends_.begin(), ends_.end(), part) - ends_.begin()) - 1;
}

std::vector<std::int64_t> join_parts(const std::vector<PartPair>& pairs, std::size_t parts, const PartNumbers& numbers,
                                     Communicator& servers) {
  const std::vector<PartPair> mine = Forest(pairs).pairs();
  std::vector<PartPair> all;
  for (const Bytes& bytes : servers.all_gather(std::as_bytes(std::span(mine)))) {
    const auto theirs = records_of<PartPair>(bytes);
    all.insert(all.end(), theirs.begin(), theirs.end());
  }
  Forest forest(all);
  std::vector<std::int64_t> roots(parts);
  for (std::size_t n = 0; n < parts; ++n) roots[n] = forest.root_of(numbers.first() + static_cast<std::int64_t>(n));
  return roots;
}

}  // namespace sidestream::halos
