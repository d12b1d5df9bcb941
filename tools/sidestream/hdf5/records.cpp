#include "hdf5/records.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "sidestream/kit/base/fail.hpp"

namespace sidestream {

namespace {

using Json = nlohmann::json;

std::string base_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

/// Adds a box of a write.
void add_box(std::vector<std::int64_t> start, const std::vector<std::int64_t>& count, RecordedDataset& set) {
  if (std::count(count.begin(), count.end(), 0) > 0) return;  // nothing
  if (!start.empty()) {
    set.first_indices.insert(start.front());
    set.single_indices = set.single_indices && count.front() == 1;
  }
  start.insert(start.end(), count.begin(), count.end());
  set.boxes.insert(std::move(start));
}

/// Adds a line `["write", file, path, type, type in the file, size, endless axes, boxes, their number, why not]`.
void add_write(const Json& line, HdfRecords& records) {
  RecordedDataset& set = records.datasets[line.at(2).get<std::string>()];
  set.path = line.at(2);
  set.files.insert(base_of(line.at(1)));
  set.size = line.at(5).get<std::vector<std::int64_t>>();
  set.endless = !line.at(6).empty() && line.at(6).at(0).get<bool>();
  ++set.writes;
  if (!set.size.empty()) {
    const auto [length, first] = set.lengths.emplace(line.at(1), set.size.front());
    set.grows = set.grows || length->second < set.size.front();
    length->second = set.size.front();
  }
  if (!line.at(9).get<std::string>().empty()) {
    set.why = line.at(9);
    return;
  }
  set.type = line.at(3);
  set.stored = line.at(4);
  set.most_boxes = std::max(set.most_boxes, line.at(8).get<std::size_t>());
  for (const Json& box : line.at(7)) add_box(box.at(0), box.at(1), set);
}

void add_file(const std::filesystem::path& file, HdfRecords& records) {
  std::ifstream stream(file);
  std::string text;
  for (int number = 1; std::getline(stream, text); ++number) {
    try {
      const Json line = Json::parse(text);
      const std::string event = line.at(0);
      const std::string name = base_of(line.at(1));
      const bool known = std::find(records.files.begin(), records.files.end(), name) != records.files.end();
      if (event == "open" && !known) records.files.push_back(name);
      if (event == "write") add_write(line, records);
    } catch (const Json::exception&) {
      fail(Code::file, "{}, line {}: found no record of libsidestream-hdf5.so; remove the file or run again",
           file.string(), number);
    }
  }
  ++records.processes;
}

}  // namespace

HdfRecords read_records(const std::string& folder) {
  HdfRecords records;
  std::error_code error;
  std::vector<std::filesystem::path> files;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (at->path().extension() == ".record") files.push_back(at->path());
  }
  std::sort(files.begin(), files.end());
  for (const auto& file : files) add_file(file, records);
  if (records.datasets.empty()) {
    fail(Code::file,
         "hdf5-map: found no recorded writes in '{}', expected those of a run with SIDESTREAM_HDF5_RECORD={} and "
         "libsidestream-hdf5.so in LD_PRELOAD",
         folder, folder);
  }
  return records;
}

}  // namespace sidestream
