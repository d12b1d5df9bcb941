#include "storage/results/earlier_results.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/paths.hpp"
#include "sidestream/kit/base/log.hpp"
#include "sidestream/kit/base/text.hpp"
#include "sidestream/kit/data/file_pattern.hpp"
#include "sidestream/kit/storage/files/file_names.hpp"
#include "storage/files/json.hpp"
#include "storage/results/picture_files.hpp"
#include "storage/results/series.hpp"

namespace sidestream {

namespace fs = std::filesystem;

namespace {

constexpr std::array vtk_lists{".pvti", ".pvtr", ".pvts", ".pvtu", ".pvtp", ".vtm"};

/// True if there are only digits between `before` and `after`.
bool is_numbered(std::string_view name, std::string_view before, std::string_view after) {
  if (!name.starts_with(before) || !name.ends_with(after) || name.size() <= before.size() + after.size()) return false;
  name = name.substr(before.size(), name.size() - before.size() - after.size());
  return std::all_of(name.begin(), name.end(), is_digit);
}

void remove_one(const fs::path& path) {
  std::error_code error;
  fs::remove(path, error);
  if (error)
    log::warning("'{}' of an earlier run stays, though this run replaces it: {}", path.string(),
                 system_text(error.value()));
}

/// Removes the files in a folder whose names `is_ours` accepts.
template <class Known>
void remove_in(const fs::path& folder, Known is_ours) {
  std::error_code error;
  if (!folder.empty() && !fs::is_directory(folder, error)) return;
  for (const std::string& name : names_in_folder(folder.empty() ? "." : folder.string())) {
    if (is_ours(name)) remove_one(folder / name);
  }
}

/// Removes a result with its parts: pieces and blocks are in a folder of its name, files of servers next to it.
void remove_result(const fs::path& result) {
  remove_one(result);
  const std::string stem = result.stem().string(), ending = result.extension().string();
  if (ending == ".h5") {
    remove_in(result.parent_path(), [&](const std::string& name) { return is_numbered(name, stem + "-", ending); });
  }
  const fs::path folder = result.parent_path() / stem;
  std::error_code error;
  if (!fs::is_directory(folder, error)) return;
  remove_in(folder, [](const std::string& name) {
    const std::string own = fs::path(name).extension().string();
    return is_numbered(name, "piece-", own) || is_numbered(name, "block-", own);
  });
  fs::remove(folder, error);  // fails if the folder has other files
}

/// The files listed in the index `json`, also those that were overtaken, and files that only `rest` lists.
std::vector<fs::path> listed_in(const fs::path& json, const fs::path& rest) {
  std::vector<fs::path> results;
  std::error_code error;
  const auto take = [&](const std::vector<ListedFile>& files) {
    for (const ListedFile& file : files) {
      const fs::path name = fs::path(file.name).lexically_normal();
      if (name.is_relative() && !name.empty() && *name.begin() != "..") results.push_back(json.parent_path() / name);
    }
  };
  if (fs::exists(json, error)) {
    const std::string text = read_file(json.string());
    take(parse_index(text));
    take(parse_overtaken(text));
  }
  if (fs::exists(rest, error)) take(parse_rest(read_file(rest.string())));
  return results;
}

void remove_indexed(const std::string& stem, const std::string& ending) {
  const fs::path json(stem + ending + ".series");
  const fs::path rest(Series::rest_of(json.string()));
  std::error_code error;
  const auto is_there = [&](const fs::path& path) { return fs::exists(path, error); };
  if (!is_there(json) && !is_there(rest)) return;
  try {
    for (const fs::path& result : listed_in(json, rest)) remove_result(result);
  } catch (const std::exception& failure) {
    log::warning("the index '{}' of an earlier run cannot be understood, and what it lists stays: {}", json.string(),
                 failure.what());
  }
  std::vector<fs::path> indices{json, rest};
  if (ending.starts_with(".vt") || ending.starts_with(".pvt")) indices.emplace_back(stem + ".pvd");
  for (const fs::path& index : indices) {
    if (is_there(index)) remove_one(index);
  }
}

/// True for the folder of a Zarr store that Sidestream wrote: its root describes the array `iteration`. Attributes of
/// the root may be the user's.
bool is_store(const fs::path& folder) {
  std::error_code error;
  const fs::path root = folder / "zarr.json";
  if (fs::symlink_status(root, error).type() != fs::file_type::regular) return false;
  try {
    const JsonDocument text = parse_json(read_file(root.string()));
    const nlohmann::json& array = text->at("consolidated_metadata").at("metadata").at("iteration");
    return array.at("attributes").at("long_name") == "number of the publication";
  } catch (const std::exception&) {
    return false;
  }
}

bool is_file_of_array(const std::string& name) {
  const auto in_key = [](char c) { return is_digit(c) || c == '.'; };
  const bool is_chunk = name.starts_with("c.") && std::all_of(name.begin() + 2, name.end(), in_key);
  return is_chunk || name == "zarr.json" || (name.starts_with(".") && name.ends_with(".part"));
}

/// Removes the files of a Zarr store, the root's description first, so that no reader finds a part of it. Other files,
/// and what links lead to, stay.
void remove_store(const fs::path& store) {
  std::error_code error;
  remove_one(store / "zarr.json");
  for (const std::string& name : names_in_folder(store.string())) {
    const fs::path array = store / name;
    if (fs::symlink_status(array, error).type() != fs::file_type::directory) continue;
    remove_in(array, is_file_of_array);
    fs::remove(array, error);  // fails if the folder has other files
  }
  remove_in(store, [](const std::string& name) { return name == ".zarr.json.part"; });
  fs::remove(store, error);
}

/// Endings of lists of pieces that may replace a file of this ending.
std::vector<std::string> list_endings(const std::string& ending, const std::map<std::string, ResultFormat>& formats) {
  if (std::find(vtk_lists.begin(), vtk_lists.end(), ending) != vtk_lists.end()) {
    return {vtk_lists.begin(), vtk_lists.end()};
  }
  const auto format = formats.find(ending);
  if (format == formats.end() || format->second.list_ending.empty()) return {};
  return {format->second.list_ending};
}

/// Removes a file that each iteration replaces or extends, and the list of pieces that may replace it.
void remove_plain(const fs::path& path, const std::vector<std::string>& of_lists) {
  std::vector<fs::path> forms{path};
  for (const std::string& ending : of_lists) forms.push_back(fs::path(path).replace_extension(ending));
  std::error_code error;
  for (const fs::path& form : forms) {
    const fs::file_type type = fs::symlink_status(form, error).type();
    // Keep the target of a link to a directory: it is a database, which keeps its content.
    if (type == fs::file_type::symlink && fs::is_directory(form, error)) continue;
    // A data set of ADIOS2.
    if (type == fs::file_type::directory && form.extension() == ".bp" && fs::exists(form / "md.idx", error)) {
      fs::remove_all(form, error);
      if (error) log::warning("'{}' of an earlier run stays: {}", form.string(), system_text(error.value()));
    }
    if (type == fs::file_type::directory && is_store(form)) remove_store(form);
    if (type == fs::file_type::regular || type == fs::file_type::symlink) remove_result(form);
  }
  const fs::path note(hidden_beside(path.string(), ".committed"));
  if (fs::exists(note, error)) remove_one(note);
}

}  // namespace

void remove_earlier_results(const OutputDirectory& directory, const std::vector<std::string>& patterns,
                            const std::vector<std::string>& meshes,
                            const std::map<std::string, ResultFormat>& formats) {
  for (const std::string& pattern : patterns) {
    const std::string ending = fs::path(pattern).extension().string();
    const bool is_vtk = std::find(vtk_lists.begin(), vtk_lists.end(), ending) != vtk_lists.end();
    if (ending == ".cdb") remove_pictures(directory.path(pattern, {}, 0));
    if (!names_iteration(pattern)) {
      remove_plain(directory.path(pattern, {}, 0), list_endings(ending, formats));
      const std::string stem = pattern.substr(0, pattern.size() - ending.size());
      for (const std::string& mesh : meshes) {
        if (is_vtk) remove_plain(directory.path(stem + "-" + mesh + ending, {}, 0), list_endings(ending, formats));
      }
      continue;
    }
    const std::string stem = directory.path(series_stem(pattern), {}, 0);
    remove_indexed(stem, ending);
    if (!is_vtk) continue;
    for (const char* other : vtk_lists) {
      remove_indexed(stem, other);
      for (const std::string& mesh : meshes)
        remove_indexed(directory.path(series_stem(pattern) + "-" + mesh, {}, 0), other);
    }
  }
}

}  // namespace sidestream
