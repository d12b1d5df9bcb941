#include "clouds.hpp"

#include <cmath>

namespace universe {

namespace {

/// Along one axis: the lower of the two cells that a cloud of the size of a cell is in, and what part of it is there.
struct Overlap {
  int lower;
  double part;
};

Overlap overlap(double place) {
  const double from_middle = place - 0.5, floor = std::floor(from_middle);
  return {static_cast<int>(floor), 1 - (from_middle - floor)};
}

/// The eight cells round a place: calls `visit(x, y, z, weight)`; y and z may be one beside those of the rank.
template <typename Visit>
void each_cell(const std::array<double, 3>& place, int n, const Visit& visit) {
  const Overlap x = overlap(place[0]), y = overlap(place[1]), z = overlap(place[2]);
  const int x0 = x.lower < 0 ? n - 1 : x.lower, x1 = x.lower + 1;  // x is below n, and so is x1
  for (int dz = 0; dz < 2; ++dz) {
    const double wz = dz == 0 ? z.part : 1 - z.part;
    for (int dy = 0; dy < 2; ++dy) {
      const double w = wz * (dy == 0 ? y.part : 1 - y.part);
      visit(x0, y.lower + dy, z.lower + dz, w * x.part);
      visit(x1 == n ? 0 : x1, y.lower + dy, z.lower + dz, w * (1 - x.part));
    }
  }
}

enum class Axis { y, z };

/// One layer of a field as it is sent.
template <typename T, typename Visit>
void each_line(HaloField<T>& field, Axis axis, int layer, const Visit& visit) {
  if (axis == Axis::y) {
    for (int z = 0; z < field.nz() + 2; ++z) visit(field.line(layer, z));
  } else {
    for (int y = 0; y < field.ny() + 2; ++y) visit(field.line(y, layer));
  }
}

/// Sends layer `out` towards one side and puts what comes from the other into layer `in`, with `put(theirs, mine)`.
template <typename T, typename Put>
void shift(MPI_Comm comm, int direction, HaloField<T>& field, Axis axis, int out, int in, const Put& put) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  std::vector<T> sent, received;
  each_line(field, axis, out, [&](const T* line) { sent.insert(sent.end(), line, line + field.n()); });
  received.resize(sent.size());
  const int to = (rank + direction + ranks) % ranks, from = (rank - direction + ranks) % ranks;
  // Eight bytes each, whatever they are.
  static_assert(sizeof(T) == 8);
  MPI_Sendrecv(sent.data(), static_cast<int>(sent.size()), MPI_INT64_T, to, 0, received.data(),
               static_cast<int>(received.size()), MPI_INT64_T, from, 0, comm, MPI_STATUS_IGNORE);
  auto take = received.begin();
  each_line(field, axis, in, [&](T* line) {
    for (int x = 0; x < field.n(); ++x) put(*take++, line[x]);
  });
}

/// What lies in the layers round the rank's cells is added to the cells that they are.
void fold(const Layout& layout, HaloField<std::int64_t>& sums) {
  const auto add = [](std::int64_t theirs, std::int64_t& mine) { mine += theirs; };
  shift(layout.across_rows(), -1, sums, Axis::y, 0, sums.ny(), add);
  shift(layout.across_rows(), 1, sums, Axis::y, sums.ny() + 1, 1, add);
  shift(layout.across_columns(), -1, sums, Axis::z, 0, sums.nz(), add);
  shift(layout.across_columns(), 1, sums, Axis::z, sums.nz() + 1, 1, add);
}

}  // namespace

Field deposit(const Layout& layout, const Particles& particles, double unit,
              const std::function<double(const Particle&)>& of) {
  HaloField<std::int64_t> sums(layout);
  const double scale = 1 / unit;
  for (const Particle& particle : particles) {
    const double value = of(particle) * scale;
    each_cell(particle.place, layout.cells(),
              [&](int x, int y, int z, double w) { sums.at(x, y, z) += std::llrint(w * value); });
  }
  fold(layout, sums);
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

HaloField<double> with_halo(const Layout& layout, const Field& field) {
  HaloField<double> wide(layout);
  auto take = field.begin();
  for (int z = 1; z <= wide.nz(); ++z) {
    for (int y = 1; y <= wide.ny(); ++y) {
      std::copy(take, take + wide.n(), wide.line(y, z));
      take += wide.n();
    }
  }
  const auto put = [](double theirs, double& mine) { mine = theirs; };
  shift(layout.across_rows(), -1, wide, Axis::y, 1, wide.ny() + 1, put);
  shift(layout.across_rows(), 1, wide, Axis::y, wide.ny(), 0, put);
  shift(layout.across_columns(), -1, wide, Axis::z, 1, wide.nz() + 1, put);
  shift(layout.across_columns(), 1, wide, Axis::z, wide.nz(), 0, put);
  return wide;
}

double interpolate(const HaloField<double>& field, const std::array<double, 3>& place) {
  double sum = 0;
  each_cell(place, field.n(), [&](int x, int y, int z, double w) { sum += w * field.at(x, y, z); });
  return sum;
}

}  // namespace universe
