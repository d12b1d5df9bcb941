// Writers on several servers: files appear together or not at all.
#include <doctest/doctest.h>

#include <map>
#include <memory>

#include "server/engine/guarded_communicator.hpp"
#include "sidestream/kit/storage/files/output_file.hpp"
#include "sidestream/kit/storage/results/agreed_commit.hpp"
#include "storage/support/writing_servers.hpp"
#include "storage/writers/kinds.hpp"
#include "support/faults.hpp"
#include "support/message_of.hpp"

using namespace sidestream;
using namespace sidestream::testing;

TEST_CASE_FIXTURE(WritingServers, "servers with blocks write a file each, and rank 0 the whole") {
  // There is only one block, so that only the first server has one.
  sample.box_blocks = {{{2, -1, 3}, {15, 6, 8}}};
  const auto hdf5 = writer(hdf5_writer(), "{variables: temperature}");
  write_iteration(*hdf5, sample, {4, 40, 2}, world);
  CHECK(files() == std::vector<std::string>{"fields-000040-000.h5", "fields-000040.h5", "fields.h5.series"});
}

TEST_CASE_FIXTURE(WritingServers, "nothing to write is written as nothing") {
  sample.box_blocks = {};
  for (const WriterKind& kind : {hdf5_writer(), vtk_writer()}) {
    write_iteration(*writer(kind, "{variables: temperature}"), sample, {0, 0, 0}, world);
  }
  CHECK(files() == std::vector<std::string>{"fields-000000.h5", "fields-000000.pvti", "fields-000000/gap-000000.vti",
                                            "fields.h5.series", "fields.pvd", "fields.pvti.series"});
}

TEST_CASE_FIXTURE(WritingServers, "discarding leaves no file") {
  for (const WriterKind& kind : {hdf5_writer(), vtk_writer()}) {
    const auto made = writer(kind, "{}");
    const auto held = sample.held(world.rank(), world.size(), made->selection(), 0);
    const Iteration iteration{0, 0, 0};
    (void)made->local(input_of(sample, held, iteration, world));
    world.barrier();
    made->discard(iteration);
  }
  CHECK(files().empty());
}

TEST_CASE_FIXTURE(WritingServers, "a server that cannot name its file fails the iteration on all, without leftovers") {
  const std::string last = std::to_string(world.size() - 1);
  for (const WriterKind& kind : {hdf5_writer(), vtk_writer()}) {
    const bool is_hdf5 = kind.name == "hdf5";
    // A directory has the name of the last server's file.
    const std::string blocked =
        is_hdf5 ? "fields-000001-00" + last + ".h5" : "fields-000001/block-00000" + last + ".vti";
    if (world.rank() == 0) std::filesystem::create_directories(directory / blocked);
    world.barrier();
    const auto made = writer(kind, is_hdf5 ? "{}" : "{variables: temperature}");
    write_iteration(*made, sample, {0, 0, 0}, world);
    const auto before = files();
    const std::string failure = message_of([&] { write_iteration(*made, sample, {1, 1, 1}, world); });
    CHECK(contains(failure, "cannot give the finished file its name"));
    CHECK(contains(failure, blocked));
    CHECK(files() == before);
    write_iteration(*made, sample, {2, 2, 2}, world);
    CHECK(files().size() == (is_hdf5 ? 2 : 1) * before.size() - (is_hdf5 ? 1 : 0) + (is_hdf5 ? 0 : before.size() - 2));
    world.barrier();
    if (world.rank() == 0) std::filesystem::remove_all(directory.path());
    world.barrier();
  }
}

TEST_CASE_FIXTURE(WritingServers, "what needs a pass of its own fails as the rest, and taking turns changes no byte") {
  const std::string precision = ", precision: {temperature: half}";
  sample.step = -20000;  // numbers of 16 bits
  for (const WriterKind& kind : {hdf5_writer(), vtk_writer()}) {
    const bool is_hdf5 = kind.name == "hdf5";
    const std::string last = std::to_string(world.size() - 1);
    const std::string blocked =
        is_hdf5 ? "fields-000001-00" + last + ".h5" : "fields-000001/block-00000" + last + ".vti";
    std::map<std::string, std::string> expected;
    for (const std::string turns : {"", ", stagger: true", "1", "2"}) {
      const bool is_number = !turns.empty() && turns.size() == 1;
      rules.writers = is_number ? std::stoi(turns) : 0;
      const auto made = writer(kind, "{variables: temperature" + precision + (is_number ? "" : turns) + "}");
      CHECK(made->passes() == 2);
      for (const std::int64_t cycle : {0, 1, 2}) {
        if (cycle == 1 && world.rank() == 0) std::filesystem::create_directories(directory / blocked);
        world.barrier();
        const std::string failure = message_of([&] { write_iteration(*made, sample, {cycle, cycle, 0}, world); });
        CHECK_MESSAGE((failure == "nothing was thrown") == (cycle != 1), failure);
        world.barrier();
        if (cycle == 1 && world.rank() == 0) std::filesystem::remove(directory / blocked);
        world.barrier();
      }
      const auto all = contents();
      CHECK(all.size() > 2);
      if (turns.empty()) expected = all;
      CHECK(all == expected);
      world.barrier();
      if (world.rank() == 0) std::filesystem::remove_all(directory.path());
      world.barrier();
    }
  }
}

TEST_CASE_FIXTURE(WritingServers, "no more servers write at a time than may, and one that throws delays nobody") {
  for (int writers = 0; writers <= world.size() + 1; ++writers) {
    int calls = 0, most = 0;
    take_turns(world, writers, [&] {
      ++calls;
      const std::string mine = directory / ("writes-" + std::to_string(world.rank()));
      write_file(mine, "");
      most = static_cast<int>(files_under(directory.path()).size());
      std::filesystem::remove(mine);
    });
    CHECK(calls == 1);
    CHECK(most <= (writers == 0 ? world.size() : writers));
    world.barrier();
  }
}

TEST_CASE_FIXTURE(WritingServers, "one way of keeping writers apart is enough") {
  rules.writers = 1;
  for (const WriterKind& kind : {hdf5_writer(), vtk_writer(), database_writer(std::make_shared<const CodecKinds>())}) {
    const std::string failure = message_of([&] { writer(kind, "{variables: temperature, stagger: true}"); });
    CHECK_MESSAGE(contains(failure, "found 'stagger' and 'writers: 1' of the section 'output'"), failure);
  }
}

TEST_CASE_FIXTURE(WritingServers, "a variable is stored in full on all servers if one value does not fit") {
  // Only blocks at the upper end have numbers beyond 65504.
  const auto made = writer(hdf5_writer(), "{variables: temperature, precision: {temperature: half}}");
  write_iteration(*made, sample, {0, 0, 0}, world);
  sample.step = -20000;
  write_iteration(*made, sample, {1, 1, 0}, world);
  const auto all = contents();
  for (const auto& [name, bytes] : all) {
    if (!contains(name, ".h5") || contains(name, "series")) continue;
    const bool is_full = contains(name, "fields-000000");
    CHECK_MESSAGE(contains(bytes, "it has numbers beyond 65504") == is_full, name);
    CHECK_MESSAGE(contains(bytes, "precision") != is_full, name);
  }
}

TEST_CASE_FIXTURE(WritingServers, "an index that cannot be written fails the iteration on all, without leftovers") {
  for (const WriterKind& kind : {hdf5_writer(), vtk_writer()}) {
    if (world.rank() == 0) {
      std::filesystem::create_directories(directory / "fields-000000.h5");
      std::filesystem::create_directories(directory / "fields-000000.pvti");
    }
    world.barrier();
    const std::string failure = message_of([&] {
      write_iteration(*writer(kind, "{variables: temperature}"), sample, {0, 0, 0}, world);
    });
    CHECK_MESSAGE(contains(failure, "fields-000000."), failure);
    CHECK(contains(failure, "Is a directory"));
    CHECK(files().empty());
  }
}

TEST_CASE_FIXTURE(WritingServers, "a mesh that fails takes the other meshes' entries with it") {
  const auto made = writer(vtk_writer(), "{}");
  write_iteration(*made, sample, {0, 0, 0}, world);
  const auto blocked = [&](const std::string& name, std::int64_t cycle) {
    if (world.rank() == 0) {
      if (std::filesystem::exists(directory / name)) std::filesystem::rename(directory / name, directory / "kept");
      std::filesystem::create_directories(directory / (name + "/in the way"));
    }
    world.barrier();
    const auto before = contents();
    const std::string failure = message_of([&] { write_iteration(*made, sample, {cycle, cycle, 0}, world); });
    CHECK_MESSAGE(contains(failure, name), failure);
    CHECK(contents() == before);
    if (world.rank() == 0) {
      std::filesystem::remove_all(directory / name);
      if (std::filesystem::exists(directory / "kept")) std::filesystem::rename(directory / "kept", directory / name);
    }
    world.barrier();
  };
  SUBCASE("its list") { blocked("fields-000001-stretched.pvtr", 1); }
  SUBCASE("its index") { blocked("fields-stretched.pvtr.series", 1); }
  write_iteration(*made, sample, {2, 2, 0}, world);
  const auto all = contents();
  for (const char* mesh : {"box.pvti", "stretched.pvtr"}) {
    const std::string& index = all.at(std::string("fields-") + mesh + ".series");
    CHECK(contains(index, "000000"));
    CHECK_FALSE(contains(index, "000001"));
    CHECK(contains(index, "000002"));
  }
}

TEST_CASE_FIXTURE(WritingServers,
                  "memory that ends on one server in the midst of a commit leaves every name as it was") {
  GuardedCommunicator guarded(world);
  for (const WriterKind& kind : {hdf5_writer(), vtk_writer()}) {
    const auto made = writer(kind, "{variables: temperature}");
    write_iteration(*made, sample, {0, 0, 0}, world);
    for (int victim = 0; victim < world.size(); victim += std::max(1, world.size() - 1)) {
      for (std::int64_t n = 1, failed = 1; failed != 0; n += 1 + n / 4) {
        const auto before = contents();
        const Iteration iteration{n, 1000 * victim + n, 0};
        const auto held = sample.held(world.rank(), world.size(), made->selection(), 0);
        const std::vector<Bytes> partials{made->local(input_of(sample, held, iteration, world))};
        CapturedResults results;
        bool ended = false;
        const std::string failure = guarded.attempt([&] {
          const FailingAllocation failing(world.rank() == victim ? n : 0);
          made->combine({iteration, sample.metadata, partials, 0, guarded, results});
          ended = sidestream_test_allocation_failed() != 0;
        });
        failed = !failure.empty() || ended;  // or the failure was waited for
        world.maximum(std::span(&failed, 1));
        if (failure.empty()) continue;
        CHECK_MESSAGE(contents() == before, kind.name << ", allocation " << n << ": " << failure);
      }
    }
    const auto left = files();
    CHECK_FALSE(std::any_of(left.begin(), left.end(), [](const std::string& name) { return contains(name, "part"); }));
  }
}

TEST_CASE_FIXTURE(WritingServers, "leftovers of a crash are written over") {
  if (world.rank() == 0) {
    for (const char* name : {".fields-000000-000.h5.part", ".fields-000000.h5.part", ".fields.h5.series.part"}) {
      OutputFile file(directory / name);
      file.write("half a file");
      file.close();
    }
  }
  world.barrier();
  write_iteration(*writer(hdf5_writer(), "{}"), sample, {0, 0, 0}, world);
  for (const std::string& name : files()) CHECK_MESSAGE(name.front() != '.', name);
}

TEST_CASE_FIXTURE(WritingServers, "a run that goes on keeps the series and refuses to overwrite") {
  for (const WriterKind& kind : {hdf5_writer(), vtk_writer()}) {
    const auto first = writer(kind, "{variables: temperature}");
    for (int n = 0; n < 3; ++n) write_iteration(*first, sample, {n, 10 * n, 0}, world);
    const auto before = contents();
    const auto second = writer(kind, "{variables: temperature}", Continuation::run);
    write_iteration(*second, sample, {0, 20, 0}, world);
    write_iteration(*second, sample, {5, 30, 0}, world);
    const auto after = contents();
    for (const auto& [name, bytes] : before) {
      if (!name.ends_with(".series") && !name.ends_with(".pvd")) CHECK_MESSAGE(after.at(name) == bytes, name);
    }
  }
  world.barrier();
  std::string series = read_file(directory / "fields.h5.series");
  series.resize(series.find("\"overtaken\""));
  for (const char* name : {"000000.h5", "000010.h5", "000020-v2.h5", "000030.h5"}) CHECK(contains(series, name));
  CHECK_FALSE(contains(series, "000020.h5"));
}

TEST_CASE_FIXTURE(WritingServers, "a failed iteration gives files that it had replaced their names back") {
  for (const WriterKind& kind : {hdf5_writer(), vtk_writer()}) {
    write_iteration(*writer(kind, "{variables: temperature}"), sample, {0, 0, 0}, world);
    // A run that replaces this one cannot write its index.
    const std::string index = kind.name == "hdf5" ? "fields.h5.series" : "fields.pvti.series";
    if (world.rank() == 0) {
      std::filesystem::remove(directory / index);
      std::filesystem::create_directories(directory / (index + "/in the way"));
    }
    world.barrier();
    const auto before = contents();
    sample.step = 1;
    const std::string failure = message_of([&] {
      write_iteration(*writer(kind, "{variables: temperature}"), sample, {0, 0, 0}, world);
    });
    sample.step = 0;
    CHECK_MESSAGE(contains(failure, index), failure);
    CHECK(contents() == before);
    if (world.rank() == 0) std::filesystem::remove_all(directory / index);
    world.barrier();
  }
}

TEST_CASE_FIXTURE(WritingServers, "a run that replaces an earlier one begins its series anew") {
  const auto first = writer(hdf5_writer(), "{variables: temperature}");
  for (int n = 0; n < 3; ++n) write_iteration(*first, sample, {n, 10 * n, 0}, world);
  write_iteration(*writer(hdf5_writer(), "{variables: temperature}"), sample, {0, 0, 0}, world);
  world.barrier();
  const std::string series = read_file(directory / "fields.h5.series");
  CHECK(contains(series, "000000.h5"));
  CHECK_FALSE(contains(series, "000010.h5"));
}

TEST_CASE_FIXTURE(WritingServers, "settings that cannot work are refused with their place") {
  const auto refusal = [&](const WriterKind& kind, const std::string& yaml) {
    return message_of([&] { (void)writer(kind, yaml); });
  };
  CHECK(contains(refusal(hdf5_writer(), "{file: all.h5}"), "test.yaml:1:8: "));
  CHECK(contains(refusal(hdf5_writer(), "{file: all.h5}"), "the same in every iteration"));
  CHECK(contains(refusal(hdf5_writer(), "{level: 3}"), "found 'level' without 'compression'"));
  CHECK(contains(refusal(vtk_writer(), "{level: 3, compression: none}"), "found 'level' without 'compression'"));
  CHECK(contains(refusal(hdf5_writer(), "{file: '{index}.nc'}"), "must end in .h5 or .hdf5"));
  CHECK(contains(refusal(vtk_writer(), "{file: '{index}.vti'}"),
                 "must end in .pvti or .pvtr or .pvts or .pvtu or .pvtp or .vtm"));
  CHECK(contains(refusal(hdf5_writer(), "{file: '{index}-{server}.h5'}"), "leave it out"));
  sample.metadata.variables[1].group = "marker";
  CHECK(contains(refusal(hdf5_writer(), "{}"), "group"));
}

TEST_CASE_FIXTURE(WritingServers, "the vtk writer refuses levels that are not declared and foreign meshes by name") {
  const auto made = writer(vtk_writer(), "{variables: temperature}");
  auto held = sample.held(0, 1, made->selection(), 0);
  held.views[0][1].block.level = 1;
  const Iteration iteration{};
  CHECK(contains(message_of([&] {
                   (void)made->local({iteration, sample.metadata, held.views, 0, {}});
                 }),
                 "is on level 1, but the mesh is declared with 0 refinements"));
  struct Foreign final : Geometry {
    std::string kind() const override { return "particles"; }
  };
  sample.metadata.meshes[0].geometry = std::make_shared<Foreign>();
  CHECK(contains(message_of([&] { (void)writer(vtk_writer(), "{}"); }), "on the mesh 'box', of type particles"));
}
