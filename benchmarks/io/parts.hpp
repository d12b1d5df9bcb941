// What else is promised of the database, measured beside something that does the least.
#pragma once

#include <string>
#include <vector>

#include "database.hpp"

namespace io {

/// Collective over the simulating ranks: publishes steps one after the other while the server waits for the disk, and
/// copies the same bytes within each step. Returns the lines that the first rank prints last.
[[nodiscard]] std::string visible_time(Fields& fields, Stream& stream, int steps, int rounds);

/// Collective likewise: steps that compute for longer than the server packs, with nothing to pack and with it.
[[nodiscard]] std::string spare_time(Fields& fields, Stream& stream, int steps);

/// Reading back: a context of a database, and the same values in raw files, one for each rank that wrote.
struct Stored {
  std::string database;
  std::vector<std::string> raw;  ///< by rank
  Index3 grid{};
  std::vector<std::string> names;
  int step = 0;  ///< whose values these are
  int writers = 1;
};
/// Collective over `comm`, of any number of ranks. `cold`: from the disk, as far as the system forgets what it has in
/// memory.
[[nodiscard]] std::string read_back(MPI_Comm comm, const Stored& stored, int repeat, bool cold);

}  // namespace io
