// A domain's octree from RAMSES' files, and its values in the order of the tree.
//
// 1. inner_coarse_cells: the box of root cells without the boundary, from all domains.
// 2. Builder: for each level, finds the parent of each oct by hashing the index, then numbers octs in the order of
//    their parents: the tree is stored level by level. Octs in boundary lists are left out.
// 3. Values of a level are read oct by oct and put at those numbers.
// An oct without parent, or one that occurs twice, is an Error(file).
#include "importers/ramses/domain_tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
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

namespace {

constexpr std::int64_t most_columns = 10'000;

struct Header {
  std::int64_t columns = 0;
  double gamma = 0;
};

/// Reads the header of a file of this kind, up to the first level.
Header read_header(FortranFile& file, FileKind kind, const Info& info) {
  const auto expect = [&](const char* what, std::int64_t expected) {
    const std::int64_t found = file.integer(what);
    if (found != expected) file.complain(what, fmt::format("found {}, but info_*.txt says {}", found, expected));
  };
  expect("ncpu", info.domains);
  const std::int64_t columns = file.integer("nvar");
  if (columns < 1 || columns > most_columns) file.complain("nvar", fmt::format("found {} variables", columns));
  if (kind != FileKind::gravity) expect("ndim", info.dimensions);
  file.skip(2);  // nlevelmax, nboundary: known from amr
  return {columns, kind == FileKind::gravity ? 0 : file.reals("gamma", 1).front()};
}

template <class T>
void scatter(const std::vector<std::uint32_t>& places, std::size_t first_oct, BytesView values, std::byte* out,
             std::size_t step, std::size_t offset) {
  // `out` is the first cell of the level; the same child of the next oct is `step` elements further.
  T* const to = reinterpret_cast<T*>(out) + offset;
  for (std::size_t n = 0; n < values.size() / sizeof(T); ++n) {
    const std::uint32_t place = places[first_oct + n];
    if (place == DomainTree::outside) continue;
    std::memcpy(to + place * step, values.data() + n * sizeof(T), sizeof(T));
  }
}

class Reader {
 public:
  Reader(const Output& output, const CellColumns& columns, int domain, const DomainTree& tree)
      : file_(output.path(name_of(columns.kind), domain)),
        columns_(columns),
        tree_(tree),
        children_(std::size_t{1} << output.info().dimensions) {
    const std::int64_t found = read_header(file_, columns.kind, output.info()).columns;
    if (found != static_cast<std::int64_t>(columns.columns.size())) {
      file_.complain("nvar", fmt::format("found {}, but other domains have {}", found, columns.columns.size()));
    }
    const auto cells = static_cast<std::size_t>(tree.cells());
    targets_.resize(columns.columns.size());
    for (const JoinedColumns& joined : columns.variables) {
      const std::size_t components = joined.columns.size();
      arrays_.emplace_back(cells * components * size_of(columns.type));
      for (std::size_t c = 0; c < components; ++c) targets_[joined.columns[c]] = {arrays_.back().data(), components, c};
    }
  }

  std::vector<std::vector<std::byte>> read() {
    for (int level = 1; level <= tree_.header.levels; ++level) read_level(level);
    if (columns_.type == Type::float32) fill_roots<float>();
    if (columns_.type == Type::float64) fill_roots<double>();
    return std::move(arrays_);
  }

 private:
  struct Target {
    std::byte* data = nullptr;
    std::size_t components = 1, component = 0;
  };

  void read_level(int level) {
    std::size_t oct = 0;
    for (std::size_t list = 0; list < tree_.header.lists(); ++list) {
      const std::int64_t expected = tree_.header.count(level, list);
      const std::int64_t found_level = file_.integer("ilevel"), count = file_.integer("ncache");
      if (found_level != level || count != expected) {
        file_.complain("ilevel, ncache",
                       fmt::format("found level {} with {} octs, but the file amr has level {} with {}", found_level,
                                   count, level, expected));
      }
      if (count > 0) read_list(level, oct, static_cast<std::uint64_t>(count));
      oct += static_cast<std::size_t>(count);
    }
  }

  void read_list(int level, std::size_t first_oct, std::uint64_t count) {
    const bool wanted = level <= tree_.levels();
    for (std::size_t child = 0; child < children_; ++child) {
      for (std::size_t n = 0; n < targets_.size(); ++n) {
        const BytesView values = file_.read(columns_.columns[n].name.c_str(), columns_.type, count);
        if (!wanted) continue;  // only octs beyond the boundary
        const Target& target = targets_[n];
        const std::size_t step = children_ * target.components, width = size_of(columns_.type);
        const auto level_begin = static_cast<std::size_t>(tree_.first[static_cast<std::size_t>(level)]);
        std::byte* const out = target.data + level_begin * target.components * width;
        const auto& places = tree_.places[static_cast<std::size_t>(level) - 1];
        const std::size_t offset = child * target.components + target.component;
        if (columns_.type == Type::float32) scatter<float>(places, first_oct, values, out, step, offset);
        if (columns_.type == Type::float64) scatter<double>(places, first_oct, values, out, step, offset);
      }
    }
  }

  template <class T>
  void fill_roots() {
    for (const Target& target : targets_) {
      T* const values = reinterpret_cast<T*>(target.data) + target.component;
      std::size_t child = static_cast<std::size_t>(tree_.first[1]);
      for (std::size_t root = 0; root < static_cast<std::size_t>(tree_.first[1]); ++root) {
        if (tree_.refined[root] == 0) continue;
        T sum = 0;
        for (std::size_t n = 0; n < children_; ++n) sum += values[(child + n) * target.components];
        values[root * target.components] = sum / static_cast<T>(children_);
        child += children_;
      }
    }
  }

  FortranFile file_;
  const CellColumns& columns_;
  const DomainTree& tree_;
  std::size_t children_;
  std::vector<std::vector<std::byte>> arrays_;
  std::vector<Target> targets_;  ///< target of each column
};

/// The type of the values of a file whose header has been read.
Type type_of_values(FortranFile& file) {
  while (!file.at_end()) {
    file.skip();  // ilevel
    const std::int64_t count = file.integer("ncache");
    if (count > 0) return file.real_type("values", static_cast<std::uint64_t>(count));
  }
  return Type::float64;
}

}  // namespace

CellColumns cell_columns(const Output& output, FileKind kind) {
  FortranFile file(output.path(name_of(kind), 1));
  CellColumns found;
  found.kind = kind;
  const Header header = read_header(file, kind, output.info());
  const auto count = static_cast<std::size_t>(header.columns);
  if (kind == FileKind::hydro) found.gamma = header.gamma;
  found.type = type_of_values(file);
  const int dimensions = output.info().dimensions;
  if (kind == FileKind::gravity) {
    found.columns = gravity_columns(dimensions, count);
  } else {
    found.columns = output.descriptor(kind);
    const std::size_t described = found.columns.size();
    if (described == 0) {
      found.columns = kind == FileKind::hydro ? hydro_columns(dimensions, count) : radiation_columns(dimensions, count);
      found.remark =
          fmt::format("there is no {}_file_descriptor.txt: the names of its {} variables are RAMSES' usual ones",
                      name_of(kind), count);
    } else if (described != count) {
      fit_columns(found.columns, count, kind == FileKind::hydro ? "variable" : "radiation");
      found.remark =
          fmt::format("{0}_file_descriptor.txt lists {1} variables, the files have {2}: {3}", name_of(kind), described,
                      count, described < count ? "the others have numbers" : "the first ones count");
    }
  }
  found.variables = join_columns(found.columns);
  return found;
}

std::vector<std::vector<std::byte>> read_cell_values(const Output& output, const CellColumns& columns, int domain,
                                                     const DomainTree& tree) {
  return Reader(output, columns, domain, tree).read();
}

}  // namespace sidestream::ramses
