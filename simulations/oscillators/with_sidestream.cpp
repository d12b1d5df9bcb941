// The program with Sidestream. This file has all of the instrumentation.
#include <sidestream/restart.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <sidestream/sidestream.hpp>

#include "coupling.hpp"
#include "input.hpp"
#include "mini_app/session_coupling.hpp"

namespace oscillators {

namespace {

constexpr const char* mesh = "grid";
constexpr const char* variable = "field";

sidestream::Box to_sidestream(const Box& box) { return {box.lo, box.hi}; }

class WithSidestream final : public mini_app::SessionCoupling<Coupling> {
 public:
  WithSidestream(MPI_Comm comm, const Options& options)
      : SessionCoupling(comm, options.sidestream), in_place_(options.in_place) {}

  void declare(const Options& options, const std::vector<Patch>& patches) override {
    declare_parameters(options);
    const Grid& grid = options.grid;
    session_.add_uniform_mesh(mesh, {grid.cells[0], grid.cells[1], grid.cells[2]}, {0, 0, 0},
                              {grid.spacing(0), grid.spacing(1), grid.spacing(2)});
    sidestream::Variable field;
    field.name = variable;
    type_ = options.element == Element::float32 ? sidestream::Type::float32 : sidestream::Type::float64;
    field.type = type_;
    field.centering = grid.nodes ? sidestream::Centering::node : sidestream::Centering::cell;
    session_.add_variable(mesh, field);
    for (const Patch& patch : patches) {
      session_.set_block(mesh, patch.id, to_sidestream(patch.cells));
      session_.set_allocated(variable, patch.id, to_sidestream(patch.allocated));
    }
    session_.start();
  }

  void* memory(const Patch& patch) override {
    if (!in_place_) return nullptr;
    void* const data = session_.alloc_values(variable, patch.id, type_, values_of(patch));
    if (data != nullptr) lent_.insert(data);
    return data;
  }

  void publish(const Patch& patch, const void* data) override {
    if (lent_.erase(data) == 0) {
      // With `in_place` this step was refused for lack of room, so there is nothing to publish.
      if (!in_place_) session_.publish(variable, patch.id, sidestream::Values(type_, data, values_of(patch)));
      return;
    }
    session_.commit(variable, patch.id);
    session_.clear(variable, patch.id);  // the next step does not read this one's values
  }

  void end_step(std::int64_t step, double time) override { session_.end_iteration(step, time); }

 private:
  // Parameters for configurations: $nx, $ny, $nz cells, $hx, $hy, $hz spacing.
  void declare_parameters(const Options& options) {
    constexpr const char* cells[3] = {"nx", "ny", "nz"};
    constexpr const char* spacing[3] = {"hx", "hy", "hz"};
    for (int axis = 0; axis < 3; ++axis) {
      session_.set(cells[axis], options.grid.cells[axis]);
      session_.set(spacing[axis], options.grid.spacing(axis));
    }
  }

  static std::size_t values_of(const Patch& patch) {
    return static_cast<std::size_t>(to_sidestream(patch.allocated).count());
  }

  sidestream::Type type_ = sidestream::Type::float64;
  bool in_place_;
  std::set<const void*> lent_;
};

}  // namespace

std::unique_ptr<Coupling> open_coupling(MPI_Comm comm, const Options& options) {
  // The environment variable may name a configuration, too; see sidestream_open.
  if (options.sidestream.empty() && std::getenv("SIDESTREAM_CONFIG") == nullptr)
    return std::make_unique<Coupling>(comm);
  return std::make_unique<WithSidestream>(comm, options);
}

namespace {

// Uses the C calls, as a code in C would.
class Checkpoint {
 public:
  Checkpoint(MPI_Comm comm, const std::string& directory) {
    if (sidestream_restart_open(comm, directory.c_str(), nullptr, &restart_) != SIDESTREAM_OK) {
      throw UserError(sidestream_restart_message(nullptr));
    }
  }
  ~Checkpoint() { sidestream_restart_close(&restart_); }
  Checkpoint(const Checkpoint&) = delete;
  Checkpoint& operator=(const Checkpoint&) = delete;

  void check(int code) const {
    if (code != SIDESTREAM_OK) throw UserError(sidestream_restart_message(restart_));
  }
  [[nodiscard]] sidestream_restart* get() const { return restart_; }

 private:
  sidestream_restart* restart_ = nullptr;
};

void check_field(const Checkpoint& checkpoint, const Options& options) {
  sidestream_stored_variable stored{};
  stored.struct_size = sizeof stored;
  checkpoint.check(sidestream_restart_variable(checkpoint.get(), variable, &stored));
  const Box points = options.grid.points();
  const bool same = std::equal(points.lo.begin(), points.lo.end(), stored.lo) &&
                    std::equal(points.hi.begin(), points.hi.end(), stored.hi);
  const auto type = options.element == Element::float32 ? SIDESTREAM_FLOAT32 : SIDESTREAM_FLOAT64;
  if (!same || stored.type != type) {
    throw UserError("the checkpoint in '" + options.restart +
                    "' is of another grid or type; give --grid, --centering and --type of that run.");
  }
}

}  // namespace

int restore(MPI_Comm comm, const Options& options, const std::vector<Patch>& patches, const std::vector<void*>& data) {
  const Checkpoint checkpoint(comm, options.restart);
  check_field(checkpoint, options);
  for (std::size_t n = 0; n < patches.size(); ++n) {
    const Box points = options.grid.points(patches[n].cells);
    checkpoint.check(sidestream_restart_read_box(checkpoint.get(), variable, 0, points.lo.data(), points.hi.data(),
                                                 patches[n].allocated.lo.data(), patches[n].allocated.hi.data(),
                                                 data[n]));
  }
  std::int64_t step = 0;
  checkpoint.check(sidestream_restart_iteration(checkpoint.get(), nullptr, &step, nullptr));
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  const std::string remarks = sidestream_restart_remarks(checkpoint.get());
  if (rank == 0 && !remarks.empty()) std::fprintf(stderr, "oscillators: %s\n", remarks.c_str());
  return static_cast<int>(step);
}

}  // namespace oscillators
