// Merging of parts of components over all servers.
//
// 1. Every row of the mesh has a keeper among the servers. Border runs are sent to the keeper of their row as taken
//    places, and to the keepers of later neighbouring rows, widened by the connectivity, as sought places (Posted).
// 2. Each keeper sorts both lists and merges them: where a taken and a sought place overlap, their parts are joined
//    (meetings).
// 3. Each server reduces its pairs to a spanning forest and sends it to all others. All build the same union-find
//    structure (Forest), so every server knows the component of each of its parts.
#include "cosmology/halos/finder/merge_components.hpp"

#include <algorithm>

#include "sidestream/kit/reduce/union_find.hpp"

namespace sidestream::halos {
namespace {

/// Contiguous places of a row: places that a part takes, or places that it seeks because it continues there.
struct Places {
  Index row = 0, first = 0, last = 0;
  std::int64_t part = 0;
  [[nodiscard]] bool before(const Places& other) const noexcept {
    return row != other.row ? row < other.row : first < other.first;
  }
};

/// Messages to the keepers of rows.
class Posted {
 public:
  Posted(const Lattice& lattice, int servers)
      : lattice_(lattice), taken_(static_cast<std::size_t>(servers)), sought_(taken_.size()) {}

  void take(const Places& places) { to(taken_, places); }
  /// Places may extend beyond both ends of the row.
  void seek(const Places& places) {
    const Index n = lattice_.size[lattice_.along];
    to(sought_, {places.row, std::max<Index>(places.first, 0), std::min(places.last, n - 1), places.part});
    if (!lattice_.periodic[lattice_.along]) return;
    if (places.first < 0) to(sought_, {places.row, n - 1, n - 1, places.part});
    if (places.last >= n) to(sought_, {places.row, 0, 0, places.part});
  }
  /// Exchanges the messages; returns the received places that are taken, and those that are sought.
  [[nodiscard]] std::array<std::vector<Places>, 2> exchange(Communicator& servers) {
    std::vector<MemberMessage> out;
    for (std::size_t r = 0; r < taken_.size(); ++r) {
      if (taken_[r].empty() && sought_[r].empty()) continue;
      ByteWriter bytes;
      bytes.put(taken_[r]);
      bytes.put(sought_[r]);
      out.push_back({static_cast<int>(r), bytes.take()});
    }
    std::array<std::vector<Places>, 2> came;
    for (const MemberMessage& message : servers.exchange(std::move(out))) {
      ByteReader in(message.bytes);
      for (std::vector<Places>& all : came) {
        std::vector<Places> some;
        in.get(some);
        all.insert(all.end(), some.begin(), some.end());
      }
    }
    return came;
  }

 private:
  void to(std::vector<std::vector<Places>>& messages, const Places& places) {
    if (places.first > places.last) return;
    messages[static_cast<std::size_t>(lattice_.keeper(places.row, static_cast<int>(messages.size())))].push_back(
        places);
  }

  const Lattice& lattice_;
  std::vector<std::vector<Places>> taken_, sought_;
};

std::vector<PartPair> meetings(std::vector<Places> taken, std::vector<Places> sought) {
  const auto before = [](const Places& a, const Places& b) { return a.before(b); };
  std::sort(taken.begin(), taken.end(), before);
  std::sort(sought.begin(), sought.end(), before);
  std::vector<PartPair> pairs;
  std::size_t t = 0;
  for (const Places& places : sought) {
    while (t < taken.size() &&
           (taken[t].row != places.row ? taken[t].row < places.row : taken[t].last < places.first)) {
      ++t;
    }
    for (std::size_t n = t; n < taken.size() && taken[n].row == places.row && taken[n].first <= places.last; ++n) {
      if (taken[n].part != places.part) pairs.push_back({taken[n].part, places.part});
    }
  }
  return pairs;
}

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

std::vector<std::int64_t> stitch(std::span<const BorderRun> border, std::size_t parts, const PartNumbers& numbers,
                                 const Lattice& lattice, const std::vector<RowStep>& steps, Communicator& servers) {
  Posted posted(lattice, servers.size());
  for (const auto& [run, number] : border) {
    const std::int64_t part = number + numbers.first();
    posted.take({run.row, run.first, run.last, part});
    posted.seek({run.row, Index{run.last} + 1, Index{run.last} + 1, part});
    for (const RowStep& step : steps) {
      const std::optional<Index> row = lattice.row_beside(run.row, step.step0, step.step1);
      if (row) posted.seek({*row, run.first + step.low, run.last + step.high, part});
    }
  }
  auto [taken, sought] = posted.exchange(servers);
  return join_parts(meetings(std::move(taken), std::move(sought)), parts, numbers, servers);
}

}  // namespace sidestream::halos
