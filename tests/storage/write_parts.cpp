// Writes results that are spread over servers, in one file and in pieces, for test_parts.py. Usage: mpirun -n N
// storage_write_parts DIRECTORY
#include <mpi.h>

#include <cstdio>
#include <cstring>
#include <exception>
#include <numeric>

#include "storage/register.hpp"
#include "storage/results/result_store.hpp"
#include "storage/support/sample.hpp"

namespace {

using namespace sidestream;
using namespace sidestream::testing;

constexpr Index rows = 17, layers = 7, width = 5;

/// The beginning of a server's part; server 1 has nothing.
Index first(Index all, int server, int servers) {
  if (server == 0) return 0;
  if (server <= 2 && servers > 1) return all / 3;
  return all / 3 + (all - all / 3) * (server - 2) / (servers - 2 > 0 ? servers - 2 : 1);
}

Index last(Index all, int server, int servers) { return server == servers - 1 ? all : first(all, server + 1, servers); }

Table table(Index from, Index to) {
  std::vector<std::int64_t> numbers;
  std::vector<double> reals;
  std::vector<std::string> texts;
  for (Index n = from; n < to; ++n) {
    numbers.push_back(1000000000000 * n);
    reals.push_back(0.1 * static_cast<double>(n));
    texts.push_back("row, \"" + std::to_string(n) + "\"");
  }
  return Table({{"number", numbers}, {"real", reals}, {"text", texts}});
}

/// A row of separate triangles.
Surface surface(Index from, Index to) {
  Surface made;
  made.point_data.push_back({"place", 2, {}});
  for (Index n = from; n < to; ++n) {
    const auto x = static_cast<double>(n);
    const auto point = static_cast<std::int64_t>(made.points.size());
    made.points.insert(made.points.end(), {{x, 0, 0}, {x + 1, 0, 0.1}, {x, 1, 0.2}});
    made.triangles.push_back({point, point + 1, point + 2});
    for (int c = 0; c < 6; ++c) made.point_data[0].values.push_back(x + 0.1 * c);
  }
  return made;
}

/// A server's layers of a box of whole numbers, and its columns of a plane of floats.
DataSet data(int server, int servers) {
  DataSet made;
  made.attributes = {{"answer", std::int64_t{42}}, {"code", std::string("a <test>")}};
  const Index low = first(layers, server, servers), high = last(layers, server, servers);
  std::vector<std::int64_t> box(static_cast<std::size_t>((high - low) * 3 * width));
  std::iota(box.begin(), box.end(), low * 3 * width);
  DataSet::Array& numbers = made.arrays.emplace_back();
  numbers = {"numbers", Type::int64, {"z", "y", "x"}, {layers, 3, width}, {low, 0, 0}, {high - low, 3, width}, "m"};
  numbers.attributes = {{"scale", 0.5}};
  numbers.values.assign(reinterpret_cast<const std::byte*>(box.data()),
                        reinterpret_cast<const std::byte*>(box.data() + box.size()));
  const Index left = first(width, server, servers), right = last(width, server, servers);
  std::vector<float> plane;
  for (Index row = 0; row < 4; ++row) {
    for (Index column = left; column < right; ++column) plane.push_back(static_cast<float>(100 * row + column));
  }
  DataSet::Array& floats = made.arrays.emplace_back();
  floats = {"a plane %", Type::float32, {"row", "column"}, {4, width}, {0, left}, {4, right - left}};
  floats.values.assign(reinterpret_cast<const std::byte*>(plane.data()),
                       reinterpret_cast<const std::byte*>(plane.data() + plane.size()));
  return made;
}

template <class Action>
void refused(const char* name, int rank, Action action) {
  try {
    action();
    std::printf("%s %d: nothing was thrown\n", name, rank);
  } catch (const Error& error) {
    std::printf("%s %d: %s\n", name, rank, error.what());
  }
  std::fflush(stdout);
}

void write(const std::string& directory) {
  MpiCommunicator world(MPI_COMM_WORLD);
  const int me = world.rank(), servers = world.size();
  Registry registry;
  register_storage(registry);
  const auto store = std::make_unique<ResultStore>(registry, open_output_directory(directory, "made by a test"), me);
  const Index low = first(rows, me, servers), high = last(rows, me, servers);
  for (int index = 0; index < 2; ++index) {
    const Iteration iteration{index, 10 * index, 0.5 * index};
    const auto results = store->begin(iteration);
    for (const Pieces how : {Pieces::never, Pieces::always, Pieces::automatic}) {
      const std::string name = how == Pieces::never ? "one" : how == Pieces::always ? "many" : "auto";
      results->add_parts(name + "-{cycle:03}.csv", table(low, high), world, how);
      results->add_parts(name + "-{cycle:03}.vtp", surface(low, high), world, how);
      results->add_parts(name + "-{cycle:03}.vtkhdf", surface(low, high), world, how);
      results->add_parts(name + "-{cycle:03}.h5", data(me, servers), world, how);
      results->add_parts(name + ".csv", table(low, high), world, how);
    }
    results->add_parts("empty-{cycle:03}.csv", table(0, 0), world, Pieces::always);
    results->add_parts("empty-{cycle:03}.vtp", surface(0, 0), world, Pieces::always);
    results->add("whole-{cycle:03}.h5", data(0, 1));
  }
  const auto results = store->begin({2, 20, 1});
  refused("missing", me, [&] {
    DataSet less = data(me, servers);
    if (me == 0) less.arrays[0].extents[0] = less.arrays[0].size[0];
    for (DataSet::Array& array : less.arrays) array.extents[0] += 1;
    results->add_parts("bad-{cycle}.h5", less, world, Pieces::always);
  });
  refused("overlap", me, [&] { results->add_parts("overlap-{cycle}.h5", data(0, 1), world, Pieces::never); });
  // One server cannot write its piece, because a directory has the name.
  refused("blocked", me, [&] { results->add_parts("blocked-{cycle}.vtp", surface(0, 1), world, Pieces::always); });
  results->add_parts("after-{cycle}.vtp", surface(low, high), world, Pieces::always);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  try {
    write(argv[1]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return 0;
}
