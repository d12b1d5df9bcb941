// A database of a few small blocks whose values depend on cycle and block, and functions to read it.
#pragma once

#include <stdlib.h>

#include <cstring>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/mpi/communicator.hpp"
#include "base/worker_pool.hpp"
#include "sidestream/error.hpp"
#include "storage/database/context.hpp"
#include "storage/database/journal.hpp"
#include "storage/database/storing.hpp"

namespace sidestream::testing {

/// Puts temporary files into a folder in memory, if there is one, because thousands of states would be slow on a disk.
inline void stay_in_memory() {
  std::error_code ignored;
  if (std::filesystem::is_directory("/dev/shm", ignored)) ::setenv("TMPDIR", "/dev/shm", 1);
}

/// A server's part of the database. Blocks are lines of three cells. Servers have two blocks, none, one, two, none, ...
class SmallDatabase {
 public:
  SmallDatabase(Communicator& servers, database::StoringOptions options, std::vector<std::string> codecs = {})
      : servers_(servers), storing_(std::move(options)) {
    schema_.provenance = "a test";
    schema_.chunk = database::chunk_bytes;
    Mesh mesh;
    mesh.id = 0;
    mesh.name = "line";
    mesh.dimensions = 1;
    mesh.cells = {{0, 0, 0}, {1000, 1, 1}};
    mesh.geometry = std::make_shared<UniformGeometry>(std::array{0.0, 0.0, 0.0}, std::array{1.0, 1.0, 1.0});
    schema_.metadata.meshes.push_back(mesh);
    Variable field;
    field.id = field.mesh = 0;
    field.name = "field";
    schema_.metadata.variables.push_back(field);
    schema_.codecs.push_back(std::move(codecs));
  }

  static constexpr Index cells = 3;
  [[nodiscard]] static int blocks_of(int rank) { return rank % 3 == 0 ? 2 : rank % 3 == 1 ? 0 : 1; }
  [[nodiscard]] static std::uint64_t blocks_of_all(int servers) {
    std::uint64_t count = 0;
    for (int rank = 0; rank < servers; ++rank) count += static_cast<std::uint64_t>(blocks_of(rank));
    return count;
  }
  [[nodiscard]] static double value(std::int64_t cycle, std::int64_t id, Index n) {
    return static_cast<double>(cycle) * 100 + static_cast<double>(id) + static_cast<double>(n) / 8;
  }

  /// Changes the name of the only variable.
  void rename(const std::string& name) { schema_.metadata.variables.front().name = name; }

  /// Stores a context; collective.
  void store(std::int64_t cycle) { store(cycle, 0.5 * static_cast<double>(cycle)); }
  void store(std::int64_t cycle, double time) {
    const Packing packing({schema_.codecs.front()}, Type::float64, built_in_codecs());
    const int count = blocks_of(servers_.rank());
    std::vector<BlockView> views(static_cast<std::size_t>(count));
    std::vector<std::vector<double>> values(views.size());
    WorkerPool pool(1);
    database::Domain domain;
    for (std::size_t b = 0; b < views.size(); ++b) {
      const std::int64_t id = servers_.rank() * 2 + static_cast<std::int64_t>(b);
      for (Index n = 0; n < cells; ++n) values[b].push_back(value(cycle, id, n));
      BlockView& view = views[b];
      view.block.id = id;
      view.block.mesh = 0;
      view.block.client = servers_.rank();
      view.points = view.block.cells = {{id * cells, 0, 0}, {(id + 1) * cells, 1, 1}};
      view.array = {values[b].data(), Type::float64, MemorySpace::host, view.points, 1, {1, cells, cells, 0}};
      domain.add(0, schema_.metadata.variables.front(), view, packing, {&pool, {}});
    }
    storing_.store(servers_, domain, schema_, {cycle, cycle, time});
  }

 private:
  Communicator& servers_;
  database::Schema schema_;
  database::Storing storing_;
};

/// A sentence about what is wrong with a context; empty if it has all blocks and values of its cycle.
inline std::string wrong_with(database::Context& context, std::uint64_t blocks) {
  const std::int64_t cycle = context.entry().iteration.cycle;
  std::uint64_t found = 0;
  for (std::size_t group = 0; group < context.groups().size(); ++group) {
    for (const database::PieceRow& row : context.pieces(group).pieces) {
      const Block& block = context.blocks(group)[row.block];
      std::array<double, SmallDatabase::cells> values{};
      if (block.cells.count() != SmallDatabase::cells) return "a block of another size";
      database::read_piece(context, group, row, std::as_writable_bytes(std::span(values)));
      for (Index n = 0; n < SmallDatabase::cells; ++n) {
        if (values[static_cast<std::size_t>(n)] != SmallDatabase::value(cycle, block.id, n)) return "wrong values";
      }
      ++found;
    }
  }
  return found == blocks ? "" : "blocks are missing";
}

/// The things that a reader finds in a directory.
struct Findings {
  std::set<std::int64_t> whole, damaged;  ///< cycles
  std::vector<std::string> remarks, damages;
  bool wrong = false;  ///< the reader gave out something that was never stored
};

inline Findings read_all(const std::string& directory, std::uint64_t blocks) {
  Findings findings;
  if (!database::is_database(directory)) return findings;
  const database::Journal journal = database::read_journal(directory);
  findings.remarks = journal.remarks;
  for (const database::Entry& entry : journal.contexts) {
    try {
      database::Context context(directory, entry);
      const std::vector<std::string> damages = database::verify(context);
      findings.damages.insert(findings.damages.end(), damages.begin(), damages.end());
      const std::string wrong = damages.empty() ? wrong_with(context, blocks) : "damaged";
      if (damages.empty() && !wrong.empty()) findings.wrong = true;
      (wrong.empty() ? findings.whole : findings.damaged).insert(entry.iteration.cycle);
    } catch (const Error& error) {
      findings.damages.emplace_back(error.what());
      findings.damaged.insert(entry.iteration.cycle);
    }
  }
  return findings;
}

}  // namespace sidestream::testing
