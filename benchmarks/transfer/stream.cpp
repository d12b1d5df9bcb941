#include "stream.hpp"

#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <sidestream/sidestream.hpp>
#include <stdexcept>

namespace transfer {

namespace {

/// Needs all of `field`, reads the first value of each block, and records the time.
class Look final : public sidestream::Task {
 public:
  Look(std::int32_t variable, Arrivals& arrivals) : variable_(variable), arrivals_(arrivals) {}
  sidestream::Selection selection() const override { return {{{variable_}}}; }
  sidestream::Bytes local(const sidestream::LocalInput& input) override {
    for (const sidestream::BlockView& view : input.of(variable_)) {
      const double step = *reinterpret_cast<const double*>(view.array.data);
      if (step == static_cast<double>(input.iteration.index)) continue;
      throw std::runtime_error(fmt::format("iteration {}: a block of step {} came", input.iteration.index, step));
    }
    arrivals_.push_back(seconds_now());
    return {};
  }
  sidestream::Bytes combine(const sidestream::CombineInput&) override { return {}; }

 private:
  std::int32_t variable_;
  Arrivals& arrivals_;
};

/// Room for two iterations on each client, as in the plain stream.
std::string configuration(const Case& c, const std::string& placement) {
  const std::uint64_t buffer = 2 * c.bytes() + c.bytes() / 2 + (1 << 20);
  return fmt::format(
      "placement: {{mode: nodes, servers: {}, buffer: {}, {}}}\n"
      "meshes: {{grid: {{type: uniform, size: [{}, {}, {}]}}}}\n"
      "variables: {{field: {{mesh: grid, components: {}}}}}\n"
      "output: {{directory: transfer-results, existing: replace, timings: false}}\n"
      "analyses:\n  - look: {{}}\n",
      c.servers, buffer, placement, c.cells, c.cells, c.cells, c.components);
}

}  // namespace

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Arrivals with_session(MPI_Comm comm, const Case& c, const std::string& placement, int steps,
                      const std::function<void(const std::function<void(int)>&)>& simulate) {
  Arrivals arrivals;
  auto session = sidestream::Session::open_text(comm, configuration(c, placement));
  sidestream::AnalysisKind look;
  look.name = "look";
  look.create = [&](const sidestream::Settings&, const sidestream::Metadata& metadata) {
    return std::make_unique<Look>(metadata.variables.front().id, arrivals);
  };
  session.registry().add(look);
  const bool client = !session.is_server();
  if (!client) {
    session.serve();
  } else {
    int number = 0, clients = 1;
    MPI_Comm_rank(session.comm(), &number);
    MPI_Comm_size(session.comm(), &clients);
    Case mine = c;
    mine.ranks = clients + c.servers;  // forwarders are not clients
    Arrays arrays(mine, number);
    const Range blocks = arrays.blocks();
    for (std::int64_t id = blocks.first; id < blocks.last; ++id) session.set_block("grid", id, c.box(id));
    session.start();
    simulate([&](int step) {
      arrays.step(step);
      for (std::int64_t id = blocks.first; id < blocks.last; ++id) {
        session.publish("field", id, arrays.of(id));
      }
      session.end_iteration(step, step);
    });
  }
  const sidestream::Account account = session.close();
  if (client && (account.delivered != steps || account.failed > 0)) {
    throw std::runtime_error(fmt::format("{} of {} steps were delivered, {} with a failed analysis", account.delivered,
                                         steps, account.failed));
  }
  return arrivals;
}

double sidestream_stream(MPI_Comm comm, const Case& c, const std::string& placement) {
  const Arrivals arrivals = with_session(comm, c, placement, all_steps, [](const auto& publish) {
    for (int step = 0; step < all_steps; ++step) publish(step);
  });
  double seconds = 0;
  if (!arrivals.empty()) seconds = (arrivals.back() - arrivals.at(warm_up - 1)) / (all_steps - warm_up);
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, comm);
  return seconds;
}

}  // namespace transfer
