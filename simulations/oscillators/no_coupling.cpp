#include "coupling.hpp"

namespace oscillators {

namespace {

class NoCoupling final : public Coupling {
 public:
  explicit NoCoupling(MPI_Comm comm) : comm_(comm) {}
  bool serve() override { return false; }
  [[nodiscard]] MPI_Comm comm() const override { return comm_; }
  void declare(const Options&, const std::vector<Patch>&) override {}
  void* memory(const Patch&) override { return nullptr; }
  void publish(const Patch&, const void*) override {}
  void end_step(std::int64_t, double) override {}
  std::string close() override { return ""; }

 private:
  MPI_Comm comm_;
};

}  // namespace

std::unique_ptr<Coupling> no_coupling(MPI_Comm comm) { return std::make_unique<NoCoupling>(comm); }

}  // namespace oscillators
