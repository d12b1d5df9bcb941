// The structure of a domain of an octree: times of pruning and packing, and the remaining size. Compared with one bit
// per flag, a byte for each group of siblings through zstd, and one copy of the flags. Strafella and Chapon (2020,
// section 2.2) give 1.5 KB and 0.5 ms for the flags of refinement of a million cells, whose bits are 0.12 MB.
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "measure.hpp"
#include "storage/codecs/pipeline.hpp"
#include "storage/trees/structure.hpp"

using namespace sidestream;

namespace {

using Bits = std::vector<std::uint8_t>;

template <class Work>
double median_seconds(Work&& work) {
  std::vector<double> samples;
  for (int n = 0; n < 21; ++n) samples.push_back(1e-6 * benchmark::microseconds(work));
  return benchmark::median(samples);
}

struct Domain {
  std::string name;
  TreeShape shape;
  Bits refined, owned;
};

/// A blast: refined at a rippled shell, owned up to a wavy border, like a space-filling curve cut once.
Domain blast(int depth) {
  struct Cell {
    int level;
    long i, j, k;
  };
  Domain domain{fmt::format("a blast on {} levels", depth + 1), {3, 1}, {}, {}};
  std::vector<Cell> cells{{0, 0, 0, 0}};
  for (std::size_t n = 0; n < cells.size(); ++n) {
    const Cell c = cells[n];
    const double h = 1.0 / static_cast<double>(1L << c.level);
    const auto at = [&](long index) { return (static_cast<double>(index) + 0.5) * h - 0.5; };
    const double x = at(c.i), y = at(c.j), z = at(c.k);
    const double from_shell =
        std::abs(std::sqrt(x * x + y * y + z * z) - 0.3 - 0.02 * std::sin(20 * x) * std::cos(17 * y));
    const bool splits = c.level < 5 || (c.level < depth && from_shell < 0.65 * h);
    domain.refined.push_back(splits ? 1 : 0);
    domain.owned.push_back(!splits && x < 0.1 * std::sin(9 * y) ? 1 : 0);
    for (int child = 0; splits && child < 8; ++child) {
      cells.push_back({c.level + 1, 2 * c.i + (child & 1), 2 * c.j + (child >> 1 & 1), 2 * c.k + (child >> 2)});
    }
  }
  return domain;
}

/// As many random flags as a tree may have: unlike any domain, and incompressible.
Domain scattered(std::size_t most) {
  Domain domain{"a random tree", {3, 1}, {}, {}};
  std::uint64_t state = 7;
  std::size_t cells = 1;
  for (std::size_t n = 0; n < cells; ++n) {
    state = state * 6364136223846793005 + 1442695040888963407;
    const bool splits = cells < most && (n < 9 || state >> 62 == 0);
    domain.refined.push_back(splits ? 1 : 0);
    domain.owned.push_back(state >> 60 & 1);
    cells += splits ? 8 : 0;
  }
  return domain;
}

Bits read_flags(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Size of a byte for each group of siblings of all levels, through zstd.
std::size_t masks_through_zstd(const Domain& domain) {
  Bytes masks, packed;
  for (std::size_t n = static_cast<std::size_t>(domain.shape.roots); n + 8 <= domain.refined.size(); n += 8) {
    unsigned mask = 0;
    for (unsigned child = 0; child < 8; ++child) mask |= unsigned{domain.refined[n + child]} << child;
    masks.push_back(static_cast<std::byte>(mask));
  }
  const auto kinds = built_in_codecs();
  if (!kinds.contains("zstd") || !Pipeline({"zstd"}, Type::uint8, kinds).encode(masks, packed)) return masks.size();
  return packed.size();
}

void report(const Domain& domain, std::string& ratios) {
  const auto starts = tree_starts(domain.shape, domain.refined);
  if (!starts) {
    fmt::print("{}: the flags are not those of a tree\n", domain.name);
    std::exit(1);
  }
  Bytes refined, owned;
  Bits back(domain.refined.size());
  const double copy = median_seconds([&] { std::copy(domain.refined.begin(), domain.refined.end(), back.begin()); });
  const double packs = median_seconds([&] { static_cast<void>(pack_refined(domain.shape, domain.refined, refined)); });
  const double packs_owned =
      median_seconds([&] { static_cast<void>(pack_owned(domain.shape, domain.refined, domain.owned, owned)); });
  const double unpacks = median_seconds([&] { unpack_refined(domain.shape, refined, back); });
  const double unpacks_owned = median_seconds([&] { unpack_owned(domain.shape, domain.refined, owned, back); });
  PrunedTree less;
  const double prunes = median_seconds([&] { less = pruned(domain.shape, domain.refined, domain.owned, *starts); });
  const auto cells = static_cast<double>(domain.refined.size());
  const double bits = cells / 8, masks = static_cast<double>(masks_through_zstd(domain));
  fmt::print("{}: {:.0f} cells, {:.1f} % of them pruned\n", domain.name, cells,
             100 - 100 * static_cast<double>(less.cells()) / cells);
  fmt::print("  {:<10} {:>9} {:>9} {:>9} {:>14}\n", "", "ms", "ms back", "bytes", "saved of bits");
  const auto line = [&](const char* what, double there, double again, std::size_t size) {
    fmt::print("  {:<10} {:>9.3f} {:>9.3f} {:>9} {:>12.2f} %\n", what, 1e3 * there, 1e3 * again, size,
               100 - 100 * static_cast<double>(size) / bits);
  };
  line("refined", packs, unpacks, refined.size());
  line("owned", packs_owned, unpacks_owned, owned.size());
  fmt::print("  {:<10} {:>9.3f}\n  {:<10} {:>9.3f}\n", "pruned", 1e3 * prunes, "copied", 1e3 * copy);
  ratios += fmt::format("{}: both packed in {:.2f} ms a million cells, refined {:.3f} of a byte a group through zstd\n",
                        domain.name, 1e9 * (packs + packs_owned) / cells, static_cast<double>(refined.size()) / masks);
}

}  // namespace

/// Without arguments: synthetic trees. Otherwise files with a byte for each cell: REFINED OWNED DIMENSIONS ROOTS.
int main(int argc, char** argv) {
  std::string ratios;
  if (argc == 5) {
    report({argv[1], {std::atoi(argv[3]), std::atol(argv[4])}, read_flags(argv[1]), read_flags(argv[2])}, ratios);
  } else {
    for (const Domain& domain : {blast(7), blast(9), scattered(1000000)}) report(domain, ratios);
  }
  fmt::print("{}", ratios);
}
