// Files written by the first rank.
#pragma once

#include <cstdio>
#include <string>

#include "layout.hpp"
#include "options.hpp"

namespace universe {

/// Collective: calls `write(file)` on the first rank. An error is one on all ranks, with the option in its message.
template <typename Write>
void write_file(const Layout& layout, const std::string& option, const std::string& file, const Write& write) {
  int good = 1;
  if (layout.rank() == 0) {
    std::FILE* const out = std::fopen(file.c_str(), "wb");
    good = out != nullptr && write(out) ? 1 : 0;
    if (out != nullptr && std::fclose(out) != 0) good = 0;
  }
  MPI_Bcast(&good, 1, MPI_INT, 0, layout.comm());
  if (good == 0) {
    throw UserError(option + " " + file + ": the file cannot be written; name one in a writable directory.");
  }
}

}  // namespace universe
