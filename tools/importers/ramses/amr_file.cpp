#include "importers/ramses/amr_file.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "sidestream/kit/base/fail.hpp"

namespace sidestream::ramses {

namespace {

constexpr int most_levels = 1000, deepest = 31;  ///< indices of octs have 32 bits
constexpr std::int64_t most_coarse = 1 << 20;    ///< number of cells of level 0

}  // namespace

AmrFile::AmrFile(const std::string& path, const Info& info) : file_(path), info_(info) {
  header_.domains = info.domains;
  read_sizes();
  read_counts();
  read_coarse();
}

void AmrFile::read_sizes() {
  const auto expect = [&](const char* what, std::int64_t found, std::int64_t expected) {
    if (found != expected) file_.complain(what, fmt::format("found {}, but info_*.txt says {}", found, expected));
  };
  const auto within = [&](const char* what, std::int64_t found, std::int64_t most) {
    if (found < 0 || found > most) file_.complain(what, fmt::format("found {}, expected 0 to {}", found, most));
    return found;
  };
  expect("ncpu", file_.integer("ncpu"), info_.domains);
  expect("ndim", file_.integer("ndim"), info_.dimensions);
  const auto coarse = file_.integers("nx, ny, nz", 3);
  std::int64_t cells = 1;
  for (std::size_t a = 0; a < 3; ++a) {
    header_.coarse[a] = within("nx, ny, nz", coarse[a], most_coarse);
    cells *= header_.coarse[a];
    if (cells < 1 || cells > most_coarse)
      file_.complain("nx, ny, nz", fmt::format("found {} coarse cells or more", cells));
  }
  header_.levels = static_cast<int>(within("nlevelmax", file_.integer("nlevelmax"), most_levels));
  file_.skip();  // ngridmax
  header_.boundaries = static_cast<int>(within("nboundary", file_.integer("nboundary"), most_coarse));
  file_.skip(13);  // up to mass_sph: also in info_*.txt, or only for a restart
}

/// Reads the numbers of octs in the lists of domains and of boundary regions.
void AmrFile::read_counts() {
  const auto levels = static_cast<std::size_t>(header_.levels);
  const auto domains = static_cast<std::size_t>(header_.domains),
             regions = static_cast<std::size_t>(header_.boundaries);
  file_.skip(2);  // headl, taill
  const auto own = file_.integers("numbl", static_cast<std::int64_t>(levels * domains));
  file_.skip();  // numbtot
  std::vector<std::int64_t> outer;
  if (regions > 0) {
    file_.skip(2);  // headb, tailb
    outer = file_.integers("numbb", static_cast<std::int64_t>(levels * regions));
  }
  header_.counts.reserve(levels * header_.lists());
  for (std::size_t level = 0; level < levels; ++level) {
    for (std::size_t n = 0; n < domains; ++n) header_.counts.push_back(own[level * domains + n]);
    for (std::size_t n = 0; n < regions; ++n) header_.counts.push_back(outer[level * regions + n]);
  }
  for (const std::int64_t count : header_.counts) {
    if (count < 0 || count > INT32_MAX) file_.complain("numbl", fmt::format("found {} octs in a list", count));
  }
}

void AmrFile::read_coarse() {
  file_.skip();  // free memory
  const BytesView ordering = file_.read("ordering", 1);
  const std::string name(reinterpret_cast<const char*>(ordering.data()), ordering.size());
  file_.skip(name.rfind("bisection", 0) == 0 ? 5 : 1);  // the bounds of domains
  const std::int64_t cells = header_.coarse[0] * header_.coarse[1] * header_.coarse[2];
  file_.skip(2);  // the records son and flag1
  header_.owners = file_.integers("cpu_map of coarse cells", cells);
}

std::uint32_t AmrFile::index_of(double middle, int axis) const {
  const double scaled = std::ldexp(middle, level_ - 1), index = std::floor(scaled);
  const double most = std::ldexp(static_cast<double>(header_.coarse[static_cast<std::size_t>(axis)]), level_ - 1);
  if (!(index >= 0 && index < most && index <= 0xffffffff) || std::abs(scaled - index - 0.5) > 0.125) {
    file_.complain("xg", fmt::format("found {}, which is not the middle of an oct of level {}", middle, level_));
  }
  return static_cast<std::uint32_t>(index);
}

void AmrFile::read_list(std::size_t list, std::uint64_t count, LevelOcts& octs) {
  const int dimensions = info_.dimensions, children = 1 << dimensions;
  static_cast<void>(file_.read("grid indices", Type::int32, count));
  file_.skip(2);  // next, prev
  const std::size_t first = octs.octs.size();
  octs.octs.resize(first + count);
  octs.list.resize(first + count, static_cast<std::uint32_t>(list));
  for (int axis = 0; axis < dimensions; ++axis) {
    const std::vector<double> middles = file_.reals("xg", count);
    for (std::size_t n = 0; n < count; ++n) {
      octs.octs[first + n][static_cast<std::size_t>(axis)] = index_of(middles[n], axis);
    }
  }
  // parent, nbor, child, cpu_map, flag1: all redundant with the positions of octs and their lists
  file_.skip(static_cast<std::uint64_t>(1 + 2 * dimensions + 3 * children));
}

LevelOcts AmrFile::next_level() {
  ++level_;
  LevelOcts octs;
  for (std::size_t list = 0; list < header_.lists(); ++list) {
    const auto count = static_cast<std::uint64_t>(header_.count(level_, list));
    if (count == 0) continue;
    if (level_ > deepest) {
      fail(Code::file, "'{}' has octs of level {}; levels up to {} can be read", path(), level_, deepest);
    }
    read_list(list, count, octs);
  }
  return octs;
}

}  // namespace sidestream::ramses
