#include "sidestream/plan_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <tuple>

#include "config/options/option_text.hpp"
#include "loading.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/names.hpp"

namespace sidestream {

namespace {

/// Number of bytes, rounded and exact.
std::string bytes_text(std::uint64_t bytes) {
  const std::string rounded = rounded_byte_size(bytes);
  return bytes < 1024 ? rounded : fmt::format("{} ({} B)", rounded, bytes);
}

std::string percent(double part, double whole) { return whole > 0 ? fmt::format("{:.2f} %", 100 * part / whole) : "-"; }

std::string blocks_text(const Amount& amount, std::int64_t of) {
  return fmt::format("{} of {} blocks ({}), {}", amount.blocks, of,
                     percent(static_cast<double>(amount.blocks), static_cast<double>(of)), bytes_text(amount.bytes));
}

template <class Less>
std::string extremes(const std::vector<Amount>& servers, Less less, bool bytes) {
  const auto [low, high] = std::minmax_element(servers.begin(), servers.end(), less);
  return bytes ? fmt::format("{} to {}", bytes_text(low->bytes), bytes_text(high->bytes))
               : fmt::format("{} to {}", low->blocks, high->blocks);
}

std::string servers_text(const PlanReport& report) {
  const auto by_blocks = [](const Amount& a, const Amount& b) { return a.blocks < b.blocks; };
  const auto by_bytes = [](const Amount& a, const Amount& b) { return a.bytes < b.bytes; };
  return fmt::format("{} with {} blocks and {} each", report.servers.size(), extremes(report.servers, by_blocks, false),
                     extremes(report.servers, by_bytes, true));
}

/// Explains how to get exact figures instead of estimates.
std::string unknown_ranges_text(const PlanReport& report) {
  std::string text;
  const auto line = [&](const std::string& who, const std::string& what) {
    if (what.empty()) return;
    text += fmt::format(
        "  {} goes by the ranges of {}, which the metadata do not hold: with them less may move; let the "
        "simulation write them with 'outputs: [metadata: {{ranges: ...}}]'\n",
        who, what);
  };
  for (const auto& task : report.tasks) line(fmt::format("'{}'", task.name), task.unknown);
  line("the partitioner", report.unknown);
  return text;
}

}  // namespace

std::string text_of(const PlanReport& report, bool table) {
  std::string text = fmt::format("{}: {} blocks exist\n", report.file, report.blocks);
  std::size_t width = 12;
  for (const auto& task : report.tasks) width = std::max(width, task.name.size());
  const auto line = [&](const std::string& what, const std::string& content) {
    text += fmt::format("  {:<{}} {}\n", what, width, content);
  };
  bool halo = false, pieces = false;
  for (const auto& task : report.tasks) {
    line(task.name, blocks_text(task.needed, report.blocks) + (task.halo ? " and halos" : "") +
                        (task.pieces ? " in pieces of its own" : "") +
                        (task.unknown.empty() ? "" : "; ranges are unknown: any block may be needed"));
    halo |= task.halo;
    pieces |= task.pieces;
  }
  line("in all", blocks_text(report.needed, report.blocks) + fmt::format(" of {}", bytes_text(report.readable.bytes)));
  std::uint64_t moved = 0;
  for (const Amount& server : report.servers) moved += server.bytes;
  line("partitioner", report.partitioner);
  line("moves", fmt::format("{}, {} of what the tasks read", bytes_text(moved),
                            percent(static_cast<double>(moved), static_cast<double>(report.readable.bytes))));
  line("nowhere", fmt::format("{} blocks{}{}", report.blocks - report.moved,
                              report.restricted > 0 ? fmt::format(", {} of them needed but left out by the partitioner",
                                                                  report.restricted)
                                                    : "",
                              report.split > 0 ? fmt::format("; {} blocks are split or copied", report.split) : ""));
  line("servers", servers_text(report));
  if (halo) line("", "halos, layers of points from neighbouring blocks, move besides");
  if (pieces) line("", "pieces that tasks want divided anew move besides, whatever the partitioner");
  text += unknown_ranges_text(report);
  if (!table) return text;
  text += "\n  server     blocks            bytes\n";
  for (std::size_t s = 0; s < report.servers.size(); ++s) {
    text += fmt::format("  {:>6} {:>10} {:>16}\n", s, report.servers[s].blocks, report.servers[s].bytes);
  }
  return text;
}

namespace {

/// `64x64x64`
std::optional<Index3> three_numbers(std::string_view text) {
  Index3 result{};
  const char *at = text.data(), *const end = at + text.size();
  for (int a = 0; a < 3; ++a) {
    const auto read = std::from_chars(at, end, result[a]);
    if (read.ec != std::errc() || result[a] < 1) return std::nullopt;
    const bool last = a == 2;
    if (last != (read.ptr == end) || (!last && *read.ptr != 'x')) return std::nullopt;
    at = read.ptr + 1;
  }
  return result;
}

/// A regular decomposition; nothing if the text does not have that form.
struct Regular {
  std::string mesh;
  Index3 size{}, parts{};
};
std::optional<Regular> parse_regular(const std::string& text) {
  const auto slash = text.rfind('/'), colon = text.rfind(':', slash);
  if (colon == std::string::npos || slash == std::string::npos || colon == 0) return std::nullopt;
  const auto size = three_numbers(std::string_view(text).substr(colon + 1, slash - colon - 1));
  const auto parts = three_numbers(std::string_view(text).substr(slash + 1));
  if (!size || !parts) return std::nullopt;
  constexpr double most = 1 << 24;  // a few gigabytes of blocks and plans
  double count = 1;
  for (int a = 0; a < 3; ++a) {
    if ((*parts)[a] > (*size)[a]) {
      fail(Code::usage,
           "found {} blocks along axis {} for --metadata {}, which has {} cells there, expected at most as "
           "many; use fewer blocks",
           (*parts)[a], "xyz"[a], text, (*size)[a]);
    }
    count *= static_cast<double>((*parts)[a]);
  }
  if (count > most)
    fail(Code::usage, "found {} blocks for --metadata {}, expected at most {}; use fewer", count, text, most);
  return Regular{text.substr(0, colon), *size, *parts};
}

MetadataFile regular_blocks(const Regular& regular, const Document& document) {
  MetadataFile source;
  Mesh mesh;
  mesh.id = 0;
  mesh.name = regular.mesh;
  mesh.cells.hi = regular.size;
  const Entry* meshes = document.root().find("meshes");
  if (meshes == nullptr || meshes->value.find(mesh.name) == nullptr) {
    mesh.geometry = std::make_shared<UniformGeometry>(std::array{0.0, 0.0, 0.0}, std::array{1.0, 1.0, 1.0});
  }
  source.metadata.meshes.push_back(mesh);
  const auto cut = [&](int a, Index part) {  // avoids a product that overflows
    const Index share = regular.size[a] / regular.parts[a], more = regular.size[a] % regular.parts[a];
    return part * share + std::min(part, more);
  };
  auto& blocks = source.catalogue.blocks;
  const auto& n = regular.parts;
  blocks.reserve(static_cast<std::size_t>(n[0] * n[1] * n[2]));
  for (Index k = 0; k < n[2]; ++k) {
    for (Index j = 0; j < n[1]; ++j) {
      for (Index i = 0; i < n[0]; ++i) {
        Block block;
        block.id = static_cast<std::int64_t>(blocks.size());
        block.client = static_cast<std::int32_t>(block.id);
        block.cells = {{cut(0, i), cut(1, j), cut(2, k)}, {cut(0, i + 1), cut(1, j + 1), cut(2, k + 1)}};
        blocks.push_back(block);
      }
    }
  }
  source.catalogue.global = true;
  return source;
}

}  // namespace

MetadataFile load_source(const std::string& text, const Document& document) {
  if (const auto regular = parse_regular(text)) return regular_blocks(*regular, document);
  return parse_metadata(read_text(text, "the metadata"), text);
}

namespace {

/// Refuses a mesh without variables, since nothing would be planned: its name is probably misspelt.
void require_a_mesh_in_use(const Metadata& metadata, const Metadata& described) {
  std::vector<std::string> used;
  for (const Variable& variable : metadata.variables) {
    const std::string& name = metadata.mesh_of(variable).name;
    if (described.find_mesh(name)) return;
    used.push_back(name);
  }
  if (used.empty() || described.meshes.empty()) return;
  const std::string& name = described.meshes.front().name;
  fail(Code::configuration, "the metadata describe blocks of the mesh '{}', on which there is no variable; {}", name,
       suggestion(name, used, "give the blocks of a mesh that has some"));
}

}  // namespace

void use_ids_of(const Metadata& metadata, MetadataFile& source) {
  require_a_mesh_in_use(metadata, source.metadata);
  std::vector<std::int32_t> meshes, variables;
  for (const Mesh& mesh : source.metadata.meshes) {
    const Mesh& known = *metadata.find_mesh(mesh.name);
    if (known.cells != mesh.cells) {
      fail(Code::configuration,
           "the metadata's mesh '{}' has {} cells, the configuration's {}; give both the same, with --set for example",
           mesh.name, fmt::join(mesh.cells.hi, " x "), fmt::join(known.cells.hi, " x "));
    }
    meshes.push_back(known.id);
  }
  for (const Variable& variable : source.metadata.variables) {
    variables.push_back(metadata.find_variable(variable.name)->id);
  }
  for (Block& block : source.catalogue.blocks) block.mesh = meshes[static_cast<std::size_t>(block.mesh)];
  for (BlockRange& range : source.catalogue.ranges) {
    range.variable = variables[static_cast<std::size_t>(range.variable)];
  }
  for (CountedRange& range : source.catalogue.counted) {
    range.variable = variables[static_cast<std::size_t>(range.variable)];
  }
  // The same order as in a session.
  const auto key = [](const Block& b) { return std::tuple(b.client, b.mesh, b.id); };
  std::sort(source.catalogue.blocks.begin(), source.catalogue.blocks.end(),
            [&](const Block& a, const Block& b) { return key(a) < key(b); });
}

}  // namespace sidestream
