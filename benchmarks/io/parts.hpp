// Further promises of the database, each measured next to a minimal operation.
#pragma once

#include <string>
#include <vector>

#include "database.hpp"

namespace io {

/// Collective over the simulating ranks: publishes steps in sequence while the server waits for the disk, and copies
/// the same bytes within each step. Returns the lines that the first rank prints last.
[[nodiscard]] std::string visible_time(Fields& fields, Stream& stream, int steps, int rounds);

/// Collective likewise: measures steps that compute for longer than the server packs, with and without packing.
[[nodiscard]] std::string spare_time(Fields& fields, Stream& stream, int steps);

/// Data to read back: a context of a database, and the same values in raw files, one per writing rank.
struct Stored {
  std::string database;
  std::vector<std::string> raw;  ///< by rank
  Index3 grid{};
  std::vector<std::string> names;
  int step = 0;  ///< step of the values
  int writers = 1;
};
/// Collective over `comm`, of any number of ranks. `cold`: reads from the disk, as far as the system drops its cache.
[[nodiscard]] std::string read_back(MPI_Comm comm, const Stored& stored, int repeat, bool cold);

}  // namespace io
