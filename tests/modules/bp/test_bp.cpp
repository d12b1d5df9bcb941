// The output `bp`, read by ADIOS2 itself.
#include <adios2.h>
#include <doctest/doctest.h>
#include <sys/resource.h>

#include <numeric>

#include "bp/bp_options.hpp"
#include "sidestream/kit/storage/files/output_file.hpp"
#include "storage/support/sample.hpp"
#include "support/list_blocks.hpp"
#include "support/message_of.hpp"
#include "support/ranks.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

/// A step of a data set, read by one process.
class Reader {
 public:
  explicit Reader(const std::string& path) : io_(adios_.DeclareIO("read")) {
    io_.SetEngine("BP5");
    io_.SetParameter("Profile", "Off");  // else a file with times appears in the system's temporary folder
    engine_ = io_.Open(path, adios2::Mode::ReadRandomAccess);
  }
  ~Reader() { engine_.Close(); }
  [[nodiscard]] std::size_t steps(const std::string& name = "cycle") {
    return io_.InquireVariable<std::int64_t>(name).Steps();
  }
  template <class T>
  [[nodiscard]] std::vector<T> values(const std::string& name, std::size_t step, adios2::Dims& shape) {
    auto variable = io_.InquireVariable<T>(name);
    REQUIRE_MESSAGE(variable, name);
    variable.SetStepSelection({step, 1});
    shape = variable.Shape(step);
    if (!shape.empty()) variable.SetSelection({adios2::Dims(shape.size(), 0), shape});
    std::vector<T> all(std::accumulate(shape.begin(), shape.end(), std::size_t{1}, std::multiplies<>()));
    engine_.Get(variable, all.data(), adios2::Mode::Sync);
    return all;
  }
  template <class T>
  [[nodiscard]] std::vector<T> values(const std::string& name, std::size_t step = 0) {
    adios2::Dims shape;
    return values<T>(name, step, shape);
  }
  template <class T>
  [[nodiscard]] std::vector<T> attribute(const std::string& name) {
    const auto found = io_.InquireAttribute<T>(name);
    REQUIRE_MESSAGE(found, name);
    return found.Data();
  }

 private:
  adios2::ADIOS adios_;
  adios2::IO io_;
  adios2::Engine engine_;
};

struct Fixture {
  std::unique_ptr<Task> writer(const std::string& yaml, const Metadata& metadata,
                               Continuation what = Continuation::nothing) {
    const auto output = open_output_directory(directory.path(), "test", what, true, rules);
    const WriterKind kind = bp_writer();
    return kind.create(writer_settings(kind, yaml, metadata), metadata, output);
  }
  /// Writes cycles from `first` until `end`; the values of each have its number added.
  void write(std::int64_t first, std::int64_t end, Continuation what = Continuation::nothing, int ghosts = 0) {
    const auto made = writer("{}", sample.metadata, what);
    for (std::int64_t n = first; n < end; ++n) {
      sample.step = static_cast<int>(n);
      write_iteration(*made, sample, {n - first, n, 0.5 * static_cast<double>(n)}, world, ghosts);
    }
  }
  /// All points of a variable in a step, in the order of the file.
  template <class T>
  void check_values(Reader& reader, const FakeDomain& domain, std::size_t v, std::size_t step) {
    const Variable& variable = domain.metadata.variables[v];
    const Box points = points_of(variable.centering, domain.mesh().cells);
    adios2::Dims shape;
    const auto all =
        reader.values<T>((variable.group.empty() ? "" : variable.group + "/") + variable.name, step, shape);
    const bool is_row = variable.order == Order::row;
    CHECK(shape[is_row ? 0 : 2] == static_cast<std::size_t>(points.extent(0)));
    CHECK(shape[is_row ? 2 : 0] == static_cast<std::size_t>(points.extent(2)));
    std::size_t wrong = 0;
    const auto strides = packed_strides(points, variable.components, variable.order);
    for (Index k = points.lo[2]; k < points.hi[2]; ++k) {
      for (Index j = points.lo[1]; j < points.hi[1]; ++j) {
        for (Index i = points.lo[0]; i < points.hi[0]; ++i) {
          for (int c = 0; c < variable.components; ++c) {
            const Index at =
                (i - points.lo[0]) * strides[0] + (j - points.lo[1]) * strides[1] + (k - points.lo[2]) * strides[2] + c;
            wrong += all.at(static_cast<std::size_t>(at)) != static_cast<T>(domain.value(v, {i, j, k}, c));
          }
        }
      }
    }
    CHECK_MESSAGE(wrong == 0, variable.name);
  }
  void check_all(Reader& reader, std::size_t step) {
    check_values<double>(reader, sample.box, 0, step);
    check_values<float>(reader, sample.box, 1, step);
    check_values<std::int32_t>(reader, sample.box, 2, step);
    check_values<double>(reader, sample.box, 3, step);
    check_values<std::uint8_t>(reader, sample.stretched, 0, step);
    check_values<std::int16_t>(reader, sample.stretched, 1, step);
  }
  /// Lets rank 0 look at the files, and the others wait.
  void look(const std::function<void()>& check) {
    world.barrier();
    if (world.rank() == 0) check();
    world.barrier();
  }
  MpiCommunicator world{test_ranks()};
  SharedDirectory directory{world};
  Sample sample;
  FileRules rules;
};

}  // namespace

TEST_CASE_FIXTURE(Fixture, "variables are whole arrays in every step, from any number of servers") {
  for (const int ghosts : {0, 2}) {
    rules.writers = ghosts / 2;  // one after the other the second time
    write(3, 6, Continuation::nothing, ghosts);
    look([&] {
      Reader reader(directory / "fields.bp");
      CHECK(reader.steps() == 3);
      for (std::size_t step = 0; step < 3; ++step) {
        sample.step = static_cast<int>(step) + 3;
        check_all(reader, step);
        CHECK(reader.values<double>("time", step).front() == 0.5 * sample.step);
        CHECK(reader.values<std::int64_t>("iteration", step).front() == static_cast<std::int64_t>(step));
      }
      CHECK(reader.attribute<std::string>("state/temperature/unit").front() == "K");
      CHECK(reader.attribute<std::string>("flux/order").front() == "row");
      CHECK(reader.attribute<std::string>("flux/centering").front() == "node");
      CHECK(reader.attribute<double>("meshes/box/spacing") == std::vector<double>{0.1, 0.25, 0.5});
      CHECK(reader.attribute<std::int64_t>("meshes/box/lo") == std::vector<std::int64_t>{2, -1, 3});
      CHECK(reader.attribute<double>("meshes/stretched/x") == std::vector<double>{0, 1, 2, 4, 8, 16, 32});
    });
  }
  // The first data set was not overwritten.
  CHECK(std::filesystem::exists(directory / "fields-v1.bp/md.idx"));
}

TEST_CASE_FIXTURE(Fixture, "a run that resumes another goes on behind its last step") {
  write(0, 4);
  world.barrier();
  SUBCASE("at its end") { write(4, 6, Continuation::run); }
  SUBCASE("before its end, whose steps stay in a copy") { write(2, 6, Continuation::run); }
  look([&] {
    Reader reader(directory / "fields.bp");
    CHECK(reader.steps() == 6);
    for (std::size_t step = 0; step < reader.steps(); ++step) {
      CHECK(reader.values<std::int64_t>("cycle", step).front() == static_cast<std::int64_t>(step));
      sample.step = static_cast<int>(step);
      check_all(reader, step);
    }
  });
  if (std::filesystem::exists(directory / "fields-v1.bp")) {
    look([&] { CHECK(Reader(directory / "fields-v1.bp").steps() == 4); });
  }
}

TEST_CASE_FIXTURE(Fixture, "lists follow each other by block, whoever has them, and change their lengths") {
  ListDomain domain(MeshKind::points, 2);
  domain.add("pos", Type::float64, 2, Centering::node, Role::coordinates);
  domain.add("mass", Type::float32, 1, Centering::node);
  const auto value = [](std::size_t block, Index n) {
    return 100.0 * static_cast<double>(block) + static_cast<double>(n);
  };
  {
    const auto made = writer("{file: deep/points.bp}", domain.metadata);
    for (std::int64_t step = 0; step < 3; ++step) {
      std::vector<ListBlock> blocks(5);
      std::vector<std::size_t> mine;
      for (std::size_t id = 0; id < blocks.size(); ++id) {
        // Block 3 comes and goes; block 1 is empty at first.
        const Index points = id == 1 ? step : static_cast<Index>(id) + 1;
        blocks[id].points = points;
        std::vector<double> pos;
        std::vector<float> mass;
        for (Index n = 0; n < points; ++n) {
          pos.insert(pos.end(), {value(id, n), -value(id, n)});
          mass.push_back(static_cast<float>(value(id, n) + static_cast<double>(step)));
        }
        blocks[id].values = {{"pos", pos}, {"mass", mass}};
        const bool is_there = id != 3 || step != 1;
        if (is_there && static_cast<int>(id + static_cast<std::size_t>(step)) % world.size() == world.rank()) {
          mine.push_back(id);
        }
      }
      const auto views = views_of(domain, blocks, mine);
      const Iteration iteration{step, step, 0};
      LocalInput input{iteration, domain.metadata, views};
      CapturedResults results;
      const std::vector<Bytes> partials{made->local(input)};
      made->combine({iteration, domain.metadata, partials, 0, world, results, &input});
    }
  }
  look([&] {
    Reader reader(directory / "deep/points.bp");
    for (std::size_t step = 0; step < 3; ++step) {
      std::vector<float> mass;
      std::vector<double> pos;
      std::vector<std::int64_t> ids, lengths;
      for (std::size_t id = 0; id < 5; ++id) {
        if (id == 3 && step == 1) continue;
        ids.push_back(static_cast<std::int64_t>(id));
        lengths.push_back(id == 1 ? static_cast<std::int64_t>(step) : static_cast<std::int64_t>(id) + 1);
        for (Index n = 0; n < lengths.back(); ++n) {
          pos.insert(pos.end(), {value(id, n), -value(id, n)});
          mass.push_back(static_cast<float>(value(id, n) + static_cast<double>(step)));
        }
      }
      adios2::Dims shape;
      CHECK(reader.values<double>("pos", step, shape) == pos);
      CHECK(shape == adios2::Dims{mass.size(), 2});
      CHECK(reader.values<float>("mass", step) == mass);
      CHECK(reader.values<std::int64_t>("mass/blocks", step) == ids);
      CHECK(reader.values<std::int64_t>("mass/lengths", step) == lengths);
    }
  });
}

TEST_CASE_FIXTURE(Fixture, "names that cannot be, and files in the way, get a sentence") {
  CHECK(contains(message_of([&] { writer("{file: fields.h5}", sample.metadata); }), "expected the ending .bp"));
  CHECK(contains(message_of([&] { writer("{file: 'fields-{cycle}.bp'}", sample.metadata); }), "without fields"));
  if (world.rank() == 0) write_file(directory / "blocked", "a file");
  world.barrier();
  const auto made = writer("{file: blocked/fields.bp}", sample.metadata);
  const std::string failure = message_of([&] { write_iteration(*made, sample, {0, 0, 0}, world); });
  CHECK_MESSAGE(contains(failure, "blocked"), failure);
}

TEST_CASE_FIXTURE(Fixture, "a limit on the size of files on one server is noticed before ADIOS2 writes") {
  const auto made = writer("{}", sample.metadata);
  write_iteration(*made, sample, {0, 0, 0}, world);
  struct rlimit before {};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  const struct rlimit low { 1 << 20, before.rlim_max };
  if (world.rank() == world.size() - 1) ::setrlimit(RLIMIT_FSIZE, &low);
  const std::string failure = message_of([&] { write_iteration(*made, sample, {1, 1, 1}, world); });
  ::setrlimit(RLIMIT_FSIZE, &before);
  CHECK_MESSAGE(contains(failure, "File too large"), failure);
  CHECK_MESSAGE(contains(failure, "ulimit -f"), failure);
  write_iteration(*made, sample, {2, 2, 2}, world);
}
