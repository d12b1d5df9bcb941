// Files are made with stripes before they are written, and without them where there are none.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <cerrno>
#include <map>
#include <set>

#include "sidestream/kit/data/file_pattern.hpp"
#include "sidestream/kit/storage/files/output_file.hpp"
#include "storage/register.hpp"
#include "storage/support/sample.hpp"
#include "storage/support/stub_lustre.hpp"
#include "support/ranks.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

struct Fixture {
  explicit Fixture() { stub_lustre::take_calls(); }
  ~Fixture() { stub_lustre::fail_with(0); }

  /// Runs the writers for two iterations and returns all files with their content.
  std::map<std::string, std::string> write(const FileRules& rules) {
    Registry registry;
    register_storage(registry);
    const auto output = open_output_directory(directory.path(), "test", Continuation::nothing, true, rules, true);
    for (const char* name : {"hdf5", "vtk", "database"}) {
      const WriterKind& kind = registry.writers().at(name);
      const auto settings = writer_settings(kind, "{variables: temperature}", sample.metadata);
      const auto made = kind.create(settings, sample.metadata, output);
      for (const std::int64_t n : {0, 1}) write_iteration(*made, sample, {n, n, 0}, world);
    }
    world.barrier();
    std::map<std::string, std::string> all;
    for (const std::string& name : files_under(directory.path())) {
      if (name.find("contexts") == std::string::npos && name.find("lock") == std::string::npos) {
        all[name] = read_file(directory / name);
      }
    }
    world.barrier();
    if (world.rank() == 0) std::filesystem::remove_all(directory.path());
    world.barrier();
    return all;
  }

  MpiCommunicator world{test_ranks()};
  SharedDirectory directory{world};
  Sample sample;
};

/// "/tmp/x/.fields.h5.part" -> "fields.h5"
std::string final_name(const std::string& path) {
  std::string name = std::filesystem::path(path).filename().string();
  if (name.front() == '.' && name.ends_with(".part")) name = name.substr(1, name.size() - 6);
  return name;
}

}  // namespace

TEST_CASE_FIXTURE(Fixture, "every file has the stripes of the first rule for it, and the same bytes") {
  const auto expected = write({});
  CHECK(stub_lustre::take_calls().empty());
  const auto all =
      write({0, {{"*-00?.h5", 8, 4 << 20}, {"fields-*.pvti", 0, 0}, {"database/*", -1, 1 << 20}, {"*", 1, 0}}});
  CHECK(all == expected);
  std::set<std::string> striped;
  for (const stub_lustre::Call& call : stub_lustre::take_calls()) {
    const std::string name = final_name(call.path);
    striped.insert(name);
    const bool in_database = call.path.find("/database/") != std::string::npos;
    const bool of_server = !in_database && name.size() > 7 && name.ends_with(".h5") && name[name.size() - 7] == '-' &&
                           name.substr(name.size() - 6, 2) == "00";
    CHECK(call.count == (of_server ? 8 : in_database ? -1 : 1));
    CHECK(call.size == (of_server ? 4u << 20 : in_database ? 1u << 20 : 0u));
    CHECK(call.offset == -1);
    CHECK(call.pattern == 0);
    CHECK_FALSE(name.ends_with(".pvti"));
  }
  // Whatever this server has written: its own HDF5 file at least.
  CHECK(striped.count("fields-000001-00" + std::to_string(world.rank()) + ".h5") == 1);
  if (world.rank() == 0) {
    CHECK(striped.count("fields-000001.h5") == 1);
    CHECK(std::any_of(striped.begin(), striped.end(),
                      [](const std::string& name) { return name.starts_with("segment-"); }));
  }
}

TEST_CASE_FIXTURE(Fixture, "a file system without stripes is asked once and gets the same files") {
  const auto expected = write({});
  for (const int error : {ENOTTY, ENODEV, EINVAL}) {
    stub_lustre::fail_with(error);
    CHECK(write({0, {{"*", 4, 1 << 20}}}) == expected);
    CHECK(stub_lustre::take_calls().size() == 1);
  }
}

TEST_CASE_FIXTURE(Fixture, "what stands in the way is treated as without stripes") {
  const auto output = open_output_directory(directory.path(), "test", Continuation::nothing, true, {0, {{"*", 2, 0}}});
  const std::string path = directory / ("file-" + std::to_string(world.rank()));
  // A link planted at the temporary name is replaced, not followed.
  const std::string target = directory / ("target-" + std::to_string(world.rank()));
  write_file(target, "precious");
  std::filesystem::create_symlink(target, output->temporary(path));
  replace_file(*output, path, std::string_view("text"));
  CHECK(read_file(path) == "text");
  CHECK(read_file(target) == "precious");
  CHECK(stub_lustre::take_calls().size() == 1);
  // A full file of that name, left by a crash, is replaced as well.
  write_file(output->temporary(path), "leftover of an earlier run");
  replace_file(*output, path, std::string_view("new"));
  CHECK(read_file(path) == "new");
}
