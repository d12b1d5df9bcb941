#include "session/opening/modules.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/paths.hpp"
#include "config/options/document.hpp"
#include "config/tasks/plugin_loader.hpp"
#include "session/c/c_analysis.hpp"

namespace sidestream {

namespace fs = std::filesystem;

namespace {

bool is_module(const std::string& name) { return name.starts_with("sidestream_") && name.ends_with(".so"); }

std::vector<std::string> modules_in(const fs::path& folder) {
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored)) return {};
  std::vector<std::string> files;
  for (const std::string& name : names_in_folder(folder.string())) {
    if (is_module(name)) files.push_back((folder / name).string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// An analysis, and the module that error messages name if it is missing.
struct Home {
  const char* analysis;
  const char* module;
};
constexpr Home homes[] = {{"halos", "cosmology"},
                          {"merge_tree", "cosmology"},
                          {"power_spectrum", "cosmology"},
                          {"particle_spectrum", "cosmology"},
                          {"lyman_alpha", "cosmology"}};

void check_home(const NamedAnalysis& analysis) {
  for (const Home& home : homes) {
    if (analysis.name != home.analysis) continue;
    fail_at(analysis.where,
            "found the analysis '{}', which is in the module sidestream_{}, expected that module beside the library; "
            "build Sidestream without SIDESTREAM_WITH_COSMOLOGY=OFF, or install its folder sidestream/modules",
            home.analysis, home.module);
  }
}

}  // namespace

std::vector<std::string> module_files() {
  if (const char* const named = std::getenv("SIDESTREAM_MODULES"); named && *named) return modules_in(named);
  for (const fs::path& own : own_folders()) {
    if (own.empty()) continue;
    // In this order: for an installed library, a Python package, an installed program, and programs of a build.
    for (const char* const folder :
         {"sidestream/modules", "modules", SIDESTREAM_LIBRARIES_FROM_PROGRAMS "/sidestream/modules", "../modules",
          "../src/modules", "../../src/modules"}) {
      const std::vector<std::string> files = modules_in((own / folder).lexically_normal());
      if (!files.empty()) return files;
    }
  }
  return {};
}

void load_modules(Registry& registry) {
  for (const std::string& file : module_files()) load_plugin(file, {file, 0, 0}, registry);
}

std::vector<NamedAnalysis> named_analyses(const Document& document) {
  std::vector<NamedAnalysis> names;
  const Entry* const analyses = document.root().find("analyses");
  if (!analyses) return names;
  for (const Node& item : analyses->value.items) {
    if (item.kind == Node::Kind::scalar) names.push_back({item.text, item.where});
    for (const Entry& entry : item.entries) names.push_back({entry.key, entry.where});
  }
  return names;
}

void load_extensions(const OpeningConfig& opening, const std::vector<NamedAnalysis>& names, Registry& registry) {
  for (const auto& [path, where] : opening.plugins) load_plugin(path, where, registry, register_c_plugin);
  const auto is_known = [&](const NamedAnalysis& analysis) { return registry.analyses().contains(analysis.name); };
  if (std::all_of(names.begin(), names.end(), is_known)) return;
  load_modules(registry);
  for (const NamedAnalysis& analysis : names) {
    if (!is_known(analysis)) check_home(analysis);
  }
}

}  // namespace sidestream
