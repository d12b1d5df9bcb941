// Index of files over time (`.series`, and `.pvd` for VTK). Replacing it for each file would take quadratic time.
//
// 1. add: replaces the index if a sixteenth of the entries is new, or if the last replacement is long enough ago for
//    its cost; else it appends a line to a hidden file (rest).
// 2. resume: reads both, and keeps the entries before the point where the run continues. Files of later ones stay;
//    the index lists them apart (overtaken).
// 3. Destructor: replaces an index that lacks entries.
// If writing fails the entry is removed again (drop_last), so that no index names a file that does not appear. Used on
// one server; nothing is collective.
#include "storage/results/series.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/log.hpp"
#include "sidestream/kit/base/waiting.hpp"
#include "sidestream/kit/data/file_pattern.hpp"
#include "sidestream/kit/storage/files/file_names.hpp"
#include "sidestream/kit/storage/files/output_file.hpp"
#include "storage/files/json.hpp"
#include "storage/files/output_directory.hpp"
#include "storage/formats/vtk_xml.hpp"

namespace sidestream {

namespace fs = std::filesystem;

namespace {

std::string ending_of(const std::string& pattern) { return fs::path(pattern).extension().string(); }

}  // namespace

Series::Series(std::shared_ptr<const OutputDirectory> directory, std::string pattern)
    : directory_(std::move(directory)), pattern_(std::move(pattern)), ending_(ending_of(pattern_)) {
  constexpr std::array vtk_endings{".vtp",  ".vti",  ".vtr",  ".vts",  ".vtu", ".pvtp",
                                   ".pvti", ".pvtr", ".pvts", ".pvtu", ".vtm"};
  const std::string stem = directory_->path(series_stem(pattern_), {}, 0);
  json_path_ = stem + ending_ + ".series";
  if (std::find(vtk_endings.begin(), vtk_endings.end(), ending_) != vtk_endings.end()) pvd_path_ = stem + ".pvd";
  rest_path_ = rest_of(json_path_);
}

std::string Series::rest_of(const std::string& index) { return hidden_beside(index, ".rest"); }

Series::~Series() {
  if (versions_ > 1) {
    log::warning("{} files of '{}' got a version in their name because their names were taken", versions_, pattern_);
  }
  if (listed_ == entries_.size()) return;
  try {
    retry_while_out_of_memory([&] { replace(); });
  } catch (const std::exception& error) {
    log::error("the index '{}' lacks the last {} files: {}", json_path_, entries_.size() - listed_, error.what());
  }
}

void Series::take(const std::vector<ListedFile>& files, const ResumeFilter& what) {
  std::set<std::string> known;
  for (const Entry& entry : entries_) known.insert(entry.name);
  for (const auto& [name, iteration] : files) {
    if (!iteration) fail(Code::file, "the entry of '{}' lacks 'time', 'cycle' or 'iteration'", name);
    if (!known.insert(name).second) continue;
    const bool is_kept = what.keeps(iteration->index, iteration->cycle);
    (is_kept ? entries_ : overtaken_).push_back({*iteration, name});
  }
}

void Series::resume(const ResumeFilter& what) {
  for (const std::string& path : {json_path_, rest_path_}) {
    if (!fs::exists(path)) continue;
    const std::string text = read_file(path);
    try {
      take(path == json_path_ ? parse_index(text) : parse_rest(text), what);
      if (path != json_path_) continue;
      for (const auto& [name, iteration] : parse_overtaken(text))
        overtaken_.push_back({iteration.value_or(Iteration{}), name});
    } catch (const Error& error) {
      fail(Code::file,
           "'{}', which this run should continue, is not an index that Sidestream wrote ({}); move it away or choose "
           "another file name",
           path, error.what());
    }
  }
}

/// Indexes are replaced at once while they are small. Replacing the index for each of many files would take quadratic
/// time in their number.
bool Series::is_due() const {
  const std::size_t missing = entries_.size() - listed_;
  return 16 * missing >= entries_.size() || now() - replaced_at_ > std::max(1.0, 100 * replacing_took_);
}

/// Replaces both files or none, unless a rename fails.
void Series::replace_index() {
  std::vector<std::string> paths{json_path_}, temporaries;
  if (!pvd_path_.empty()) paths.push_back(pvd_path_);
  for (const std::string& path : paths) temporaries.push_back(directory_->temporary(path));
  bool complete = false;
  try {
    write_file(temporaries[0], as_json());
    if (!pvd_path_.empty()) write_file(temporaries[1], as_pvd());
    complete = true;
    commit_all(*directory_, paths);
    has_replaced_.fill(true);
  } catch (...) {
    for (std::size_t n = 0; n < paths.size(); ++n) {
      // If the temporary is gone, the file was renamed.
      if (complete)
        retry_while_out_of_memory([&] { has_replaced_[n] = has_replaced_[n] || !fs::exists(temporaries[n]); });
      directory_->discard(paths[n]);
    }
    throw;
  }
}

void Series::replace() {
  const double start = now();
  listed_ = 0;  // until all of it is written
  replace_index();
  std::error_code ignored;
  fs::remove(rest_path_, ignored);
  listed_ = entries_.size();
  replaced_at_ = now();
  replacing_took_ = replaced_at_ - start;
}

void Series::add(const Iteration& iteration, const std::string& path) {
  const bool versioned = has_version(iteration, path);
  entries_.push_back({iteration, relative(path)});
  try {
    if (is_due()) {
      replace();
    } else {
      append_to_file(rest_path_, entry_text(entries_.back().name, iteration) + "\n");
    }
  } catch (...) {
    drop_last();
    throw;
  }
  if (versioned && ++versions_ == 1) retry_while_out_of_memory([&] { warn_of_version(iteration, path); });
}

void Series::drop_last() noexcept {
  entries_.pop_back();
  listed_ = 0;  // until the index is replaced, which happens now or, if that fails, with the next file
  if (!has_replaced_[0] && !has_replaced_[1]) return;
  try {
    retry_while_out_of_memory([&] {
      std::error_code ignored;
      if (!entries_.empty()) return replace();
      if (has_replaced_[0]) fs::remove(json_path_, ignored);
      if (has_replaced_[1]) fs::remove(pvd_path_, ignored);
    });
  } catch (const std::exception&) {
  }
}

bool Series::has_version(const Iteration& iteration, const std::string& path) const {
  const std::string first = directory_->path(pattern_, iteration, 0);
  // A list of pieces has a different ending than the file that it represents.
  return fs::path(path).replace_extension() != fs::path(first).replace_extension();
}

void Series::warn_of_version(const Iteration& iteration, const std::string& path) const {
  log::warning(
      "'{}' has been written before, by this run or by the one that it resumes, and is kept: iteration {} (cycle {}, "
      "time {}) went to '{}'; the index lists it. Further ones are counted",
      directory_->path(pattern_, iteration, 0), iteration.index, iteration.cycle, iteration.time, path);
}

std::string Series::relative(const std::string& path) const {
  return fs::path(path).lexically_relative(fs::path(json_path_).parent_path()).generic_string();
}

std::string Series::as_json() const {
  const auto list = [](const char* name, const std::vector<Entry>& entries) {
    std::string text = fmt::format(",\n  \"{}\": [", name);
    const char* separator = "\n";
    for (const Entry& entry : entries) {
      text += fmt::format("{}    {}", separator, entry_text(entry.name, entry.iteration));
      separator = ",\n";
    }
    return text + "\n  ]";
  };
  const std::string text = "{\n  \"file-series-version\": \"1.0\"" + list("files", entries_);
  return text + (overtaken_.empty() ? "" : list("overtaken", overtaken_)) + "\n}\n";
}

std::string Series::as_pvd() const {
  std::string text = "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\">\n<Collection>\n";
  for (const Entry& entry : entries_) {
    text += fmt::format("<DataSet timestep=\"{}\" file=\"{}\"/>\n", entry.iteration.time, xml_escaped(entry.name));
  }
  return text + "</Collection>\n</VTKFile>\n";
}

Series& SeriesSet::of(const std::string& pattern, const Iteration& first) {
  const std::string key = series_stem(pattern) + ending_of(pattern);
  if (const auto found = by_stem_.find(key); found != by_stem_.end()) {
    if (found->second->pattern() == pattern) return *found->second;
    fail(Code::configuration,
         "the files '{}' and '{}' would share the index '{}.series'; give them names that differ in more "
         "than the "
         "iteration",
         found->second->pattern(), pattern, key);
  }
  auto series = std::make_unique<Series>(directory_, pattern);
  if (directory_->resumes()) series->resume(ResumeFilter(*directory_, first));
  return *by_stem_.emplace(key, std::move(series)).first->second;
}

namespace {

using Json = nlohmann::json;

ListedFile file_of(const Json& entry) {
  const auto name = entry.find("name"), time = entry.find("time"), cycle = entry.find("cycle"),
             index = entry.find("iteration"), none = entry.end();
  if (name == none || !name->is_string()) fail(Code::file, "an entry without 'name'");
  ListedFile file{name->get<std::string>(), {}};
  const bool complete = time != none && time->is_number() && cycle != none && cycle->is_number_integer() &&
                        index != none && index->is_number_integer();
  if (complete) file.iteration = {index->get<std::int64_t>(), cycle->get<std::int64_t>(), time->get<double>()};
  return file;
}

}  // namespace

std::string entry_text(const std::string& name, const Iteration& iteration) {
  JsonObject entry;
  entry.add("name", name).add("time", iteration.time).add("cycle", iteration.cycle).add("iteration", iteration.index);
  return entry.text();
}

std::vector<ListedFile> parse_index(std::string_view text) {
  if (text.empty()) return {};  // after a power failure the name may be on the disk without the content
  const JsonDocument index = parse_json(text);
  const auto entries = index->find("files");
  if (entries == index->end() || !entries->is_array()) fail(Code::file, "no list 'files'");
  std::vector<ListedFile> files;
  for (const Json& entry : *entries) files.push_back(file_of(entry));
  return files;
}

std::vector<ListedFile> parse_overtaken(std::string_view text) {
  std::vector<ListedFile> files;
  if (text.empty()) return files;
  const JsonDocument index = parse_json(text);
  const auto entries = index->find("overtaken");
  if (entries == index->end() || !entries->is_array()) return files;
  for (const Json& entry : *entries) files.push_back(file_of(entry));
  return files;
}

std::vector<ListedFile> parse_rest(std::string_view text) {
  std::vector<ListedFile> files;
  for (auto end = text.find('\n'); end != text.npos; end = text.find('\n')) {
    files.push_back(file_of(*parse_json(text.substr(0, end))));
    text.remove_prefix(end + 1);
  }
  return files;
}

}  // namespace sidestream
