#include "partition/map_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>

namespace sidestream {

namespace {

constexpr const char* blanks = " \t\r";

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

/// Removes the last word of the text and returns it as a number; nothing if it is not one.
std::optional<std::int64_t> take_number(std::string_view& text) {
  const auto before = text.find_last_of(blanks);
  const std::string_view word = before == std::string_view::npos ? text : text.substr(before + 1);
  std::int64_t value = 0;
  const auto read = std::from_chars(word.data(), word.data() + word.size(), value);
  if (word.empty() || read.ec != std::errc() || read.ptr != word.data() + word.size()) return std::nullopt;
  text = before == std::string_view::npos ? std::string_view{} : trimmed(text.substr(0, before));
  return value;
}

std::string content_of(const std::string& path, const Settings& settings) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf())) {
    settings.fail("file",
                  fmt::format("found the map '{}', which cannot be read or is empty, expected lines "
                              "'mesh block server'; check the path, relative to the working directory at `open`",
                              path));
  }
  return text.str();
}

}  // namespace

ServerMap ServerMap::from_file(const std::string& path, const Metadata& metadata, int servers,
                               const Settings& settings) {
  const std::string content = content_of(path, settings);
  ServerMap map;
  std::int32_t line = 0;
  const auto wrong = [&](const std::string& found, const char* expected) {
    settings.fail("file", fmt::format("found {} in line {} of the map '{}', expected {}; correct the line", found, line,
                                      path, expected));
  };
  const Mesh* mesh = nullptr;  // mesh of the previous line, since most lines name the same one
  std::string_view rest = content;
  while (!rest.empty()) {
    const auto end = rest.find('\n');
    std::string_view text = trimmed(rest.substr(0, end));
    rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
    ++line;
    if (text.starts_with("- ")) text = trimmed(text.substr(2));
    if (text.empty() || text.front() == '#') continue;
    const std::string_view whole = text;
    const auto server = take_number(text);
    const auto block = server ? take_number(text) : std::nullopt;
    if (!block || text.empty()) wrong(fmt::format("'{}'", whole), "'mesh block server'");
    if (!mesh || mesh->name != text) mesh = metadata.find_mesh(text);
    if (!mesh) wrong(fmt::format("the mesh '{}'", text), "a declared one");
    if (*server < 0 || *server >= servers) {
      wrong(fmt::format("the server {}", *server), fmt::format("one of 0 to {}", servers - 1).c_str());
    }
    map.entries_.push_back({mesh->id, static_cast<std::int32_t>(*server), *block, line});
  }
  const auto key = [](const Entry& e) { return std::pair(e.mesh, e.block); };
  const auto before = [&](const Entry& a, const Entry& b) { return key(a) < key(b); };
  if (!std::is_sorted(map.entries_.begin(), map.entries_.end(), before)) {
    std::stable_sort(map.entries_.begin(), map.entries_.end(), before);
  }
  const auto twice = std::adjacent_find(map.entries_.begin(), map.entries_.end(),
                                        [&](const Entry& a, const Entry& b) { return key(a) == key(b); });
  if (twice != map.entries_.end()) {
    line = std::next(twice)->line;
    wrong(fmt::format("block {} a second time (first in line {})", twice->block, twice->line), "each block once");
  }
  return map;
}

std::int32_t ServerMap::server_of(std::int32_t mesh, std::int64_t block) const noexcept {
  const auto found = std::lower_bound(
      entries_.begin(), entries_.end(), std::pair(mesh, block),
      [](const Entry& e, const std::pair<std::int32_t, std::int64_t>& k) { return std::pair(e.mesh, e.block) < k; });
  return found != entries_.end() && found->mesh == mesh && found->block == block ? found->server : -1;
}

}  // namespace sidestream
