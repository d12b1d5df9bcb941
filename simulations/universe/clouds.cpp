#include "clouds.hpp"

namespace universe {

namespace {

enum class Axis { y, z };

/// Visits the lines of one layer of a field in the order of sending.
template <typename T, typename Visit>
void each_line(HaloField<T>& field, Axis axis, int layer, const Visit& visit) {
  if (axis == Axis::y) {
    for (int z = 0; z < field.nz() + 2; ++z) visit(field.line(layer, z));
  } else {
    for (int y = 0; y < field.ny() + 2; ++y) visit(field.line(y, layer));
  }
}

/// Sends layer `out` to one side and puts the layer received from the other into layer `in`, with `put(theirs, mine)`.
template <typename T, typename Put>
void shift(MPI_Comm comm, int direction, HaloField<T>& field, Axis axis, int out, int in, const Put& put) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  std::vector<T> sent, received;
  each_line(field, axis, out, [&](const T* line) { sent.insert(sent.end(), line, line + field.n()); });
  received.resize(sent.size());
  const int to = (rank + direction + ranks) % ranks, from = (rank - direction + ranks) % ranks;
  // The type consists of eight-byte words.
  static_assert(sizeof(T) % sizeof(std::int64_t) == 0);
  const int words = static_cast<int>(sent.size() * (sizeof(T) / sizeof(std::int64_t)));
  MPI_Sendrecv(sent.data(), words, MPI_INT64_T, to, 0, received.data(), words, MPI_INT64_T, from, 0, comm,
               MPI_STATUS_IGNORE);
  auto take = received.begin();
  each_line(field, axis, in, [&](T* line) {
    for (int x = 0; x < field.n(); ++x) put(*take++, line[x]);
  });
}

}  // namespace

Field folded(const Layout& layout, HaloField<std::int64_t>& sums, double unit) {
  const auto add = [](std::int64_t theirs, std::int64_t& mine) { mine += theirs; };
  shift(layout.across_rows(), -1, sums, Axis::y, 0, sums.ny(), add);
  shift(layout.across_rows(), 1, sums, Axis::y, sums.ny() + 1, 1, add);
  shift(layout.across_columns(), -1, sums, Axis::z, 0, sums.nz(), add);
  shift(layout.across_columns(), 1, sums, Axis::z, sums.nz() + 1, 1, add);
  Field field;
  field.reserve(static_cast<std::size_t>(sums.n()) * static_cast<std::size_t>(sums.ny()) *
                static_cast<std::size_t>(sums.nz()));
  for (int z = 1; z <= sums.nz(); ++z) {
    for (int y = 1; y <= sums.ny(); ++y) {
      const std::int64_t* const line = sums.line(y, z);
      for (int x = 0; x < sums.n(); ++x) field.push_back(static_cast<double>(line[x]) * unit);
    }
  }
  return field;
}

void put_component(const Field& field, std::size_t axis, Vectors& vectors) {
  auto take = field.begin();
  for (int z = 1; z <= vectors.nz(); ++z) {
    for (int y = 1; y <= vectors.ny(); ++y) {
      auto* const line = vectors.line(y, z);
      for (int x = 0; x < vectors.n(); ++x) line[x][axis] = *take++;
    }
  }
}

void fill_halo(const Layout& layout, Vectors& vectors) {
  const auto put = [](const std::array<double, 3>& theirs, std::array<double, 3>& mine) { mine = theirs; };
  shift(layout.across_rows(), -1, vectors, Axis::y, 1, vectors.ny() + 1, put);
  shift(layout.across_rows(), 1, vectors, Axis::y, vectors.ny(), 0, put);
  shift(layout.across_columns(), -1, vectors, Axis::z, 1, vectors.nz() + 1, put);
  shift(layout.across_columns(), 1, vectors, Axis::z, vectors.nz(), 0, put);
}

}  // namespace universe
