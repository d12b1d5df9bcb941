// Writes the whole field into one raw file, for comparing runs. Everything passes through rank 0, so grids should be
// small.
#pragma once

#include <mpi.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "coupling.hpp"

namespace oscillators {

class Dump {
 public:
  /// Collective. Throws UserError on all ranks alike if rank 0 cannot create the file.
  Dump(MPI_Comm comm, std::string file, const Options& options);

  /// Collective: appends one step. `data[n]` belongs to `patches[n]`; ghosts are left out. Points shared by two blocks
  /// come from the one with the greater id.
  void add(const std::vector<Patch>& patches, const std::vector<const void*>& data);

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  void agree(bool good) const;
  MPI_Comm comm_;
  int rank_ = 0;
  std::string file_;
  Grid grid_;
  std::size_t element_;
  std::unique_ptr<std::FILE, Close> out_;  // on rank 0
};

}  // namespace oscillators
