// The program with Sidestream. This file has all of the instrumentation.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <sidestream/restart.hpp>
#include <sidestream/sidestream.hpp>

#include "coupling.hpp"
#include "mini_app/session_coupling.hpp"
#include "tree.hpp"

namespace blast {

namespace {

// For analyses: the tree, with parents.
constexpr const char* tree_mesh = "tree";
// For restarting: only the leaves, in Morton order, as points in their centres.
constexpr const char* leaf_mesh = "leaves";

class WithSidestream final : public mini_app::SessionCoupling<Coupling> {
 public:
  WithSidestream(MPI_Comm comm, const Options& options)
      : SessionCoupling(comm, options.sidestream), blocks_(options.blocks) {}

  void declare() override {
    using sidestream::Centering;
    using sidestream::Type;
    MPI_Comm_rank(comm(), &rank_);
    session_.add_octree_mesh(tree_mesh, {1, 1, 1}, {0, 0, 0}, {1, 1, 1}, "refined");
    add(tree_mesh, "refined", Type::uint8, Centering::cell, 1);
    add(tree_mesh, "owned", Type::uint8, Centering::cell, 1);
    session_.set_mesh_array(tree_mesh, sidestream::Role::owned, "owned");
    add(tree_mesh, "density", Type::float64, Centering::cell, 1);
    add(tree_mesh, "velocity", Type::float64, Centering::cell, 3);
    add(tree_mesh, "pressure", Type::float64, Centering::cell, 1);
    session_.add_points_mesh(leaf_mesh, 3, "leaf_middle");
    add(leaf_mesh, "leaf_middle", Type::float64, Centering::node, 3);
    add(leaf_mesh, "leaf_level", Type::uint8, Centering::node, 1);
    add(leaf_mesh, "leaf_state", Type::float64, Centering::node, fields);
    for (int b = 0; b < blocks_; ++b) session_.set_block_list(tree_mesh, number_of(b), 1, {});
    session_.set_block_list(leaf_mesh, rank_, 0, {});
    session_.start();
  }

  void publish(const Solver& solver) override {
    publish_trees(solver);
    publish_leaves(solver);
    session_.end_iteration(solver.clock().step, solver.clock().time);
  }

 private:
  void add(const char* mesh, const char* name, sidestream::Type type, sidestream::Centering centering, int components) {
    sidestream::Variable variable;
    variable.name = name;
    variable.type = type;
    variable.centering = centering;
    variable.components = components;
    session_.add_variable(mesh, variable);
  }

  [[nodiscard]] std::int64_t number_of(int tree) const { return std::int64_t{rank_} * blocks_ + tree; }

  void publish_trees(const Solver& solver) {
    const std::vector<Tree> trees = make_trees(solver.forest(), solver.values(), blocks_);
    for (int b = 0; b < blocks_; ++b) publish_tree(solver, trees[static_cast<std::size_t>(b)], number_of(b));
  }

  // Bounds of the tree's own leaves, so that only trees needed by an analysis move.
  static sidestream::Bounds bounds_of(const Solver& solver, const Tree& tree) {
    sidestream::Bounds bounds;
    for (std::size_t n = tree.begin; n < tree.end; ++n) {
      const Leaf& leaf = solver.forest().leaves()[n];
      for (std::size_t a = 0; a < 3; ++a) {
        bounds.low[a] = std::min(bounds.low[a], leaf.at[a] * leaf.size());
        bounds.high[a] = std::max(bounds.high[a], (leaf.at[a] + 1) * leaf.size());
      }
    }
    return bounds;
  }

  void publish_tree(const Solver& solver, const Tree& tree, std::int64_t block) {
    if (tree.begin == tree.end) {
      session_.set_block_list(tree_mesh, block, 0, {});
      return;
    }
    std::vector<double> density, pressure;
    std::vector<std::array<double, 3>> velocity;
    for (const Values& u : tree.values) {
      const Values w = solver.gas().primitive(u);
      density.push_back(w[0]);
      velocity.push_back({w[1], w[2], w[3]});
      pressure.push_back(w[4]);
    }
    session_.set_block_list(tree_mesh, block, static_cast<sidestream::Index>(tree.cells.size()), {},
                            bounds_of(solver, tree));
    session_.publish("refined", block, tree.refined);
    session_.publish("owned", block, tree.owned);
    session_.publish("density", block, density);
    session_.publish("velocity", block, velocity);
    session_.publish("pressure", block, pressure);
  }

  void publish_leaves(const Solver& solver) {
    const std::size_t local = solver.forest().local();
    const auto count = static_cast<sidestream::Index>(local);
    std::vector<std::array<double, 3>> middle;
    std::vector<std::uint8_t> level;
    for (std::size_t n = 0; n < local; ++n) {
      const Leaf& leaf = solver.forest().leaves()[n];
      middle.push_back({leaf.centre(0), leaf.centre(1), leaf.centre(2)});
      level.push_back(static_cast<std::uint8_t>(leaf.level));
    }
    session_.set_block_list(leaf_mesh, rank_, count, {count, 0, 0});
    if (count == 0) return;
    session_.publish("leaf_middle", rank_, middle);
    session_.publish("leaf_level", rank_, level);
    session_.publish("leaf_state", rank_, solver.values());
  }

  int rank_ = 0, blocks_ = 1;
};

}  // namespace

std::unique_ptr<Coupling> open_coupling(MPI_Comm comm, const Options& options) {
  // The environment variable may name a configuration, too; see sidestream_open.
  if (options.sidestream.empty() && std::getenv("SIDESTREAM_CONFIG") == nullptr)
    return std::make_unique<Coupling>(comm);
  return std::make_unique<WithSidestream>(comm, options);
}

Checkpoint restore(MPI_Comm comm, const Options& options) {
  auto stored = sidestream::Restart::open(comm, options.restart);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  for (const std::string& remark : stored.remarks()) {
    if (rank == 0) std::fprintf(stderr, "blast: %s\n", remark.c_str());
  }
  const std::int64_t all = stored.list_length("leaf_level");
  const std::int64_t first = all * rank / ranks, count = all * (rank + 1) / ranks - first;
  const auto size = static_cast<std::size_t>(count);
  Checkpoint checkpoint{
      std::vector<Leaf>(size), std::vector<Values>(size), {stored.iteration().cycle, stored.iteration().time}};
  std::vector<std::array<double, 3>> middle(size);
  std::vector<std::uint8_t> level(size);
  stored.read_list("leaf_middle", first, count, middle.data());
  stored.read_list("leaf_level", first, count, level.data());
  stored.read_list("leaf_state", first, count, checkpoint.values.data());
  for (std::size_t n = 0; n < size; ++n) {
    Leaf& leaf = checkpoint.leaves[n];
    leaf.level = level[n];
    // The centre of a cell whose size is a power of two is exact.
    for (std::size_t a = 0; a < 3; ++a) leaf.at[a] = static_cast<std::int32_t>(middle[n][a] / leaf.size());
  }
  return checkpoint;
}

}  // namespace blast
