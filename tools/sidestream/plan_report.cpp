#include "plan_parts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "config/options/option_text.hpp"

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

}  // namespace sidestream
