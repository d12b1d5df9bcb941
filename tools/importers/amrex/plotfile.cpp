// The header of an AMReX plotfile: a list of texts and numbers in a fixed order, which HeaderReader reads and checks
// one by one. Levels must be nested by their ratios. Errors name the item, and a folder that only contains plotfiles is
// told apart.
#include "importers/amrex/plotfile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/paths.hpp"
#include "importers/amrex/particles.hpp"
#include "importers/amrex/text_reader.hpp"
#include "sidestream/kit/base/fail.hpp"

namespace sidestream::amrex {

namespace fs = std::filesystem;

namespace {

constexpr std::int64_t most_variables = 100'000, most_boxes = std::int64_t{1} << 32;

class HeaderReader {
 public:
  HeaderReader(const std::string& text, const std::string& path, const std::string& directory) : in_(text, path) {
    found_.directory = directory;
  }

  Plotfile read() {
    found_.code = in_.line("version");
    if (found_.code.find("-V1.") == std::string::npos) {
      in_.complain("version", fmt::format("found '{}', expected a name like HyperCLaw-V1.1", found_.code));
    }
    read_variables();
    found_.dimensions = static_cast<int>(in_.whole("dimensions", 1, 3));
    found_.time = in_.real("time");
    const auto finest = static_cast<std::size_t>(in_.whole("finest level", 0, most_levels - 1));
    for (int a = 0; a < found_.dimensions; ++a) found_.low[static_cast<std::size_t>(a)] = in_.real("prob_lo");
    for (int a = 0; a < found_.dimensions; ++a) found_.high[static_cast<std::size_t>(a)] = in_.real("prob_hi");
    static_cast<void>(in_.line("prob_hi"));
    read_ratios(finest);
    found_.levels.resize(finest + 1);
    for (PlotLevel& level : found_.levels) level.domain = in_.box("domain", found_.dimensions);
    for (PlotLevel& level : found_.levels) level.step = in_.whole("step", INT64_MIN, INT64_MAX);
    for (PlotLevel& level : found_.levels) read_spacing(level);
    read_coordinates();
    for (std::size_t n = 0; n <= finest; ++n) read_level(n);
    check();
    return std::move(found_);
  }

 private:
  void read_variables() {
    const std::int64_t count = in_.whole("number of variables", 1, most_variables);
    static_cast<void>(in_.line("number of variables"));
    for (std::int64_t n = 0; n < count; ++n) {
      found_.variables.push_back(in_.line("name of a variable"));
      if (found_.variables.back().empty()) in_.complain("name of a variable", "found an empty line");
    }
  }

  /// Reads one ratio for all axes of a level, or one for each: (2,2,1).
  void read_ratios(std::size_t finest) {
    const std::string text = in_.line("ref_ratio");
    TextReader line(text, found_.directory + "/Header, ref_ratio");
    for (std::size_t n = 0; n < finest; ++n) {
      Index3 ratio{1, 1, 1};
      if (line.next_is('(')) {
        const Index3 given = line.indices("ref_ratio", found_.dimensions);
        for (int a = 0; a < found_.dimensions; ++a)
          ratio[static_cast<std::size_t>(a)] = given[static_cast<std::size_t>(a)];
      } else {
        const Index all = line.whole("ref_ratio", 1, 1024);
        for (int a = 0; a < found_.dimensions; ++a) ratio[static_cast<std::size_t>(a)] = all;
      }
      for (const Index one : ratio) {
        if (one < 1 || one > 1024) in_.complain("ref_ratio", fmt::format("found {}", one));
      }
      found_.ratios.push_back(ratio);
    }
  }

  void read_spacing(PlotLevel& level) {
    level.spacing = {1, 1, 1};
    for (int a = 0; a < found_.dimensions; ++a) {
      double& spacing = level.spacing[static_cast<std::size_t>(a)];
      spacing = in_.real("cell size");
      if (spacing <= 0) in_.complain("cell size", fmt::format("found {}, expected a length", spacing));
    }
  }

  void read_coordinates() {
    const std::int64_t system = in_.whole("coordinate system", 0, 1000);
    static_cast<void>(in_.whole("width of the boundary", 0, INT64_MAX));
    if (system == 0) return;
    const char* names[] = {"", "cylindrical (r, z)", "spherical"};
    fail(Code::file, "'{}': the coordinates are {}, and only Cartesian ones can be imported", found_.directory,
         system <= 2 ? names[system] : fmt::format("of system {}", system));
  }

  void read_level(std::size_t number) {
    PlotLevel& level = found_.levels[number];
    const auto expected = static_cast<std::int64_t>(number);
    static_cast<void>(in_.whole("level", expected, expected));
    level.boxes = static_cast<std::size_t>(in_.whole("number of boxes", 0, most_boxes));
    level.time = in_.real("time of the level");
    level.step = in_.whole("step of the level", INT64_MIN, INT64_MAX);
    for (std::size_t n = 0; n < level.boxes; ++n) {
      for (int a = 0; a < 2 * found_.dimensions; ++a) static_cast<void>(in_.real("where a box lies"));
    }
    level.data = in_.word("where the values are");
    if (level.data.find("..") != std::string::npos || level.data.front() == '/') {
      in_.complain("where the values are", fmt::format("found '{}', expected a place in the plotfile", level.data));
    }
  }

  /// Checks that levels are nested as in a mesh with refinement levels.
  void check() {
    Box expected = found_.levels.front().domain;
    for (std::size_t n = 1; n < found_.levels.size(); ++n) {
      for (std::size_t a = 0; a < 3; ++a) {
        expected.lo[a] *= found_.ratios[n - 1][a];
        expected.hi[a] *= found_.ratios[n - 1][a];
      }
      if (expected == found_.levels[n].domain) continue;
      fail(Code::file, "'{}': the domain of level {} is not that of the level before times ref_ratio", found_.directory,
           n);
    }
  }

  TextReader in_;
  Plotfile found_;
};

/// Explains that a directory contains plotfiles, as an export makes it, if that was meant.
[[noreturn]] void fail_no_plotfile(const std::string& directory) {
  std::error_code problem;
  if (!fs::is_directory(directory, problem)) {
    fail(Code::file, "'{}' is no directory; name a plotfile of AMReX", directory);
  }
  std::vector<std::string> names = names_in_folder(directory);
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) {
    const std::string inside = (fs::path(directory) / name).string();
    if (!fs::exists(inside + "/Header", problem)) continue;
    fail(Code::file, "'{}' is no plotfile, but has some in it; name one of them: '{}'", directory, inside);
  }
  fail(Code::file, "'{}' is no plotfile: it has no file 'Header'; name a plotfile of AMReX", directory);
}

}  // namespace

Plotfile read_plotfile(const std::string& directory) {
  const std::string path = directory + "/Header";
  if (std::error_code problem; !fs::exists(path, problem)) fail_no_plotfile(directory);
  const std::string text = read_text(path, most_text);
  return HeaderReader(text, path, directory).read();
}

std::vector<std::string> unread_parts(const Plotfile& plotfile) {
  std::vector<std::string> names = names_in_folder(plotfile.directory), sentences;
  std::sort(names.begin(), names.end());
  const std::vector<std::string> particles = particle_folders(plotfile);
  for (const std::string& name : names) {
    std::error_code problem;
    const fs::path inside = fs::path(plotfile.directory) / name;
    if (!fs::is_directory(inside, problem) || name.rfind("Level_", 0) == 0 || name == "raw_fields") continue;
    if (std::find(particles.begin(), particles.end(), name) != particles.end()) continue;
    const bool other = fs::exists(inside / "Header", problem);
    sentences.push_back(fmt::format(
        "'{}' is not read: {}", name,
        other ? "its Header is not that of particles of version two of AMReX" : "it is none of the levels"));
  }
  return sentences;
}

}  // namespace sidestream::amrex
