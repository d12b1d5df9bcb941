// Partitioner `mapped`: a map given by the user, as a list of servers by block id or as a file.
//
// A file's lines are read once, sorted by mesh and block, and searched for each block. Blocks that occur twice or not
// at all, unknown meshes and servers are errors at the option, with the line.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "partition/kinds.hpp"
#include "partition/splitting.hpp"

namespace sidestream {

namespace {

/// Servers by mesh and block id.
class ServerMap {
 public:
  /// Reads a file with a line `mesh block server` for each block. Lines may begin with `- `; empty lines and those that
  /// begin with # are ignored. Fails through settings, at the option `file`, with the line's number.
  static ServerMap from_file(const std::string& path, const Metadata& metadata, int servers, const Settings& settings);

  /// The server of a block, or -1 if the map does not name the block.
  [[nodiscard]] std::int32_t server_of(std::int32_t mesh, std::int64_t block) const noexcept;

 private:
  struct Entry {
    std::int32_t mesh = 0, server = 0;
    std::int64_t block = 0;
    std::int32_t line = 0;
  };
  std::vector<Entry> entries_;  ///< sorted by mesh and block
};

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

/// Reads `servers`. Settings know only the position of the list in the file, not that of an entry.
std::vector<std::int64_t> listed_servers(const PlanInput& input, const Settings& settings) {
  std::vector<std::int64_t> servers = settings.integers("servers");
  for (std::size_t b = 0; b < servers.size(); ++b) {
    if (servers[b] < input.servers) continue;
    settings.fail("servers", fmt::format("found the server {} for block {}, expected one of 0 to {}; correct it, or "
                                         "ask for more servers",
                                         servers[b], b, input.servers - 1));
  }
  return servers;
}

[[noreturn]] void no_server(const PlanInput& input, const Settings& settings, const Block& block) {
  const char* option = settings.given("file") ? "file" : "servers";
  settings.fail(option,
                fmt::format("found no server for block {} of the mesh '{}', expected one for each block; add it",
                            block.id, input.metadata.meshes.at(static_cast<std::size_t>(block.mesh)).name));
}

/// Gives each block to the server that `server_of` returns; -1: none was given.
template <class ServerOf>
Plan by(const PlanInput& input, const Settings& settings, ServerOf server_of) {
  Plan plan;
  plan.pieces.reserve(input.server < 0 ? input.blocks.size() : 0);
  for (std::size_t b = 0; b < input.blocks.size(); ++b) {
    const Block& block = input.blocks[b].block;
    const std::int64_t server = server_of(block);
    if (server < 0) no_server(input, settings, block);
    if (is_wanted(input, server)) plan.pieces.push_back(whole_block(input, static_cast<std::int64_t>(b), server));
  }
  return plan;
}

Plan plan_mapped(const PlanInput& input, const Settings& settings) {
  if (settings.given("servers") == settings.given("file")) {
    settings.fail("servers", settings.given("file")
                                 ? "found 'servers' beside 'file', expected one of them; remove the other"
                                 : "found neither 'servers' nor 'file' for the partitioner 'mapped', expected one of "
                                   "them; say which server gets which block");
  }
  if (settings.given("file")) {
    const ServerMap map = ServerMap::from_file(settings.text("file"), input.metadata, input.servers, settings);
    return by(input, settings, [&](const Block& block) { return map.server_of(block.mesh, block.id); });
  }
  const std::vector<std::int64_t> servers = listed_servers(input, settings);
  const auto count = static_cast<std::int64_t>(servers.size());
  return by(input, settings, [&](const Block& block) {
    return block.id >= 0 && block.id < count ? servers[static_cast<std::size_t>(block.id)] : std::int64_t{-1};
  });
}

}  // namespace

PartitionerKind mapped_partitioner() {
  PartitionerKind kind;
  kind.name = "mapped";
  kind.text = "A map given by the user, block by block, in a list or in a file.";
  kind.options = {{.name = "servers",
                   .type = OptionType::integer,
                   .list = true,
                   .text = "The servers of the blocks with the ids 0, 1, 2, ..., the same for each mesh.",
                   .minimum = 0,
                   .least_entries = 1},
                  {.name = "file",
                   .type = OptionType::text,
                   .text = "Instead of `servers`: a file, the same for all servers, with a line `mesh block server` "
                           "for each block: the mesh's name, the block's id, the server from 0. Lines may begin with "
                           "`- `; those that begin with # are comments.",
                   .range_text = path_range}};
  kind.plan = plan_mapped;
  return kind;
}

}  // namespace sidestream
