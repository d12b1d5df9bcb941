#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <memory>

#include "../measure.hpp"
#include "clock.hpp"
#include "parts.hpp"
#include "plain_file.hpp"
#include "sidestream/restart.hpp"

namespace io {

namespace {

/// Bytes that this process has read from files.
std::uint64_t bytes_read() {
  std::ifstream file("/proc/self/io");
  std::string name;
  std::uint64_t count = 0;
  file >> name >> count;
  return count;
}

void forget(const Stored& stored, MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Barrier(comm);  // servers may still be closing the database
  if (rank == 0) {
    for (const std::string& path : stored.raw) PlainFile(path, O_RDONLY).forget();
    for (const auto& file : std::filesystem::directory_iterator(stored.database)) {
      PlainFile(file.path().string(), O_RDONLY).forget();
    }
  }
  MPI_Barrier(comm);
}

/// Reads a share of all raw bytes, whatever files they are in, into new memory.
void read_raw(const Stored& stored, int number, int of) {
  std::vector<std::uint64_t> sizes;
  std::uint64_t all = 0;
  for (const std::string& path : stored.raw) all += sizes.emplace_back(std::filesystem::file_size(path));
  const auto share = [&](int n) { return all * static_cast<std::uint64_t>(n) / static_cast<std::uint64_t>(of); };
  const std::uint64_t first = share(number), last = share(number + 1);
  const std::unique_ptr<char[]> memory(new char[last - first]);
  std::uint64_t begin = 0;
  for (std::size_t n = 0; n < sizes.size(); ++n) {
    const std::uint64_t end = begin + sizes[n], from = std::max(first, begin), to = std::min(last, end);
    if (from < to) PlainFile(stored.raw[n], O_RDONLY).read(from - begin, memory.get() + (from - first), to - from);
    begin = end;
  }
}

using Values = std::unique_ptr<double[]>;

sidestream::Box as_box(const Box& box) { return {box.lo, box.hi}; }

Values read_one(sidestream::Restart& restart, const std::string& name, const Box& box) {
  Values values(new double[static_cast<std::size_t>(box.count())]);
  restart.read_box(name, 0, as_box(box), as_box(box), values.get());
  return values;
}

void check(const Stored& stored, int variable, const Box& box, const Values& values) {
  std::size_t n = 0;
  for (std::int64_t k = box.lo[2]; k < box.hi[2]; ++k) {
    for (std::int64_t j = box.lo[1]; j < box.hi[1]; ++j) {
      for (std::int64_t i = box.lo[0]; i < box.hi[0]; ++i) {
        if (values[n++] == value_at(stored.grid, variable, stored.step, i, j, k)) continue;
        throw Error(fmt::format("variable {} at {}, {}, {} is not what was written", variable, i, j, k));
      }
    }
  }
}

/// Reads the whole context, each rank its part of the grid; returns seconds of opening and of reading.
std::array<double, 2> read_database(MPI_Comm comm, const Stored& stored, int number, int of, bool checks) {
  std::unique_ptr<sidestream::Restart> restart;
  const double opening = slowest(
      comm, [&] { restart = std::make_unique<sidestream::Restart>(sidestream::Restart::open(comm, stored.database)); });
  const Box box = part_of(stored.grid, number, of);
  std::vector<Values> all;
  const double reading = slowest(comm, [&] {
    for (const std::string& name : stored.names) all.push_back(read_one(*restart, name, box));
  });
  for (std::size_t v = 0; checks && v < all.size(); ++v) check(stored, static_cast<int>(v), box, all[v]);
  return {opening, reading};
}

/// Reads an eighth of one variable; returns the bytes read for it as a share of the context.
std::string read_corner(MPI_Comm comm, const Stored& stored) {
  sidestream::Restart restart = sidestream::Restart::open(comm, stored.database);
  const Box corner{{0, 0, 0}, {stored.grid[0] / 2, stored.grid[1] / 2, stored.grid[2] / 2}};
  const std::uint64_t before = bytes_read();
  const Values values = read_one(restart, stored.names.front(), corner);
  const auto read = static_cast<double>(bytes_read() - before);
  check(stored, 0, corner, values);
  const double wanted = static_cast<double>(corner.count()) * sizeof(double);
  const double all = static_cast<double>(stored.grid[0] * stored.grid[1] * stored.grid[2]) * sizeof(double) *
                     static_cast<double>(stored.names.size());
  return fmt::format("a corner of one variable: {:.1f} MiB wanted, {:.1f} MiB read of {:.1f} MiB\n", wanted / (1 << 20),
                     read / (1 << 20), all / (1 << 20));
}

}  // namespace

std::string read_back(MPI_Comm comm, const Stored& stored, int repeat, bool cold) {
  int number = 0, of = 1;
  MPI_Comm_rank(comm, &number);
  MPI_Comm_size(comm, &of);
  std::vector<double> raw, reading, restarting;
  for (int turn = 0; turn <= repeat; ++turn) {
    if (cold) forget(stored, comm);
    const double plain = slowest(comm, [&] { read_raw(stored, number, of); });
    if (cold) forget(stored, comm);
    const auto [opening, values] = read_database(comm, stored, number, of, turn == 0);
    if (turn == 0) continue;
    raw.push_back(plain);
    reading.push_back(plain / values);
    restarting.push_back((opening + values) / plain);
  }
  std::string text = read_corner(comm, stored);
  return text + fmt::format(
                    "{} ranks read what {} wrote, {}; raw {:.1f} ms\n"
                    "ratio raw read / reading the context: {:.3f}   (at least 0.8 wanted)\n"
                    "ratio restart (opening, checking, reading) / raw read: {:.3f}   (at most 1.5 wanted)\n",
                    of, stored.writers, cold ? "cold" : "cached", 1e3 * benchmark::median(raw),
                    benchmark::median(reading), benchmark::median(restarting));
}

}  // namespace io
