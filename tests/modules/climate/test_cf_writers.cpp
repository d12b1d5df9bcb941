// The outputs netcdf and zarr on several servers: files appear together or not at all.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "climate/kinds.hpp"
#include "storage/files/json.hpp"
#include "storage/support/writing_servers.hpp"
#include "support/message_of.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

/// An output and more of its options.
struct Case {
  WriterKind kind;
  std::string more;
};

std::vector<Case> cases() {
  return {{netcdf_writer(), ""},
          {zarr_writer(), ""},
          {zarr_writer(), ", checksum: true"},
          {zarr_writer(), ", compression: gzip, shuffle: true, checksum: true"}};
}

}  // namespace

TEST_CASE_FIXTURE(WritingServers, "discarding leaves no file") {
  for (const auto& [kind, more] : cases()) {
    const auto made = writer(kind, "{variables: [temperature, marker]" + more + "}");
    const auto held = sample.held(world.rank(), world.size(), made->selection(), 0);
    const Iteration iteration{0, 0, 0};
    (void)made->local(input_of(sample, held, iteration, world));
    world.barrier();
    made->discard(iteration);
  }
  CHECK(files().empty());
}

TEST_CASE_FIXTURE(WritingServers,
                  "a file that all servers write has no name if that fails, and taking turns changes no byte") {
  for (const auto& [kind, more] : cases()) {
    // A directory has the name of the second iteration's file.
    const std::string blocked = kind.name == "netcdf" ? "fields-000001.nc" : "fields.zarr/temperature/c.1.0.0.0";
    std::map<std::string, std::string> expected;
    for (rules.writers = 0; rules.writers < 3; ++rules.writers) {
      const auto made = writer(kind, "{variables: [temperature, marker]" + more + "}");
      write_iteration(*made, sample, {0, 0, 0}, world);
      const auto before = files();
      if (world.rank() == 0) std::filesystem::create_directories(directory / blocked);
      world.barrier();
      const std::string failure = message_of([&] { write_iteration(*made, sample, {1, 1, 1}, world); });
      CHECK_MESSAGE(contains(failure, "cannot give the finished file its name"), failure);
      CHECK(files() == before);
      if (world.rank() == 0) std::filesystem::remove(directory / blocked);
      world.barrier();
      write_iteration(*made, sample, {2, 2, 2}, world);
      const auto all = contents();
      CHECK(all.size() > before.size());
      if (rules.writers == 0) expected = all;
      CHECK(all == expected);
      world.barrier();
      if (world.rank() == 0) std::filesystem::remove_all(directory.path());
      world.barrier();
    }
  }
}

TEST_CASE_FIXTURE(WritingServers, "a store that a run goes on with never shows an iteration half replaced") {
  const auto iterations = [&] {
    const JsonDocument root = parse_json(read_file(directory / "fields.zarr/zarr.json"));
    return root->at("consolidated_metadata").at("metadata").at("time").at("shape").at(0).get<int>();
  };
  std::string more;
  SUBCASE("with chunks as they are") {}
  SUBCASE("with encoded chunks") { more = ", compression: gzip, checksum: true"; }
  const std::string yaml = "{variables: [temperature, marker]" + more + "}";
  const auto first = writer(zarr_writer(), yaml);
  for (int n = 0; n < 4; ++n) write_iteration(*first, sample, {n, 10 * n, 0.5 * n}, world);
  const auto before = contents();
  CHECK(iterations() == 4);
  const auto second = writer(zarr_writer(), yaml, Continuation::run);
  {
    // It fails before its first iteration is whole.
    const auto held = sample.held(world.rank(), world.size(), second->selection(), 0);
    const Iteration again{0, 20, 1};
    const LocalInput local = input_of(sample, held, again, world);
    const std::vector<Bytes> partials{second->local(local)};
    CapturedResults results;
    (void)second->combine({again, sample.metadata, partials, 0, world, results, &local});
    world.barrier();
    CHECK(iterations() == 2);
    world.barrier();
    second->discard(again);
  }
  for (int n = 0; n < 2; ++n) write_iteration(*second, sample, {n, 20 + 10 * n, 1 + 0.5 * n}, world);
  const auto after = contents();
  CHECK(iterations() == 4);
  for (const auto& [name, bytes] : before) {
    if (!contains(name, "iteration/c.0")) CHECK_MESSAGE(after.at(name) == bytes, name);
  }
}

TEST_CASE_FIXTURE(WritingServers, "an iteration whose chunks cannot be written leaves the store as it was") {
  const auto made = writer(zarr_writer(), "{variables: [temperature, marker], compression: gzip}");
  write_iteration(*made, sample, {0, 0, 0}, world);
  const auto before = contents();
  // The file of the next iteration vanishes between the two passes, on each server's way to it.
  const auto held = sample.held(world.rank(), world.size(), made->selection(), 1);
  const Iteration iteration{1, 1, 1};
  LocalInput local = input_of(sample, held, iteration, world);
  CapturedResults results;
  std::vector<Bytes> partials{made->local(local)};
  const Bytes feedback = made->combine({iteration, sample.metadata, partials, 0, world, results, &local});
  world.barrier();
  if (world.rank() == 0) {
    for (const std::string& name : files()) {
      if (contains(name, "temperature/.")) std::filesystem::remove(directory / name);
    }
  } else {
    (void)files();
  }
  world.barrier();
  local.pass = 1;
  local.feedback = feedback;
  partials = {made->local(local)};
  const std::string failure = message_of([&] {
    (void)made->combine({iteration, sample.metadata, partials, 1, world, results, &local});
  });
  CHECK_MESSAGE(contains(failure, "cannot open"), failure);
  CHECK(contents() == before);
  write_iteration(*made, sample, {2, 2, 2}, world);
  CHECK(contents().size() > before.size());
}
