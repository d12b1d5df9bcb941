// Contract of every partitioner: see extend/partitioner.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "conformance/conformance.hpp"
#include "conformance/sample.hpp"

namespace sidestream::conformance {

namespace {

auto key_of(const PlanPiece& piece) {
  return std::tuple(piece.block, piece.server, piece.copy, piece.cells.lo, piece.cells.hi);
}

std::vector<PlanPiece> sorted(std::vector<PlanPiece> pieces) {
  std::sort(pieces.begin(), pieces.end(), [](const PlanPiece& a, const PlanPiece& b) { return key_of(a) < key_of(b); });
  return pieces;
}

bool same(const std::vector<PlanPiece>& a, const std::vector<PlanPiece>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const PlanPiece& x, const PlanPiece& y) { return key_of(x) == key_of(y); });
}

/// One division of a mesh among servers.
struct Situation {
  std::vector<PlannedBlock> blocks;
  int servers = 1;
};

Situation situation(const Metadata& metadata, Index3 parts, int servers, bool uneven) {
  Case how;
  how.parts = parts;
  Situation result;
  result.servers = servers;
  for (const Block& block : catalogue_of(metadata, how).blocks) {
    if (block.cells.empty()) continue;
    PlannedBlock& planned = result.blocks.emplace_back();
    planned.block = block;
    planned.bytes = static_cast<std::uint64_t>(block.cells.count()) * (uneven && block.id % 3 == 0 ? 800 : 8);
    planned.cost = uneven ? 0.001 * static_cast<double>(block.id % 5) : 0;
    planned.near = uneven ? static_cast<std::int32_t>(block.id % servers) : -1;
  }
  return result;
}

std::string wrong_piece(const Situation& where, const PlanPiece& piece) {
  if (piece.block < 0 || piece.block >= static_cast<std::int64_t>(where.blocks.size())) {
    return fmt::format("it gives away block number {} of {}", piece.block, where.blocks.size());
  }
  if (piece.server < 0 || piece.server >= where.servers) {
    return fmt::format("it gives block number {} to server {} of {}", piece.block, piece.server, where.servers);
  }
  const Box& cells = where.blocks[static_cast<std::size_t>(piece.block)].block.cells;
  if (piece.cells.empty() || !cells.contains(piece.cells)) {
    return fmt::format("it gives away cells that block number {} does not have", piece.block);
  }
  return {};
}

std::string wrong_plan(const Situation& where, const std::vector<PlanPiece>& pieces) {
  for (const PlanPiece& piece : pieces) {
    if (std::string wrong = wrong_piece(where, piece); !wrong.empty()) return wrong;
  }
  for (std::size_t n = 1; n < pieces.size(); ++n) {  // sorted by block, then server
    const PlanPiece &a = pieces[n - 1], &b = pieces[n];
    if (a.block == b.block && a.server == b.server) {
      return fmt::format("it gives server {} two pieces of block number {}", a.server, a.block);
    }
  }
  for (std::size_t n = 0; n < pieces.size(); ++n) {
    for (std::size_t m = n + 1; m < pieces.size() && pieces[m].block == pieces[n].block; ++m) {
      if (pieces[n].copy || pieces[m].copy || intersection(pieces[n].cells, pieces[m].cells).empty()) continue;
      return fmt::format("servers {} and {} get the same cells of block number {}, and neither piece is a copy",
                         pieces[n].server, pieces[m].server, pieces[n].block);
    }
  }
  return {};
}

std::string check_plan(const PartitionerKind& kind, const Settings& settings, const Metadata& metadata,
                       const Situation& where) {
  const PlanInput input{metadata, where.blocks, where.servers};
  const auto plan = sorted(kind.plan(input, settings).pieces);
  if (std::string wrong = wrong_plan(where, plan); !wrong.empty()) return wrong;
  if (!same(plan, sorted(kind.plan(input, settings).pieces))) return "the same input gives another plan";
  for (int server = 0; server < where.servers; ++server) {
    std::vector<PlanPiece> mine, alone;
    const auto is_its = [&](const PlanPiece& piece) { return piece.server == server; };
    std::copy_if(plan.begin(), plan.end(), std::back_inserter(mine), is_its);
    const auto part = sorted(kind.plan({metadata, where.blocks, where.servers, server}, settings).pieces);
    std::copy_if(part.begin(), part.end(), std::back_inserter(alone), is_its);
    if (!same(mine, alone)) return fmt::format("asked only for server {} it gives it other pieces", server);
  }
  return {};
}

}  // namespace

void check_partitioner_kind(const PartitionerKind& kind, const Settings& settings, const Metadata& metadata,
                            Findings& report) {
  const std::string name = fmt::format("partitioner {}", kind.name);
  struct Layout {
    const char* what;
    Index3 parts;
    bool uneven;
  };
  for (const Layout& layout : {Layout{"one block", {1, 1, 1}, false}, Layout{"bricks", {3, 2, 2}, false},
                               Layout{"blocks of different sizes and costs", {4, 3, 1}, true},
                               Layout{"slabs of one cell", {1, 1, 1000}, false}}) {
    report.check(name, layout.what, [&]() -> std::string {
      for (const int servers : {1, 2, 3, 7}) {
        const Situation where = situation(metadata, layout.parts, servers, layout.uneven);
        const std::string wrong = check_plan(kind, settings, metadata, where);
        if (!wrong.empty()) return fmt::format("with {} servers {}", servers, wrong);
      }
      return {};
    });
  }
  report.check(name, "no block is needed", [&]() -> std::string {
    return kind.plan({metadata, {}, 3}, settings).pieces.empty() ? "" : "it gives away blocks that are not there";
  });
}

}  // namespace sidestream::conformance
