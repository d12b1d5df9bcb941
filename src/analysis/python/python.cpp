// Analyses in Python. A separate library runs them, so that this one does not need Python; this file has their options
// and finds that library.
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "analysis/common/kinds.hpp"
#include "base/paths.hpp"
#include "config/tasks/module_files.hpp"
#include "sidestream/kit/base/names.hpp"

namespace sidestream {
namespace {

namespace fs = std::filesystem;

constexpr const char* library_name = "sidestream_python.so";

/// Paths where the library may lie. The folders in SIDESTREAM_PLUGIN_PATH come first. The others are relative to this
/// library and to the command: those of a Python package, of an installation and of a build.
std::vector<fs::path> candidates() {
  std::vector<fs::path> all;
  const char* const path = std::getenv("SIDESTREAM_PLUGIN_PATH");
  std::istringstream listed(path ? path : "");
  for (std::string folder; std::getline(listed, folder, ':');) {
    if (!folder.empty()) all.push_back(fs::path(path_from(working_directory(), folder)) / library_name);
  }
  constexpr const char* places[] = {".", "..", "sidestream/python/sidestream",
                                    "{libraries}/sidestream/python/sidestream", "../bindings/python/sidestream"};
  for (const fs::path& place : places_from_own(places)) all.push_back(place / library_name);
  return all;
}

std::string library(const Settings& settings, const std::vector<fs::path>& places) {
  std::vector<std::string> folders;
  for (const fs::path& candidate : places) {
    std::error_code ignored;
    if (fs::is_regular_file(candidate, ignored)) return candidate.string();
    folders.push_back(candidate.parent_path().string());
  }
  settings.fail("script",
                fmt::format("found an analysis in Python, for which Sidestream needs its library {}, and found none in "
                            "{}; build Sidestream with SIDESTREAM_PYTHON, an interpreter that has its headers and "
                            "nanobind, or name the library's folder in SIDESTREAM_PLUGIN_PATH",
                            library_name, listed(folders)));
}

std::unique_ptr<Task> create(const Settings& settings, const Metadata& metadata, const std::vector<fs::path>& places) {
  Registry theirs;
  load_plugin(library(settings, places), settings.where(), theirs);
  return theirs.analyses().at("python").create(settings, metadata);
}

std::vector<Option> options() {
  Option variables{.name = "variables", .type = OptionType::variable, .list = true, .required = true};
  variables.text = "The variables that are passed to it.";
  variables.least_entries = 1;
  return {variables,
          {.name = "script",
           .type = OptionType::text,
           .required = true,
           .text = "The file; or `sidestream.paraview`, for scenes of ParaView (docs/paraview.md).",
           .range_text = path_beside_range},
          {.name = "call", .required = true, .text = "The function or class in the file."},
          {.name = "arguments",
           .type = OptionType::pairs,
           .default_value = "{}",
           .text = "Keyword arguments: for each call of the function, or for creating the class' object. Values that "
                   "look like a number, or like true or false, are passed as such; all others as text."},
          {.name = "halo",
           .type = OptionType::integer,
           .default_value = "0",
           .text = "Number of layers of points around each block that `with_halo` can return.",
           .minimum = 0,
           .maximum = 1024},
          {.name = "whole",
           .type = OptionType::boolean,
           .default_value = "false",
           .text = "For a function: false, it is called for each block and returns rows of a table; true, it is "
                   "called once per iteration, with the whole mesh gathered on one server."},
          {.name = "file",
           .type = OptionType::file,
           .list = true,
           .text = "Files of the results, in the order in which they are returned: tables (.csv), images (.png), "
                   "arrays (.h5). Required if there are results, but not for arrays that become a mesh (`makes`)."}};
}

}  // namespace

AnalysisKind python_kind() {
  AnalysisKind kind;
  kind.name = "python";
  kind.text =
      "Calls a function or a class in a file of the user with blocks as NumPy arrays; docs/python-analyses.md "
      "describes its arguments and results. The servers need a Python with NumPy: that of the program, or the one "
      "that SIDESTREAM_PYTHON or VIRTUAL_ENV names in their environment, or the one that Sidestream was built with.";
  kind.options = options();
  // Looked up now, while a session opens, because the program may change its working directory.
  kind.create = [places = candidates()](const Settings& settings, const Metadata& metadata) {
    return create(settings, metadata, places);
  };
  return kind;
}

}  // namespace sidestream
