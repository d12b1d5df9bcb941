#include "storage/results/series_index.hpp"

#include <nlohmann/json.hpp>

#include "sidestream/kit/base/fail.hpp"
#include "storage/files/json.hpp"

namespace sidestream {

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
  return json_line(
      {{"name", name}, {"time", iteration.time}, {"cycle", iteration.cycle}, {"iteration", iteration.index}});
}

std::vector<ListedFile> parse_index(std::string_view text) {
  if (text.empty()) return {};  // a crash of the machine: its name reached the disk, and its content did not
  const Json index = parse_json(text);
  const auto entries = index.find("files");
  if (entries == index.end() || !entries->is_array()) fail(Code::file, "no list 'files'");
  std::vector<ListedFile> files;
  for (const Json& entry : *entries) files.push_back(file_of(entry));
  return files;
}

std::vector<ListedFile> parse_rest(std::string_view text) {
  std::vector<ListedFile> files;
  for (auto end = text.find('\n'); end != text.npos; end = text.find('\n')) {
    files.push_back(file_of(parse_json(text.substr(0, end))));
    text.remove_prefix(end + 1);
  }
  return files;
}

}  // namespace sidestream
