#include "importers/ramses/particles.hpp"

#include <fmt/format.h>

#include <cstring>
#include <optional>

#include "importers/ramses/fortran_file.hpp"
#include "sidestream/kit/base/fail.hpp"

namespace sidestream::ramses {

namespace {

/// Reads the header of a file, up to the first column.
std::uint64_t read_count(FortranFile& file, const Info& info) {
  const auto expect = [&](const char* what, std::int64_t expected) {
    const std::int64_t found = file.integer(what);
    if (found != expected) file.complain(what, fmt::format("found {}, but info_*.txt says {}", found, expected));
  };
  expect("ncpu", info.domains);
  expect("ndim", info.dimensions);
  const std::int64_t count = file.integer("npart");
  if (count < 0) file.complain("npart", fmt::format("found {} particles", count));
  file.skip(5);  // localseed, nstar_tot, mstar_tot, mstar_lost, nsink
  return static_cast<std::uint64_t>(count);
}

/// The type of a letter in a descriptor.
std::optional<Type> type_of(char letter) {
  switch (letter) {
    case 'd':
      return Type::float64;
    case 'f':
      return Type::float32;
    case 'i':
      return Type::int32;
    case 'l':
    case 'q':
      return Type::int64;
    case 'h':
      return Type::int16;
    case 'b':
      return Type::int8;
    default:
      return std::nullopt;
  }
}

/// Columns of versions without a descriptor, in this order; the last two only with stars.
std::vector<Column> usual_columns(int dimensions) {
  std::vector<Column> columns;
  for (const char* vector : {"position", "velocity"}) {
    for (int a = 0; a < dimensions; ++a) columns.push_back({fmt::format("{}_{}", vector, "xyz"[a]), 'd'});
  }
  columns.push_back({"mass", 'd'});
  columns.push_back({"identity", 'i'});
  columns.push_back({"level", 'i'});
  columns.push_back({"birth_time", 'd'});
  columns.push_back({"metallicity", 'd'});
  return columns;
}

/// Columns of a domain's file that has particles: as many of the usual ones as it has, with types derived from record
/// lengths.
ParticleColumns columns_of(FortranFile& file, std::uint64_t count, int dimensions) {
  ParticleColumns found;
  for (const Column& column : usual_columns(dimensions)) {
    if (file.at_end()) break;
    const std::uint64_t bytes = file.next_size();
    const bool real = column.type == 'd';
    if (bytes != count * 4 && bytes != count * 8) {
      static_cast<void>(file.read(column.name.c_str(), 1));
      file.complain(column.name.c_str(), fmt::format("found {} bytes for {} particles", bytes, count));
    }
    found.columns.push_back(column);
    found.types.push_back(bytes == count * 8 ? (real ? Type::float64 : Type::int64)
                                             : (real ? Type::float32 : Type::int32));
    file.skip();
  }
  found.remark =
      fmt::format("there is no part_file_descriptor.txt: the first {} columns of particles have RAMSES' usual names{}",
                  found.columns.size(), file.at_end() ? "" : ", and there are more, which are not read");
  return found;
}

ParticleColumns described_columns(std::vector<Column> columns, const std::string& where) {
  ParticleColumns found;
  for (const Column& column : columns) {
    const std::optional<Type> type = type_of(column.type);
    if (!type) {
      fail(Code::file, "{}: '{}' has the type '{}', expected d, f, i, l, q, h or b", where, column.name,
           column.type == 0 ? '?' : column.type);
    }
    found.types.push_back(*type);
  }
  found.columns = std::move(columns);
  return found;
}

}  // namespace

ParticleColumns particle_columns(const Output& output) {
  ParticleColumns found;
  std::vector<Column> described = output.descriptor(FileKind::particles);
  if (!described.empty()) {
    found = described_columns(std::move(described), output.directory() + "/part_file_descriptor.txt");
  } else {
    for (int domain = 1; domain <= output.info().domains && found.columns.empty(); ++domain) {
      FortranFile file(output.path("part", domain));
      const std::uint64_t count = read_count(file, output.info());
      if (count > 0) found = columns_of(file, count, output.info().dimensions);
    }
  }
  found.variables = join_columns(found.columns);
  return found;
}

std::size_t position_of(const ParticleColumns& columns, int dimensions, const std::string& where) {
  for (std::size_t n = 0; n < columns.variables.size(); ++n) {
    const JoinedColumns& variable = columns.variables[n];
    const bool named = variable.name == "position" || (dimensions == 1 && variable.name == "position_x");
    const Type type = columns.types[variable.columns.front()];
    const bool real = type == Type::float64 || type == Type::float32;
    if (named && real && variable.columns.size() == static_cast<std::size_t>(dimensions)) return n;
  }
  fail(Code::file, "'{}': particles have no columns position_x{} one after the other, without which they are nowhere",
       where, dimensions == 1 ? "" : ", position_y...");
}

Particles read_particles(const Output& output, const ParticleColumns& columns, int domain) {
  FortranFile file(output.path("part", domain));
  Particles particles;
  particles.count = read_count(file, output.info());
  if (particles.count == 0) return particles;
  for (const JoinedColumns& joined : columns.variables) {
    const Type type = columns.types[joined.columns.front()];
    const std::size_t components = joined.columns.size(), width = size_of(type);
    std::vector<std::byte> array;
    // The columns of a variable are consecutive, and variables have the order of their columns.
    for (std::size_t c = 0; c < components; ++c) {
      const BytesView values = file.read(columns.columns[joined.columns[c]].name.c_str(), type, particles.count);
      array.resize(values.size() * components);
      for (std::size_t n = 0; n < particles.count; ++n) {
        std::memcpy(array.data() + (n * components + c) * width, values.data() + n * width, width);
      }
    }
    particles.arrays.push_back(std::move(array));
  }
  return particles;
}

}  // namespace sidestream::ramses
