// Files that a run removes before it writes anything, if it replaces an earlier run, and files that it leaves.
#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "sidestream/extend/registry.hpp"
#include "sidestream/kit/storage/files/output_file.hpp"
#include "storage/files/output_directory.hpp"
#include "storage/register.hpp"
#include "storage/results/earlier_results.hpp"
#include "storage/results/series.hpp"
#include "support/scratch.hpp"

using namespace sidestream;
using namespace sidestream::testing;
namespace fs = std::filesystem;

namespace {

/// The files that still exist after a run with these patterns and a mesh 'grid' has begun.
std::vector<std::string> left_of(const std::vector<std::string>& files, const std::vector<std::string>& patterns) {
  const Scratch scratch;
  for (const std::string& file : files) {
    make_directory_of(scratch.path + "/" + file);
    write_file(scratch.path + "/" + file, "earlier");
  }
  Registry registry;
  register_storage(registry);
  remove_earlier_results(*open_output_directory(scratch.path, {}), patterns, {"grid"}, registry.formats());
  std::vector<std::string> left;
  for (const std::string& file : files) {
    if (fs::exists(scratch.path + "/" + file)) left.push_back(file);
  }
  return left;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("tables go, with the note of how much of them is whole") {
  CHECK(left_of({"statistics.csv", ".statistics.csv.committed", "mine.csv"}, {"statistics.csv"}) == Names{"mine.csv"});
}

TEST_CASE("a link to the directory of a database stays, and what it leads to") {
  const Scratch scratch, elsewhere;
  write_file(elsewhere.path + "/contexts", "earlier");
  fs::create_directory_symlink(elsewhere.path, scratch.path + "/database");
  write_file(elsewhere.path + "/t.csv", "earlier");
  fs::create_symlink(elsewhere.path + "/t.csv", scratch.path + "/t.csv");
  Registry registry;
  register_storage(registry);
  remove_earlier_results(*open_output_directory(scratch.path, {}), {"database", "t.csv"}, {}, registry.formats());
  CHECK(fs::is_symlink(scratch.path + "/database"));
  CHECK(!fs::exists(fs::symlink_status(scratch.path + "/t.csv")));
  CHECK(fs::exists(elsewhere.path + "/contexts"));
  CHECK(fs::exists(elsewhere.path + "/t.csv"));
}

TEST_CASE("pieces of all servers go, with the list and the file that stood for them") {
  const Names files{"surface.vtp", "surface.pvtp", "surface/piece-000000.vtp", "surface/piece-000003.vtp",
                    "surface/note.txt"};
  CHECK(left_of(files, {"surface.vtp"}) == Names{"surface/note.txt"});
  CHECK(left_of({"cells.vtu", "cells.pvtu", "cells/piece-000001.vtu"}, {"cells.vtu"}).empty());
}

TEST_CASE("files of servers of HDF5 go, and those that only begin alike stay") {
  const Names files{"fields.h5", "fields-000000.h5", "fields-000003.h5", "fields-old.h5"};
  CHECK(left_of(files, {"fields.h5"}) == Names{"fields-old.h5"});
}

TEST_CASE("blocks of VTK's files go, of each mesh and each kind") {
  const Names files{"fields.pvti", "fields/block-000000.vti", "fields-grid.pvts", "fields-grid/block-000002.vts",
                    "fields-other.pvti"};
  CHECK(left_of(files, {"fields.pvti"}) == Names{"fields-other.pvti"});
}

TEST_CASE("databases and other folders stay") {
  const Names files{"database/contexts", "database/segment-1", "folder.csv/mine"};
  CHECK(left_of(files, {"database", "folder.csv"}) == files);
}

TEST_CASE("pictures that each iteration writes anew are removed, also links, but not their targets") {
  const Scratch scratch;
  write_file(scratch.path + "/elsewhere.png", "precious");
  fs::create_symlink(scratch.path + "/elsewhere.png", scratch.path + "/frame.png");
  Registry registry;
  register_storage(registry);
  remove_earlier_results(*open_output_directory(scratch.path, {}), {"frame.png"}, {}, registry.formats());
  CHECK(!fs::exists(fs::symlink_status(scratch.path + "/frame.png")));
  CHECK(read_file(scratch.path + "/elsewhere.png") == "precious");
}

namespace {

const std::string root_of_store =
    R"({"zarr_format": 3, "consolidated_metadata": {"metadata": {"iteration": {"attributes": )"
    R"({"long_name": "number of the publication"}}}}})";

/// Files of a store, and what is left of it after a run that replaces it has begun.
struct Store {
  explicit Store(const std::string& root = root_of_store) {
    for (const char* name : {"t/zarr.json", "t/c.0.0.0", "t/c.12.0.0", "t/.c.13.0.0.part", "time/c.0"}) put(name, "1");
    put("zarr.json", root);
  }
  void put(const std::string& name, const std::string& text) const {
    make_directory_of(path(name));
    write_file(path(name), text);
  }
  [[nodiscard]] std::string path(const std::string& name) const { return scratch.path + "/fields.zarr/" + name; }
  void replace() const {
    Registry registry;
    register_storage(registry);
    remove_earlier_results(*open_output_directory(scratch.path, {}), {"fields.zarr"}, {}, registry.formats());
  }
  Scratch scratch;
};

}  // namespace

TEST_CASE("a Zarr store of Sidestream's goes") {
  const Store store;
  store.replace();
  CHECK(!fs::exists(store.scratch.path + "/fields.zarr"));
}

TEST_CASE("what others put into a store stays, and what links lead to") {
  const Store store;
  const Scratch elsewhere;
  write_file(elsewhere.path + "/c.0", "precious");
  store.put("t/notes.txt", "mine");
  fs::create_directory_symlink(elsewhere.path, store.path("linked"));
  fs::create_symlink(elsewhere.path + "/c.0", store.path("time/c.1"));
  store.replace();
  CHECK(fs::exists(store.path("t/notes.txt")));
  CHECK(fs::exists(elsewhere.path + "/c.0"));
  CHECK(!fs::exists(store.path("zarr.json")));
  CHECK(!fs::exists(store.path("t/c.0.0.0")));
  CHECK(!fs::exists(store.path("time")));
}

TEST_CASE("stores of other programs, and links to stores, stay") {
  for (const char* root : {R"({"zarr_format": 3, "node_type": "group", "attributes": {}})", "[]", "{", ""}) {
    const Store store(root);
    store.replace();
    CHECK(fs::exists(store.path("t/c.0.0.0")));
    CHECK(fs::exists(store.path("zarr.json")));
  }
  const Store store;
  fs::rename(store.scratch.path + "/fields.zarr", store.scratch.path + "/other");
  fs::create_directory_symlink("other", store.scratch.path + "/fields.zarr");
  store.replace();
  CHECK(fs::exists(store.scratch.path + "/other/zarr.json"));
}

TEST_CASE("files that a resumed run has overtaken go") {
  const Scratch scratch;
  for (const char* name : {"f-000008.nc", "f-000008-v2.nc", "f-000009.nc", "mine.nc"})
    write_file(scratch.path + "/" + name, "earlier");
  const auto entry = [](const char* name) { return entry_text(name, {8, 8, 0.5}); };
  write_file(scratch.path + "/f.nc.series", "{\"files\": [" + entry("f-000008-v2.nc") + "], \"overtaken\": [" +
                                                entry("f-000008.nc") + "," + entry("f-000009.nc") + "]}");
  Registry registry;
  register_storage(registry);
  remove_earlier_results(*open_output_directory(scratch.path, {}), {"f-{cycle:06}.nc"}, {}, registry.formats());
  std::vector<std::string> left;
  for (const auto& one : fs::directory_iterator(scratch.path)) left.push_back(one.path().filename().string());
  CHECK(left == Names{"mine.nc"});
}
