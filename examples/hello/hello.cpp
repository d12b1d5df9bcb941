// The smallest program that publishes: a box of numbers, in planes. The same in hello.c, hello.f90 and hello.py.
#include <mpi.h>

#include <cstdint>
#include <iostream>
#include <sidestream/sidestream.hpp>
#include <vector>

namespace {

constexpr std::int64_t nx = 6, ny = 5, nz = 8, steps = 3;

void greet(sidestream::Session& session) {
  int rank = 0, ranks = 0;
  MPI_Comm_rank(session.comm(), &rank);
  MPI_Comm_size(session.comm(), &ranks);
  const std::int64_t k0 = nz * rank / ranks, k1 = nz * (rank + 1) / ranks;
  session.set("nx", nx);
  session.set("ny", ny);
  session.set("nz", nz);
  session.set_block("box", rank, {{0, 0, k0}, {nx, ny, k1}});
  session.start();
  for (std::int64_t step = 0; step < steps; ++step) {
    std::vector<double> values;
    for (std::int64_t k = k0; k < k1; ++k) {
      for (std::int64_t j = 0; j < ny; ++j) {
        for (std::int64_t i = 0; i < nx; ++i) {
          values.push_back(static_cast<double>(i + 10 * j + 100 * k + 1000 * step) / 3);
        }
      }
    }
    session.publish("greeting", rank, values);
    session.end_iteration(step, 0.5 * static_cast<double>(step));
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int status = 0;
  try {
    auto session = sidestream::Session::open(MPI_COMM_WORLD, "run.yaml");
    if (session.is_server()) {
      session.serve();
    } else {
      greet(session);
    }
    session.close();
  } catch (const sidestream::Error& error) {
    std::cerr << "hello: " << error.what() << '\n';
    status = 1;
  }
  MPI_Finalize();
  return status;
}
