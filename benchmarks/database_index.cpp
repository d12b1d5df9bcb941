// Time of opening a database of many domains: benchmark_database_index DIRECTORY [DOMAINS VARIABLES DOMAINS_OF_A_GROUP]
// writes one context with the writer's tables, record and slot (a block of one cell for each domain, 10^5 x 100 by
// default, 1000 segments). Then it opens and lists the context, reads one variable's box, and scans all tables. Prints
// seconds and memory; last the ratio of opening to one second.
#include <fmt/format.h>
#include <sys/resource.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "measure.hpp"
#include "storage/database/context.hpp"
#include "storage/database/journal.hpp"

using namespace sidestream;
using namespace sidestream::database;

namespace {

struct Size {
  std::size_t domains = 100000, variables = 100, of_a_group = 100;
};

Schema schema_of(const Size& size) {
  Schema schema;
  schema.chunk = chunk_bytes;
  Mesh mesh;
  mesh.id = 0;
  mesh.name = "grid";
  mesh.cells = {{0, 0, 0}, {static_cast<Index>(size.domains), 1, 1}};
  mesh.geometry = std::make_shared<UniformGeometry>(std::array{0.0, 0.0, 0.0}, std::array{1.0, 1.0, 1.0});
  schema.metadata.meshes.push_back(mesh);
  for (std::size_t v = 0; v < size.variables; ++v) {
    Variable variable;
    variable.id = static_cast<std::int32_t>(v);
    variable.mesh = 0;
    variable.name = fmt::format("variable {}", v);
    schema.metadata.variables.push_back(variable);
    schema.codecs.emplace_back();
  }
  return schema;
}

double value_of(std::size_t domain, std::size_t variable) {
  return static_cast<double>(domain) * 1000 + static_cast<double>(variable);
}

/// The rows of a domain, whose values begin at `offset`.
DomainRows rows_of(std::size_t domain, std::uint64_t offset, const Size& size) {
  DomainRows rows;
  Block block;
  block.id = static_cast<std::int64_t>(domain);
  block.mesh = 0;
  block.client = static_cast<std::int32_t>(domain);
  block.cells = {{block.id, 0, 0}, {block.id + 1, 1, 1}};
  rows.blocks.push_back(row_of(block));
  for (std::size_t v = 0; v < size.variables; ++v) {
    const double value = value_of(domain, v);
    rows.rows.pieces.push_back({static_cast<std::uint32_t>(v), 0, 0, 0, offset + v * alignment, sizeof value, v});
    rows.rows.chunks.push_back({sizeof value, 0, checksum_of(std::as_bytes(std::span(&value, 1)))});
  }
  return rows;
}

/// Writes a group's entry as its first server does.
GroupEntry write_group(const std::string& directory, std::uint32_t group, const Size& size) {
  std::vector<DomainRows> domains;
  Bytes values;
  for (std::size_t n = 0; n < size.of_a_group; ++n) {
    const std::size_t domain = group * size.of_a_group + n;
    domains.push_back(rows_of(domain, overlay_bytes + values.size(), size));
    const std::size_t begin = values.size();
    values.resize(begin + size.variables * alignment);
    for (std::size_t v = 0; v < size.variables; ++v) {
      const double value = value_of(domain, v);
      std::memcpy(values.data() + begin + v * alignment, &value, sizeof value);
    }
  }
  PackedTable table = pack_table(domains);
  table.entry.group = group;
  table.entry.offset = overlay_bytes + values.size();
  GrowingFile file((std::filesystem::path(directory) / segment_name(1, group, 0)).string(), GrowingFile::Open::fresh);
  file.write(overlay_bytes, values);
  file.write(table.entry.offset, table.bytes);
  file.close();
  return table.entry;
}

void write_context(const std::string& directory, const Size& size) {
  create_journal(directory, false);
  Entry entry;
  entry.slot = entry.run = 1;
  std::vector<GroupEntry> groups;
  for (std::uint32_t group = 0; group < size.domains / size.of_a_group; ++group) {
    groups.push_back(write_group(directory, group, size));
  }
  const std::string text = schema_text(schema_of(size));
  const std::uint64_t length = text.size(), count = groups.size(), begin = 24 + (length + 7) / 8 * 8;
  Bytes record(begin + count * sizeof(GroupEntry));
  std::memcpy(record.data(), "SDSRECRD", 8);
  std::memcpy(record.data() + 8, &length, sizeof length);
  std::memcpy(record.data() + 16, &count, sizeof count);
  std::memcpy(record.data() + 24, text.data(), length);
  std::memcpy(record.data() + begin, groups.data(), count * sizeof(GroupEntry));
  const std::uint64_t tables = size.of_a_group * (144 + size.variables * 56);
  entry.record = {0, 0, groups.front().offset + tables, record.size(), checksum_of(record)};
  entry.groups = static_cast<std::uint32_t>(count);
  entry.contributors = entry.blocks = size.domains;
  entry.bytes = entry.stored = size.domains * size.variables * sizeof(double);
  const std::filesystem::path first = std::filesystem::path(directory) / segment_name(1, 0, 0);
  GrowingFile file(first.string(), GrowingFile::Open::existing);
  file.write(entry.record.offset, record);
  file.close();
  append_slot(directory, entry.slot, context_slot(entry), false);
}

double resident_mebibytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

template <class Work>
double measured(const char* what, Work&& work) {
  const double seconds = benchmark::microseconds(work) * 1e-6;
  fmt::print("{:<52} {:>8.3f} s, {:>8.1f} MiB at most so far\n", what, seconds, resident_mebibytes());
  return seconds;
}

void require(bool condition, const char* what) {
  if (!condition) throw std::runtime_error(what);
}

double read(const std::string& directory, const Size& size) {
  Entry entry;
  double opening =
      measured("find the context", [&] { entry = candidates(read_journal(directory), {}, directory).front(); });
  std::optional<Context> context;
  opening += measured("open it", [&] { context.emplace(directory, entry); });
  const auto domain = static_cast<Index>(size.domains / 2);
  const auto variable = static_cast<std::uint32_t>(size.variables - 1);
  double value = 0;
  const Box box{{domain, 0, 0}, {domain + 1, 1, 1}};
  const Target target{&value, box, {1, 1, 1, 0}};
  opening += measured("read a box of one variable, with all blocks' tables",
                      [&] { require(read_box(*context, variable, 0, box, target) == 0, "points are missing"); });
  require(value == value_of(static_cast<std::size_t>(domain), variable), "a wrong value");
  measured("read another box", [&] { static_cast<void>(read_box(*context, 0, 0, box, target)); });
  measured("go through the tables of all pieces", [&] {
    std::size_t pieces = 0;
    for (std::size_t group = 0; group < context->groups().size(); ++group) {
      pieces += context->pieces(group).pieces.size();
      context->forget_pieces(group);
    }
    require(pieces == size.domains * size.variables, "pieces are missing");
  });
  return opening;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: benchmark_database_index DIRECTORY [DOMAINS VARIABLES DOMAINS_OF_A_GROUP]\n");
    return 2;
  }
  Size size;
  if (argc > 2) size.domains = static_cast<std::size_t>(std::atoll(argv[2]));
  if (argc > 3) size.variables = static_cast<std::size_t>(std::atoll(argv[3]));
  if (argc > 4) size.of_a_group = static_cast<std::size_t>(std::atoll(argv[4]));
  try {
    if (!is_database(argv[1])) measured("write it", [&] { write_context(argv[1], size); });
    fmt::print("opening and reading a box, as a ratio to a second: {:.3f}\n", read(argv[1], size));
  } catch (const std::exception& error) {
    fmt::print(stderr, "benchmark_database_index: {}\n", error.what());
    return 1;
  }
  return 0;
}
