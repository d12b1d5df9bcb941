// Column density, as column.c, in C++.
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include "sidestream/reader.hpp"

namespace {

using sidestream::Box;
using sidestream::Index;
using sidestream::Index3;
using sidestream::Mesh;
using sidestream::MeshKind;

// Cells of level `to` along one of level `from`, which is no finer.
Index ratio(const Mesh& mesh, std::size_t axis, int from, int to) {
  Index product = 1;
  for (int level = from; level < to; ++level) {
    const bool is_used = static_cast<int>(axis) < mesh.dimensions;
    product *=
        mesh.kind() == MeshKind::octree ? (is_used ? 2 : 1) : mesh.refinement[static_cast<std::size_t>(level)][axis];
  }
  return product;
}

// The rows of a map that a rank makes.
class Map {
 public:
  Map(const Mesh& mesh, int level, int rank, int size) : mesh_(mesh), level_(level) {
    box_ = mesh.cells;
    if (mesh.kind() == MeshKind::octree) {
      const auto& octree = static_cast<const sidestream::OctreeGeometry&>(*mesh.geometry);
      box_ = {{0, 0, 0}, octree.roots()};
      depth_ = octree.spacing()[2];
    } else if (mesh.kind() == MeshKind::uniform) {
      depth_ = static_cast<const sidestream::UniformGeometry&>(*mesh.geometry).spacing()[2];
      level_ = std::min(level_, static_cast<int>(mesh.refinement.size()));
    } else {
      throw std::runtime_error("'" + mesh.name + "' is no octree and no uniform mesh");
    }
    for (std::size_t a = 0; a < 3; ++a) {
      box_.lo[a] *= ratio(mesh, a, 0, level_);
      box_.hi[a] *= ratio(mesh, a, 0, level_);
    }
    const Index rows = box_.extent(1), begin = box_.lo[1];
    box_.lo[1] = begin + rows * rank / size;
    box_.hi[1] = begin + rows * (rank + 1) / size;
    values_.resize(static_cast<std::size_t>(box_.extent(0) * box_.extent(1)));
  }

  // Adds a cell to the pixels that it covers, or to the one in which it lies.
  void add(int level, const Index3& index, double value) {
    double weight = depth_ / static_cast<double>(ratio(mesh_, 2, 0, level));
    std::array<Index, 2> first{}, past{};
    for (std::size_t a = 0; a < 2; ++a) {
      if (level > level_) {
        const Index finer = ratio(mesh_, a, level_, level);
        weight /= static_cast<double>(finer);
        first[a] = index[a] / finer;
        past[a] = first[a] + 1;
      } else {
        const Index covered = ratio(mesh_, a, level, level_);
        first[a] = index[a] * covered;
        past[a] = first[a] + covered;
      }
      first[a] = std::max(first[a], box_.lo[a]);
      past[a] = std::min(past[a], box_.hi[a]);
    }
    for (Index j = first[1]; j < past[1]; ++j) {
      for (Index i = first[0]; i < past[0]; ++i) {
        values_[static_cast<std::size_t>((j - box_.lo[1]) * box_.extent(0) + i - box_.lo[0])] += value * weight;
      }
    }
  }

  [[nodiscard]] int level() const { return level_; }
  [[nodiscard]] const Box& box() const { return box_; }
  [[nodiscard]] const std::vector<double>& values() const { return values_; }

 private:
  const Mesh& mesh_;
  int level_;
  Box box_;
  double depth_ = 0;
  std::vector<double> values_;
};

void write(const std::string& path, const Map& map) {
  const Index count = static_cast<Index>(map.values().size());
  Index first = 0;
  MPI_Exscan(&count, &first, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  MPI_File file;
  const int mode = MPI_MODE_CREATE | MPI_MODE_WRONLY;
  if (MPI_File_open(MPI_COMM_WORLD, path.c_str(), mode, MPI_INFO_NULL, &file) != MPI_SUCCESS)
    throw std::runtime_error("cannot write '" + path + "'");
  MPI_File_write_at_all(file, first * static_cast<MPI_Offset>(sizeof(double)), map.values().data(),
                        static_cast<int>(count), MPI_DOUBLE, MPI_STATUS_IGNORE);
  MPI_File_close(&file);
}

void run(const std::string& directory, const std::string& name, int level, const std::string& path, int rank,
         int size) {
  const sidestream::Reader reader = sidestream::Reader::open(MPI_COMM_WORLD, directory);
  sidestream::StoredContext context = reader.open_context(static_cast<Index>(reader.contexts().size()) - 1);
  const sidestream::Variable* variable = context.metadata().find_variable(name);
  if (variable == nullptr || variable->type != sidestream::Type::float64)
    throw std::runtime_error("'" + name + "' is no variable of float64");
  const Mesh& mesh = context.metadata().mesh_of(*variable);
  Map map(mesh, level, rank, size);
  std::string problem;
  Index counts[2] = {0, 0}, sums[2];
  try {
    sidestream::CellSelection selection;
    selection.level = map.level();
    selection.box = map.box();
    const sidestream::Cells cells = context.list_cells(mesh.name, selection);
    const auto components = static_cast<std::size_t>(variable->components);  // the first one counts
    std::vector<double> values(cells.size() * components);
    context.read_cells(name, cells, values.data(), values.size() * sizeof(double));
    for (std::size_t n = 0; n < cells.size(); ++n) map.add(cells.level()[n], cells.index()[n], values[n * components]);
    counts[0] = static_cast<Index>(cells.size());
  } catch (const sidestream::Error& error) {
    problem = error.what();  // of this rank only: the others learn of it before they write together
  }
  int failed = problem.empty() ? 0 : 1;
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (failed) throw std::runtime_error(problem.empty() ? "another rank failed" : problem);
  counts[1] = static_cast<Index>(context.bytes_read());
  MPI_Reduce(counts, sums, 2, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
  write(path, map);
  if (rank == 0)
    std::printf("cells=%lld bytes=%lld\n", static_cast<long long>(sums[0]), static_cast<long long>(sums[1]));
}

}  // namespace

int main(int argc, char** argv) {
  int rank = 0, size = 1, failed = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  try {
    if (argc != 5) throw std::runtime_error("usage: column DIRECTORY VARIABLE LEVEL FILE");
    run(argv[1], argv[2], std::atoi(argv[3]), argv[4], rank, size);
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "column: rank %d: %s\n", rank, problem.what());
    failed = 1;
  }
  MPI_Finalize();
  return failed;
}
