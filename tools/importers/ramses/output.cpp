#include "importers/ramses/output.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "base/paths.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/numbers.hpp"

namespace sidestream::ramses {

namespace fs = std::filesystem;

namespace {

constexpr std::uintmax_t most_text = 1u << 26;  ///< bytes; with 10^5 domains info_NNNNN.txt has 5 MB

std::string text_of(const fs::path& path) {
  std::error_code problem;
  const std::uintmax_t size = fs::file_size(path, problem);
  std::ifstream file(path, std::ios::binary);
  if (problem || !file) fail(Code::file, "cannot read '{}'; check the path and its permissions", path.string());
  if (size > most_text) fail(Code::file, "'{}' has {} bytes, far more than such a text has", path.string(), size);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

/// Parses lines `key = value`; the first of each key counts.
class Keys {
 public:
  Keys(const std::string& text, std::string where) : where_(std::move(where)) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      const auto equals = line.find('=');
      if (equals != std::string::npos)
        values_.try_emplace(trimmed(line.substr(0, equals)), trimmed(line.substr(equals + 1)));
    }
  }
  [[nodiscard]] double real(const char* key) const {
    const std::string& text = this->text(key);
    const std::optional<double> value = real_of(text);
    if (!value || !std::isfinite(*value)) {
      fail(Code::file, "{}: '{}' is '{}', expected a number", where_, key, text);
    }
    return *value;
  }
  [[nodiscard]] std::int64_t whole(const char* key, std::int64_t least, std::int64_t most) const {
    const double value = real(key);
    if (value < static_cast<double>(least) || value > static_cast<double>(most) || value != std::floor(value)) {
      fail(Code::file, "{}: '{}' is {}, expected a whole number from {} to {}", where_, key, text(key), least, most);
    }
    return static_cast<std::int64_t>(value);
  }
  [[nodiscard]] const std::string& text(const char* key) const {
    const auto found = values_.find(key);
    if (found == values_.end()) fail(Code::file, "{}: there is no line '{} = ...', as RAMSES writes it", where_, key);
    return found->second;
  }

 private:
  std::string where_;
  std::map<std::string, std::string> values_;
};

/// NNNNN in `info_NNNNN.txt`; -1 for other names.
int number_of_info(const std::string& name) {
  constexpr std::size_t before = 5, after = 4;
  if (name.size() <= before + after || name.rfind("info_", 0) != 0 || name.substr(name.size() - after) != ".txt")
    return -1;
  const std::string digits = name.substr(before, name.size() - before - after);
  int number = -1;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return problem == std::errc() && end == digits.data() + digits.size() ? number : -1;
}

/// Detects a cut file, since a cut number is still a valid number. RAMSES ends each line and, with the ordering
/// "hilbert", writes a line per domain at the end.
void check_end(const std::string& text, const Info& info, const std::string& where) {
  const auto cut = [&](const std::string& what) { fail(Code::file, "{}: {}; the file was cut off", where, what); };
  if (text.empty() || text.back() != '\n') cut("the last line has no end");
  if (info.ordering != "hilbert") return;
  const std::size_t table = text.find("DOMAIN");
  if (table == std::string::npos) cut("there is no table of domains after 'ordering type'");
  const std::string rest = text.substr(table);
  int rows = -1;  // not counting the line of titles
  std::istringstream lines(rest);
  for (std::string line; std::getline(lines, line);) rows += trimmed(line).empty() ? 0 : 1;
  if (rows < info.domains) cut(fmt::format("the table of domains has {} lines, expected {}", rows, info.domains));
}

}  // namespace

Info parse_info(const std::string& text, const std::string& where) {
  const Keys keys(text, where);
  Info info;
  info.domains = static_cast<int>(keys.whole("ncpu", 1, 10'000'000));
  info.dimensions = static_cast<int>(keys.whole("ndim", 1, 3));
  info.level_min = static_cast<int>(keys.whole("levelmin", 1, 60));
  info.level_max = static_cast<int>(keys.whole("levelmax", info.level_min, 60));
  info.step = keys.whole("nstep_coarse", 0, std::int64_t{1} << 40);
  info.boxlen = keys.real("boxlen");
  if (info.boxlen <= 0) fail(Code::file, "{}: 'boxlen' is {}, expected a length", where, info.boxlen);
  info.time = keys.real("time");
  constexpr const char* names[] = {"unit_l", "unit_d", "unit_t"};
  for (std::size_t n = 0; n < 3; ++n) info.units[n] = keys.real(names[n]);
  info.ordering = keys.text("ordering type");
  check_end(text, info, where);
  return info;
}

const char* name_of(FileKind kind) noexcept {
  constexpr const char* names[] = {"hydro", "grav", "rt", "part"};
  return names[static_cast<int>(kind)];
}

Output::Output(const std::string& directory) : directory_(directory) {
  std::error_code problem;
  if (!fs::is_directory(directory, problem)) {
    fail(Code::file, "'{}' is no directory; name one of RAMSES' output_NNNNN", directory);
  }
  names_ = names_in_folder(directory);
  std::sort(names_.begin(), names_.end());
  std::vector<std::string> infos;
  for (const std::string& name : names_) {
    if (name.rfind("group_", 0) == 0) groups_.push_back(name);
    if (number_of_info(name) < 0) continue;
    infos.push_back(name);
    number_ = number_of_info(name);
  }
  if (infos.size() != 1) {
    fail(Code::file, "'{}' has {} files info_NNNNN.txt, expected one; name a directory output_NNNNN of RAMSES",
         directory, infos.size());
  }
  const fs::path info = fs::path(directory) / infos.front();
  info_ = parse_info(text_of(info), fmt::format("'{}'", info.string()));
}

std::string Output::path(const char* kind, int domain) const {
  const std::string name = fmt::format("{}_{:05}.out{:05}", kind, number_, domain);
  if (std::binary_search(names_.begin(), names_.end(), name)) return (fs::path(directory_) / name).string();
  for (const std::string& group : groups_) {
    const fs::path inside = fs::path(directory_) / group / name;
    std::error_code problem;
    if (fs::exists(inside, problem)) return inside.string();
  }
  return (fs::path(directory_) / name).string();
}

bool Output::has(FileKind kind) const {
  std::error_code problem;
  return fs::exists(path(name_of(kind), 1), problem);
}

std::vector<Column> Output::descriptor(FileKind kind) const {
  const std::string name = fmt::format("{}_file_descriptor.txt", name_of(kind));
  if (!std::binary_search(names_.begin(), names_.end(), name)) return {};
  return parse_descriptor(text_of(fs::path(directory_) / name));
}

std::vector<std::string> Output::unread() const {
  std::set<std::string> others;
  for (const std::string& name : names_) {
    const auto end = name.find(fmt::format("_{:05}.out", number_));
    const auto text = name.find(fmt::format("_{:05}.csv", number_));
    const std::string kind = name.substr(0, std::min(end, text));
    const bool known = kind == "amr" || std::any_of(file_kinds.begin(), file_kinds.end(),
                                                    [&](FileKind k) { return kind == name_of(k); });
    if (kind.size() < name.size() && !known) others.insert(kind);
  }
  std::vector<std::string> sentences;
  for (const std::string& kind : others) {
    sentences.push_back(
        fmt::format("files {}_{:05}.* are not read: this reader knows amr, hydro, grav, rt and part", kind, number_));
  }
  return sentences;
}

}  // namespace sidestream::ramses
