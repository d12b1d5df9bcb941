// Particles of an AMReX plotfile (version two).
//
// read_particle_folder reads the header: numbers of columns, names, and for each grid its file, count and offset.
// Columns named like components of a vector are joined. read_particles then reads some rows of a grid: integers first,
// reals behind those of all particles of the grid. Version 2.1 packs id and processor into two integers.
#include "importers/amrex/particles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "base/paths.hpp"
#include "importers/amrex/text_reader.hpp"
#include "importers/ramses/descriptor.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "storage/database/segment.hpp"

namespace sidestream::amrex {

namespace fs = std::filesystem;

namespace {

constexpr std::int64_t most_columns = 100'000, most_grids = std::int64_t{1} << 32;
constexpr std::size_t id_and_cpu = 2;

class FolderReader {
 public:
  FolderReader(const std::string& text, const std::string& path, int dimensions) : in_(text, path) {
    found_.dimensions = dimensions;
  }

  ParticleFolder read() {
    read_version();
    static_cast<void>(in_.whole("dimensions", found_.dimensions, found_.dimensions));
    const std::vector<std::string> reals = read_names("names of real numbers");
    const std::vector<std::string> integers = read_names("names of whole numbers");
    const bool with_integers = in_.whole("is_checkpoint", 0, 1) == 1;
    found_.count = static_cast<std::uint64_t>(in_.whole("number of particles", 0, INT64_MAX));
    static_cast<void>(in_.whole("next id", INT64_MIN, INT64_MAX));
    found_.reals = static_cast<std::size_t>(found_.dimensions) + reals.size();
    found_.integers = with_integers ? id_and_cpu + integers.size() : 0;
    add_variables(reals, with_integers, integers);
    read_grids();
    return std::move(found_);
  }

 private:
  void read_version() {
    const std::string version = in_.word("version");
    const bool zero = version.rfind("Version_Two_Dot_Zero", 0) == 0;
    found_.packed = version.rfind("Version_Two_Dot_One", 0) == 0;
    const bool single = version.find("_single") != std::string::npos;
    if ((!zero && !found_.packed) || (!single && version.find("_double") == std::string::npos)) {
      in_.complain("version", fmt::format("found '{}', expected Version_Two_Dot_Zero or Version_Two_Dot_One with "
                                          "_single or _double",
                                          version));
    }
    found_.real = single ? Type::float32 : Type::float64;
  }

  std::vector<std::string> read_names(const char* what) {
    const std::int64_t count = in_.whole(what, 0, most_columns);
    static_cast<void>(in_.line(what));
    std::vector<std::string> names;
    for (std::int64_t n = 0; n < count; ++n) names.push_back(in_.line(what));
    return names;
  }

  /// Makes a name different from all others.
  std::string unused(const std::string& name) const {
    std::string made = name;
    const auto taken = [&](const ParticleVariable& v) { return v.name == made; };
    while (std::any_of(found_.variables.begin(), found_.variables.end(), taken)) made += '_';
    return made;
  }

  void add_joined(const std::vector<std::string>& names, ParticleVariable::From from, Type type, std::size_t first) {
    std::vector<ramses::Column> columns;
    for (const std::string& name : names) columns.push_back({name, 0});
    for (const ramses::JoinedColumns& joined : ramses::join_columns(columns)) {
      found_.variables.push_back(
          {unused(joined.name), from, type, first + joined.columns.front(), joined.columns.size()});
    }
  }

  void add_variables(const std::vector<std::string>& reals, bool with_integers,
                     const std::vector<std::string>& integers) {
    using From = ParticleVariable::From;
    const auto places = static_cast<std::size_t>(found_.dimensions);
    found_.variables.push_back({"position", From::position, found_.real, 0, places});
    if (with_integers) {
      found_.variables.push_back({"id", From::id, Type::int64, 0, 1});
      found_.variables.push_back({"cpu", From::cpu, Type::int32, 1, 1});
      add_joined(integers, From::integer, Type::int32, id_and_cpu);
    }
    add_joined(reals, From::real, found_.real, places);
  }

  void read_grids() {
    const std::int64_t finest = in_.whole("finest level", 0, most_levels - 1);
    std::vector<std::int64_t> grids;
    for (std::int64_t level = 0; level <= finest; ++level) grids.push_back(in_.whole("grids", 0, most_grids));
    std::uint64_t sum = 0;
    for (std::size_t level = 0; level < grids.size(); ++level) {
      for (std::int64_t n = 0; n < grids[level]; ++n) {
        ParticleGrid grid;
        grid.level = level;
        grid.file = in_.whole("number of a file", 0, INT32_MAX);
        grid.count = static_cast<std::uint64_t>(in_.whole("particles of a grid", 0, INT64_MAX / 2));
        grid.offset = static_cast<std::uint64_t>(in_.whole("offset", 0, INT64_MAX));
        if (grid.count == 0) continue;
        sum += grid.count;
        if (sum > found_.count) break;
        found_.grids.push_back(grid);
      }
    }
    if (sum == found_.count) return;
    in_.complain("particles of a grid",
                 fmt::format("grids have {} particles, but the Header has {}", sum, found_.count));
  }

  TextReader in_;
  ParticleFolder found_;
};

/// File names have five digits, in older versions four.
std::string path_of(const ParticleFolder& folder, const ParticleGrid& grid) {
  const std::string base = fmt::format("{}/Level_{}/DATA_", folder.path, grid.level);
  const std::string five = fmt::format("{}{:05}", base, grid.file), four = fmt::format("{}{:04}", base, grid.file);
  std::error_code problem;
  return !fs::exists(five, problem) && fs::exists(four, problem) ? four : five;
}

/// Extracts `count` numbers from `first` on in each row of a table with numbers of `width` bytes.
Bytes columns_of(const Bytes& table, std::size_t row, std::size_t width, std::size_t first, std::size_t count) {
  const std::size_t rows = row == 0 ? 0 : table.size() / (row * width);
  Bytes made(rows * count * width);
  for (std::size_t n = 0; n < rows; ++n) {
    std::memcpy(made.data() + n * count * width, table.data() + (n * row + first) * width, count * width);
  }
  return made;
}

Bytes ids_of(const Bytes& table, std::size_t row, bool packed) {
  const std::size_t rows = table.size() / (row * 4);
  Bytes made(rows * 8);
  for (std::size_t n = 0; n < rows; ++n) {
    std::array<std::uint32_t, 2> halves{};
    std::memcpy(halves.data(), table.data() + n * row * 4, sizeof halves);
    const std::int64_t id =
        packed ? id_of(std::uint64_t{halves[0]} << 32 | halves[1]) : std::int64_t{static_cast<std::int32_t>(halves[0])};
    std::memcpy(made.data() + n * 8, &id, sizeof id);
  }
  return made;
}

Bytes cpus_of(const Bytes& table, std::size_t row, bool packed) {
  Bytes made = columns_of(table, row, 4, 1, 1);
  if (!packed) return made;
  for (std::size_t at = 0; at < made.size(); at += 4) {
    std::uint32_t low = 0;
    std::memcpy(&low, made.data() + at, sizeof low);
    const std::int32_t cpu = cpu_of(low);
    std::memcpy(made.data() + at, &cpu, sizeof cpu);
  }
  return made;
}

}  // namespace

std::int64_t id_of(std::uint64_t packed) noexcept {
  const auto id = static_cast<std::int64_t>(packed >> 24 & 0x7fffffffffu);
  return packed >> 63 != 0 ? id : -id;
}

std::int32_t cpu_of(std::uint64_t packed) noexcept { return static_cast<std::int32_t>(packed & 0xffffffu); }

std::vector<std::string> particle_folders(const Plotfile& plotfile) {
  std::vector<std::string> names = names_in_folder(plotfile.directory), found;
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) {
    const std::string path = plotfile.path(name) + "/Header";
    std::error_code problem;
    if (!fs::is_regular_file(path, problem)) continue;
    if (read_text(path, most_text).rfind("Version_Two_Dot_", 0) == 0) found.push_back(name);
  }
  return found;
}

ParticleFolder read_particle_folder(const Plotfile& plotfile, const std::string& name) {
  const std::string folder = plotfile.path(name), path = folder + "/Header", text = read_text(path, most_text);
  ParticleFolder found = FolderReader(text, path, plotfile.dimensions).read();
  found.name = name;
  found.path = folder;
  return found;
}

std::vector<Bytes> read_particles(const ParticleFolder& folder, const ParticleGrid& grid, std::uint64_t first,
                                  std::uint64_t count) {
  const database::PlacedFile file(path_of(folder, grid));
  const std::uint64_t integers = folder.integers * 4, reals = folder.reals * size_of(folder.real);
  const std::uint64_t size = file.size();
  if (grid.offset > size || (size - grid.offset) / (integers + reals) < grid.count) {
    fail(Code::file, "'{}' ends within the {} particles that begin at byte {}; it was cut off", file.path(), grid.count,
         grid.offset);
  }
  Bytes whole(integers * count), numbers(reals * count);
  file.read(grid.offset + first * integers, whole);
  file.read(grid.offset + grid.count * integers + first * reals, numbers);
  std::vector<Bytes> arrays;
  for (const ParticleVariable& v : folder.variables) {
    using From = ParticleVariable::From;
    if (v.from == From::id) {
      arrays.push_back(ids_of(whole, folder.integers, folder.packed));
    } else if (v.from == From::cpu) {
      arrays.push_back(cpus_of(whole, folder.integers, folder.packed));
    } else if (v.from == From::integer) {
      arrays.push_back(columns_of(whole, folder.integers, 4, v.first, v.components));
    } else {
      arrays.push_back(columns_of(numbers, folder.reals, size_of(folder.real), v.first, v.components));
    }
  }
  return arrays;
}

}  // namespace sidestream::amrex
