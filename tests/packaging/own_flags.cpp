// A program that uses Sidestream with its own flags. It chooses which of MPI's interfaces it sees, here by default.
#include <sidestream/sidestream.hpp>

#include <cstdio>

#if defined(OMPI_SKIP_MPICXX) || defined(MPICH_SKIP_MPICXX)
#error "Sidestream's package decides which of MPI's interfaces this program sees"
#endif

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int status = 1;
  try {
    sidestream::Session::open_text(MPI_COMM_WORLD, "placement: nowhere").close();
  } catch (const sidestream::Error& error) {
    status = 0;
    std::printf("refused, as it must be: %s\n", error.what());
  }
  MPI_Finalize();
  return status;
}
