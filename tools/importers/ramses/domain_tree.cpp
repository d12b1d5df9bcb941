#include "importers/ramses/domain_tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "sidestream/kit/base/fail.hpp"

namespace sidestream::ramses {

namespace {

constexpr std::uint32_t none = UINT32_MAX;

struct Hash {
  std::size_t operator()(const OctIndex& index) const noexcept {
    std::uint64_t mixed = 0;
    for (const std::uint32_t part : index) {
      mixed = (mixed ^ part) * 0x9e3779b97f4a7c15u;
      mixed ^= mixed >> 32;
    }
    return mixed;
  }
};

class Builder {
 public:
  Builder(AmrFile& file, int dimensions, int domain, const Box& coarse)
      : file_(file), children_(1u << dimensions), own_(static_cast<std::uint32_t>(domain - 1)), coarse_(coarse) {
    tree_.header = file.header();
  }

  DomainTree build() {
    add_roots();
    for (int level = 1; level <= tree_.header.levels; ++level) {
      const LevelOcts octs = file_.next_level();
      if (!add_level(level, octs)) break;
    }
    return std::move(tree_);
  }

 private:
  void add_roots() {
    for (Index k = coarse_.lo[2]; k < coarse_.hi[2]; ++k) {
      for (Index j = coarse_.lo[1]; j < coarse_.hi[1]; ++j) {
        for (Index i = coarse_.lo[0]; i < coarse_.hi[0]; ++i) {
          const Index cell = i + tree_.header.coarse[0] * (j + tree_.header.coarse[1] * k);
          const std::int64_t owner = tree_.header.owners[static_cast<std::size_t>(cell)];
          tree_.owned.push_back(owner == own_ + 1 ? 1 : 0);
        }
      }
    }
    tree_.refined.assign(tree_.owned.size(), 0);
    tree_.first = {0, tree_.cells()};
  }

  [[nodiscard]] std::uint64_t root_of(const OctIndex& oct) const {
    Index cell = 0;
    for (std::size_t a = 3; a-- > 0;) cell = cell * coarse_.extent(static_cast<int>(a)) + (oct[a] - coarse_.lo[a]);
    return static_cast<std::uint64_t>(cell);
  }

  /// The cell of the next coarser level that contains an oct, counted from the first of that level.
  [[nodiscard]] std::uint64_t parent_of(int level, const OctIndex& oct) const {
    if (level == 1) return root_of(oct);
    const auto found = numbers_.find({oct[0] >> 1, oct[1] >> 1, oct[2] >> 1});
    if (found == numbers_.end()) complain(level, oct, "lies in no oct of the level before");
    const unsigned child = (oct[0] & 1u) | (oct[1] & 1u) << 1 | (oct[2] & 1u) << 2;
    return std::uint64_t{found->second} * children_ + child;
  }

  [[noreturn]] void complain(int level, const OctIndex& oct, const char* what) const {
    fail(Code::file, "'{}': the oct ({}, {}, {}) of level {} {}; the file is damaged, or the mesh is none of RAMSES'",
         file_.path(), oct[0], oct[1], oct[2], level, what);
  }

  /// Returns false if the level, and so any finer one, has no octs inside the boundary.
  bool add_level(int level, const LevelOcts& octs) {
    const Index begin = tree_.first[static_cast<std::size_t>(level) - 1];
    const auto parents = static_cast<std::size_t>(tree_.cells() - begin);
    std::vector<std::uint32_t> child(parents, none);
    for (std::uint32_t n = 0; n < octs.octs.size(); ++n) {
      if (octs.list[n] >= static_cast<std::uint32_t>(tree_.header.domains)) continue;
      const std::uint64_t parent = parent_of(level, octs.octs[n]);
      if (child[parent] != none) complain(level, octs.octs[n], "is there twice");
      child[parent] = n;
    }
    std::vector<std::uint32_t> places(octs.octs.size(), DomainTree::outside);
    std::unordered_map<OctIndex, std::uint32_t, Hash> numbers;
    std::uint32_t next = 0;
    for (std::size_t cell = 0; cell < parents; ++cell) {
      const std::uint32_t n = child[cell];
      if (n == none) continue;
      tree_.refined[static_cast<std::size_t>(begin) + cell] = 1;
      tree_.owned.insert(tree_.owned.end(), children_, octs.list[n] == own_ ? 1 : 0);
      numbers.emplace(octs.octs[n], next);
      places[n] = next++;
    }
    if (next == 0) return false;
    tree_.refined.resize(tree_.owned.size(), 0);
    tree_.first.push_back(tree_.cells());
    tree_.places.push_back(std::move(places));
    numbers_ = std::move(numbers);
    return true;
  }

  AmrFile& file_;
  std::size_t children_;
  std::uint32_t own_;
  Box coarse_;
  DomainTree tree_;
  std::unordered_map<OctIndex, std::uint32_t, Hash> numbers_;  ///< numbers of the octs of the last level
};

}  // namespace

Box inner_coarse_cells(const Output& output) {
  Box box{{INT64_MAX, INT64_MAX, INT64_MAX}, {0, 0, 0}};
  for (int domain = 1; domain <= output.info().domains; ++domain) {
    AmrFile file(output.path("amr", domain), output.info());
    if (file.header().levels < 1) continue;
    const LevelOcts octs = file.next_level();
    for (std::size_t n = 0; n < octs.octs.size(); ++n) {
      if (octs.list[n] >= static_cast<std::uint32_t>(output.info().domains)) continue;
      for (std::size_t a = 0; a < 3; ++a) {
        box.lo[a] = std::min<Index>(box.lo[a], octs.octs[n][a]);
        box.hi[a] = std::max<Index>(box.hi[a], octs.octs[n][a] + 1);
      }
    }
  }
  if (box.hi[0] == 0) fail(Code::file, "'{}': no domain has an oct of level 1", output.directory());
  return box;
}

DomainTree read_tree(const Output& output, int domain, const Box& coarse) {
  AmrFile file(output.path("amr", domain), output.info());
  for (std::size_t a = 0; a < 3; ++a) {
    if (coarse.hi[a] <= file.header().coarse[a]) continue;
    fail(Code::file, "'{}' has {} coarse cells along an axis, other domains {} or more", file.path(),
         file.header().coarse[a], coarse.hi[a]);
  }
  return Builder(file, output.info().dimensions, domain, coarse).build();
}

}  // namespace sidestream::ramses
