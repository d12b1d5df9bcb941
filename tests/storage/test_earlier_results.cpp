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
