#include "faults/run.hpp"

#include <unistd.h>

#include <cmath>
#include <cstring>
#include <exception>
#include <fstream>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "session/serving/attached_groups.hpp"
#include "support/faults.hpp"

namespace sidestream::testing {

namespace {

constexpr Index cells = 12;

/// Sets the fault when its stage begins, and removes it at the end of the stage. Without a fault it counts the
/// allocations of each stage.
class Stages {
 public:
  Stages(const Fault& fault, int rank, Ending& ending)
      : fault_(fault), mine_(fault.rank == rank), counts_(fault.n == 0), ending_(ending) {
    begun_.fill(-1);
  }

  void begin(const char* stage) {
    if (counts_) begun_[number_of(stage)] = sidestream_test_allocations();
    if (!mine_ || fault_.stage != stage) return;
    armed_ = true;
    sidestream_test_fail_any_allocation(fault_.n);
  }
  void end(const char* stage) {
    long& begun = begun_[number_of(stage)];
    if (counts_ && begun >= 0) ending_.allocations[number_of(stage)] = sidestream_test_allocations() - begun;
    begun = -1;
    if (mine_ && fault_.stage == stage) disarm();
  }
  /// Removes the fault, also for a stage that never ended.
  void disarm() {
    const long reached = sidestream_test_fail_any_allocation(0);
    if (armed_) ending_.reached = reached;
    armed_ = false;
  }
  /// Does one call of the stage. Notes an exception, and returns false then.
  bool call(const char* stage, const std::function<void()>& work, bool in_stage = true) {
    if (in_stage) begin(stage);
    try {
      work();
      if (in_stage) end(stage);
      return true;
    } catch (const Error& e) {
      if (in_stage) end(stage);
      if (ending_.errors++ == 0) note(ending_.first, stage, e.what());
    } catch (const std::exception& e) {
      if (in_stage) end(stage);
      note(ending_.escaped, stage, e.what());
    } catch (...) {
      if (in_stage) end(stage);
      note(ending_.escaped, stage, "no exception of the standard library");
    }
    return false;
  }

 private:
  template <std::size_t N>
  static void note(char (&to)[N], const char* stage, const char* text) {
    std::snprintf(to, N, "%s: %s", stage, text);
  }

  const Fault& fault_;
  bool mine_, counts_;
  bool armed_ = false;  ///< true in the stage of the fault
  Ending& ending_;
  std::array<long, stage_names.size()> begun_;  ///< -1 outside the stage
};

/// An analysis that begins the stage `iteration` when servers work on that iteration, and ends it at the next.
class Mark final : public Task {
 public:
  Mark(Stages& stages, std::int32_t variable) : stages_(stages), variable_(variable) {}
  [[nodiscard]] Selection selection() const override { return {{{variable_, 0}}}; }
  [[nodiscard]] Bytes local(const LocalInput& input) override { return look(input.iteration), Bytes{}; }
  Bytes combine(const CombineInput& input) override { return look(input.iteration), Bytes{}; }

 private:
  void look(const Iteration& iteration) {
    if (iteration.index == fault_step && !begun_) stages_.begin("iteration"), begun_ = true;
    if (iteration.index == fault_step + 1 && begun_) stages_.end("iteration"), begun_ = false;
  }
  Stages& stages_;
  std::int32_t variable_;
  bool begun_ = false;
};

AnalysisKind mark_kind(Stages& stages) {
  Option variable{"variable", OptionType::variable};
  variable.required = true;
  return {"mark", "Says when an iteration is worked on.", {variable}, [&](const Settings& s, const Metadata& m) {
            return std::make_unique<Mark>(stages, m.find_variable(s.text("variable"))->id);
          }};
}

double value(Index i, Index j, Index k, int step) {
  return std::sin(0.5 * static_cast<double>(i) + step) + std::cos(0.4 * static_cast<double>(j * k));
}

/// A client with its part of the mesh, which it publishes.
class Simulation {
 public:
  Simulation(Session& session, Stages& stages, Ending& ending) : session_(session), stages_(stages), ending_(ending) {
    MPI_Comm_rank(session.comm(), &rank_);
    MPI_Comm_size(session.comm(), &size_);
    box_ = {{0, 0, cells * rank_ / size_}, {cells, cells, cells * (rank_ + 1) / size_}};
    values_.resize(static_cast<std::size_t>(box_.count()));
  }

  void run() {
    const bool declared = stages_.call("declare", [&] {
      session_.set("n", std::int64_t{cells});
      session_.set_block("grid", rank_, box_);
    });
    // A client that could not declare closes, and then the others fail to start.
    if (!declared || !stages_.call("start", [&] { session_.start(); })) return;
    for (int step = 0; step < steps; ++step) one(step);
  }

 private:
  void one(int step) {
    double* at = values_.data();
    for (Index k = box_.lo[2]; k < box_.hi[2]; ++k) {
      for (Index j = 0; j < cells; ++j) {
        for (Index i = 0; i < cells; ++i) *at++ = value(i, j, k, step);
      }
    }
    bool taken = true;
    const bool now = step == fault_step;
    const auto publish = [&](const char* stage, const char* variable) {
      const auto hand_over = [&] { taken &= session_.publish(variable, rank_, values_) == Taken::yes; };
      static_cast<void>(stages_.call(stage, hand_over, now));
    };
    publish("publish", "t");
    if (step % 2 == 0) publish("keep", "s");
    static_cast<void>(stages_.call(
        "end", [&] { taken &= session_.end_iteration(step, 0.5 * step) == Taken::yes; }, now));
    ending_.refused += !taken;
  }

  Session& session_;
  Stages& stages_;
  Ending& ending_;
  int rank_ = 0, size_ = 1;
  Box box_;
  std::vector<double> values_;
};

constexpr const char* tasks = R"(
meshes: {grid: {type: uniform, size: [$n, $n, $n], spacing: [0.1, 0.1, 0.1]}}
variables:
  t: {mesh: grid, type: float64}
  s: {mesh: grid, type: float64, time_varying: false}
)";
// Without groups their names have no effect.
constexpr const char* analyses = R"(  - statistics: {variable: t, group: b}
  - statistics: {name: still, variable: s, file: still.csv, group: a}
  - histogram: {variable: t, bins: 5, group: a}
  - isosurface: {variable: t, values: [0.4], file: "surface-{index:03}.vtp", group: b}
outputs:
  - hdf5: {variables: [t, s], file: "fields-{index:03}.h5", group: a}
)";
/// An analysis for each group.
constexpr const char* marks = R"(  - mark: {variable: t, group: a}
  - mark: {name: other, variable: t, group: b}
)";

std::string placement_of(const Case& one, const Fault& fault, const std::string& folder) {
  // A simulation whose servers fail need not wait long for others.
  const std::string limit = fault.n > 0 && fault.rank >= one.ranks - one.separate ? "4" : "30";
  const std::string groups = one.groups ? ", groups: {a: 1, b: 1}" : "";
  if (one.placement == "job") {
    return "{mode: job, buffer: 2 MiB, per_node: 2" + groups + ", stream: {engine: files, directory: " + folder +
           "/streams, reader_limit: " + limit + "}}";
  }
  if (one.placement != "sidecar") return one.placement;
  return "{mode: sidecar, buffer: 2 MiB, per_node: 2" + groups + ", session: faults" + std::to_string(getppid()) +
         ", attach_limit: " + limit + "}";
}

void write_configuration(const Case& one, const Fault& fault, const std::string& folder) {
  std::ofstream(folder + "/run.yaml") << "placement: " << placement_of(one, fault, folder) << tasks << "analyses:\n"
                                      << (!one.has_mark ? ""
                                          : one.groups  ? marks
                                                        : "  - mark: {variable: t}\n")
                                      << analyses << "output: {directory: " << folder << "/results}\ndrain_limit: 30\n";
}

void run_member(MPI_Comm comm, const Case& one, Stages& stages, const std::string& folder, Ending& ending) {
  std::optional<Session> session;
  const std::string file = folder + "/run.yaml";
  const bool opened = stages.call("open", [&] { session.emplace(Session::open(comm, file)); });
  if (opened) {
    ending.server = session->is_server();
    if (one.has_mark) session->registry().add(mark_kind(stages));
    if (ending.server) {
      static_cast<void>(stages.call("serve", [&] { session->serve(); }));
      stages.end("iteration");
    } else {
      Simulation(*session, stages, ending).run();
    }
    ending.closed = stages.call("close", [&] { ending.account = session->close(); });
  }
  session.reset();
  // Processes that wait for this simulation can stop then.
  if (ending.errors > 0) std::ofstream(folder + "/stop") << "x";
}

void run_separate(MPI_Comm comm, const Case& one, Stages& stages, const std::string& folder, Ending& ending) {
  ending.server = 1;
  const std::string told = folder + "/stop";
  const AttachOptions attach{folder + "/run.yaml", 60, {}, [&] { return access(told.c_str(), F_OK) == 0; }};
  ending.closed = stages.call("serve", [&] {
    if (one.placement == "sidecar") {
      serve_sidecar(comm, attach);
    } else {
      run_endpoint(comm, attach);
    }
  });
}

}  // namespace

Ending run_session(MPI_Comm comm, const Case& one, const Fault& fault, const std::string& folder) {
  Ending ending;
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  if (rank == 0) write_configuration(one, fault, folder);
  MPI_Barrier(comm);
  Stages stages(fault, rank, ending);
  const bool separate = rank >= one.ranks - one.separate;
  MPI_Comm job = MPI_COMM_NULL;
  MPI_Comm_split(comm, separate, rank, &job);
  if (separate) {
    run_separate(job, one, stages, folder, ending);
  } else {
    run_member(job, one, stages, folder, ending);
  }
  stages.disarm();
  MPI_Comm_free(&job);
  return ending;
}

}  // namespace sidestream::testing
