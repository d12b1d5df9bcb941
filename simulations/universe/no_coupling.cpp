#include "coupling.hpp"

namespace universe {

namespace {

class NoCoupling final : public Coupling {
 public:
  explicit NoCoupling(MPI_Comm comm) : comm_(comm) {}
  bool serve() override { return false; }
  [[nodiscard]] MPI_Comm comm() const override { return comm_; }
  void declare(const Layout&, const Options&) override {}
  void publish(const State&) override {}
  void end_iteration(const State&) override {}
  std::string close() override { return ""; }

 private:
  MPI_Comm comm_;
};

}  // namespace

std::unique_ptr<Coupling> no_coupling(MPI_Comm comm) { return std::make_unique<NoCoupling>(comm); }

}  // namespace universe
