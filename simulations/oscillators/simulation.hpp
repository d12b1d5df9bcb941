// The time loop.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "coupling.hpp"
#include "stop.hpp"
#include "timing.hpp"

namespace oscillators {

/// This rank's part of the run. All calls are collective over the coupling's communicator.
class Simulation {
 public:
  /// Cuts the grid, makes the tables and declares the blocks. Throws std::exception.
  Simulation(const Options& options, std::vector<Oscillator> oscillators, Coupling& coupling);

  /// Runs to the end, to a signal or to the first failure, which it prints. Returns the exit status.
  [[nodiscard]] int run();

 private:
  struct Part {
    Patch patch;
    Field field;
    std::vector<std::byte> own;  // values, unless the step is computed in the coupling's memory
    void* data = nullptr;        // this step's values
  };
  void add_parts();
  [[nodiscard]] int first_step();
  void check_restored(const Part& part, const std::vector<std::byte>& restored, int number) const;
  void step(int number, StepTimes& times);
  void compute(double time);
  void evaluate(Part& part, const std::vector<double>& amplitudes) const;
  void spoil_ghosts(const Part& part) const;
  [[nodiscard]] std::vector<const void*> values() const;
  [[nodiscard]] int finish(Verdict verdict, const std::string& failure);

  const Options& options_;
  std::vector<Oscillator> oscillators_;
  Coupling& coupling_;
  MPI_Comm comm_;
  int rank_ = 0, ranks_ = 1;
  std::int64_t blocks_ = 1;
  std::vector<Part> parts_;
  std::vector<Patch> patches_;
  std::vector<StepTimes> times_;
  double began_ = 0;
};

}  // namespace oscillators
