// The program with Sidestream. This file has all of the instrumentation.
#include <cstdio>
#include <cstdlib>
#include <sidestream/restart.hpp>
#include <sidestream/sidestream.hpp>

#include "coupling.hpp"
#include "mini_app/session_coupling.hpp"

namespace advection {

namespace {

constexpr const char* mesh = "patches";
constexpr const char* density = "density";

sidestream::Box box_of(const Box& box) {
  sidestream::Box same;
  for (std::size_t a = 0; a < 3; ++a) {
    same.lo[a] = box.lo[a];
    same.hi[a] = box.hi[a];
  }
  return same;
}

class WithSidestream final : public mini_app::SessionCoupling<Coupling> {
 public:
  WithSidestream(MPI_Comm comm, const Options& options)
      : SessionCoupling(comm, options.sidestream), options_(options) {}

  void declare(const Solver& solver) override {
    const Geometry& geometry = solver.geometry();
    const auto axes = static_cast<std::size_t>(geometry.axes());
    session_.add_uniform_mesh(mesh, std::vector<sidestream::Index>(axes, geometry.cells(0)),
                              std::vector<double>(axes, 0.0), std::vector<double>(axes, geometry.spacing(0)));
    const Index3 ratio = geometry.ratio();
    if (options_.levels > 1) {
      session_.set_refinement(mesh, std::vector<sidestream::Index3>(static_cast<std::size_t>(options_.levels) - 1,
                                                                    {ratio[0], ratio[1], ratio[2]}));
    }
    session_.set_periodic(mesh, {true, true, axes == 3});
    sidestream::Variable variable;
    variable.name = density;
    variable.type = sidestream::Type::float64;
    variable.centering = sidestream::Centering::cell;
    session_.add_variable(mesh, variable);
    if (options_.ghosts) session_.set_attribute(density, "ghosts", "filled");
    change_blocks(solver);
    session_.start();
  }

  void publish(Solver& solver) override {
    change_blocks(solver);
    if (options_.ghosts) solver.fill_ghosts();
    for (const Level& level : solver.levels()) {
      for (std::size_t p = 0; p < level.patches.size(); ++p) {
        if (level.own(p)) publish(level, p);
      }
    }
    session_.end_iteration(solver.clock().step, solver.clock().time);
  }

 private:
  // Declares this rank's patches as they are now.
  void change_blocks(const Solver& solver) {
    std::vector<sidestream::Block> now;
    for (std::size_t l = 0; l < solver.levels().size(); ++l) {
      const Level& level = solver.levels()[l];
      for (std::size_t p = 0; p < level.patches.size(); ++p) {
        if (!level.own(p)) continue;
        sidestream::Block& block = now.emplace_back();
        block.id = level.patches[p].id;
        block.level = static_cast<int>(l);
        block.cells = box_of(level.patches[p].box);
      }
    }
    session_.replace_blocks(mesh, now);
    for (const sidestream::Block& block : now) {
      if (options_.ghosts) session_.set_allocated(density, block.id, with_ghosts(block.cells));
    }
  }

  [[nodiscard]] sidestream::Box with_ghosts(sidestream::Box box) const {
    for (std::size_t a = 0; a < static_cast<std::size_t>(options_.dimensions); ++a) {
      box.lo[a] -= ghost_layers;
      box.hi[a] += ghost_layers;
    }
    return box;
  }

  void publish(const Level& level, std::size_t patch) {
    const Field& values = level.density[patch];
    const Box& box = level.patches[patch].box;
    if (options_.ghosts) {
      session_.publish(density, level.patches[patch].id, values.data(), static_cast<std::size_t>(values.box().count()));
      return;
    }
    // The patch is a part of the array.
    std::vector<sidestream::Index> extents, strides;
    for (int a = 0; a < options_.dimensions; ++a) {
      extents.push_back(box.size(a));
      strides.push_back(values.stride(static_cast<std::size_t>(a)));
    }
    const double* const first = values.data() + values.place(box.lo[0], box.lo[1], box.lo[2]);
    session_.publish(density, level.patches[patch].id, {first, extents, strides});
  }

  Options options_;
};

// The boxes of a checkpoint by level.
Stored patches_of(const sidestream::Restart& stored, const Options& options) {
  const sidestream::Mesh* const found = stored.metadata().find_mesh(mesh);
  const Geometry geometry(options);
  const Box all = geometry.domain(0);
  if (found == nullptr || found->cells != box_of(all) ||
      static_cast<int>(found->refinement.size()) != options.levels - 1) {
    throw UserError("--restart " + options.restart +
                    ": that run had other --cells, --dimensions or --levels; give "
                    "the same.");
  }
  Stored patches;
  patches.clock = {stored.iteration().cycle, stored.iteration().time};
  for (const sidestream::Block& block : stored.blocks(mesh)) {
    const auto level = static_cast<std::size_t>(block.level);
    if (patches.boxes.size() <= level) patches.boxes.resize(level + 1);
    Box box;
    for (std::size_t a = 0; a < 3; ++a) {
      box.lo[a] = static_cast<Index>(block.cells.lo[a]);
      box.hi[a] = static_cast<Index>(block.cells.hi[a]);
    }
    patches.boxes[level].push_back(box);
  }
  return patches;
}

}  // namespace

std::unique_ptr<Coupling> open_coupling(MPI_Comm comm, const Options& options) {
  // The environment variable may name a configuration, too; see sidestream_open.
  if (options.sidestream.empty() && std::getenv("SIDESTREAM_CONFIG") == nullptr)
    return std::make_unique<Coupling>(comm);
  return std::make_unique<WithSidestream>(comm, options);
}

std::unique_ptr<Solver> restore(MPI_Comm comm, const Options& options) {
  auto stored = sidestream::Restart::open(comm, options.restart);
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  for (const std::string& remark : stored.remarks()) {
    if (rank == 0) std::fprintf(stderr, "advection: %s\n", remark.c_str());
  }
  auto solver = std::make_unique<Solver>(comm, options, patches_of(stored, options));
  for (std::size_t l = 0; l < solver->levels().size(); ++l) {
    Level& level = solver->levels()[l];
    for (std::size_t p = 0; p < level.patches.size(); ++p) {
      if (!level.own(p)) continue;
      Field& values = level.density[p];
      stored.read_box(density, static_cast<std::int32_t>(l), box_of(level.patches[p].box), box_of(values.box()),
                      values.data());
    }
  }
  return solver;
}

}  // namespace advection
