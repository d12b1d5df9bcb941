// `mapped`: plans follow the list or the file, and wrong ones get messages.
#include <unistd.h>

#include <cstdio>
#include <fstream>

#include "partition/kinds.hpp"
#include "partition/plans.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

const Box cube{{0, 0, 0}, {8, 8, 8}};

/// A file that is removed with the object.
struct MapFile {
  explicit MapFile(const std::string& text) { std::ofstream(path, std::ios::binary) << text; }
  ~MapFile() { std::remove(path.c_str()); }
  std::string path = "/tmp/sidestream_map_" + std::to_string(getpid()) + ".txt";
  [[nodiscard]] std::string yaml() const { return "{file: " + path + "}"; }
};

}  // namespace

TEST_CASE("mapped: as the list says, by block id") {
  std::mt19937 random(3);
  for (const std::size_t count : block_counts) {
    Planned planned(cube, count, 5);
    std::shuffle(planned.blocks.begin(), planned.blocks.end(), random);  // so that position and id differ
    for (const int servers : server_counts) {
      std::string yaml = "{servers: [0";
      std::vector<int> list{0};
      while (list.size() < count) {
        list.push_back(static_cast<int>(random() % static_cast<unsigned>(servers)));
        yaml += ", " + std::to_string(list.back());
      }
      yaml += "]}";
      check_plan(mapped_partitioner(), yaml, planned, servers);
      const auto found = servers_of(plan(mapped_partitioner(), yaml, planned, servers), planned);
      for (std::size_t b = 0; b < count; ++b) {
        CHECK(found[b] == list[static_cast<std::size_t>(planned.blocks[b].block.id)]);
      }
    }
  }
}

TEST_CASE("mapped: as the file says") {
  Planned planned(cube, 4, 5);
  Mesh other = planned.metadata.meshes[0];
  other.id = 1;
  other.name = "a mesh: 2";
  planned.metadata.meshes.push_back(other);
  planned.blocks.push_back(planned.blocks[0]);
  planned.blocks.back().block.mesh = 1;
  const MapFile file("# mesh block server\n- grid 2 1\r\n grid\t0   0\n\ngrid 3 2\n- a mesh: 2 0 1\ngrid 1 0");
  check_plan(mapped_partitioner(), file.yaml(), planned, 3);
  CHECK(servers_of(plan(mapped_partitioner(), file.yaml(), planned, 3), planned) == std::vector<int>{0, 0, 1, 2, 1});
}

TEST_CASE("mapped: errors name the place") {
  const Planned planned(cube, 3, 5);
  const auto error = [&](const std::string& yaml, int servers = 2) {
    try {
      plan(mapped_partitioner(), yaml, planned, servers);
    } catch (const Error& e) {
      CHECK(e.code() == Code::configuration);
      return std::string(e.what());
    }
    return std::string("no error");
  };
  const auto says = [&](const std::string& text, const std::string& part) {
    CAPTURE(text);
    CHECK(text.find(part) != std::string::npos);
  };
  says(error("{}"), "found neither 'servers' nor 'file'");
  says(error("{servers: [0, 1, 0], file: x}"), "found 'servers' beside 'file'");
  says(error("{servers: [0, 1]}"), "test.yaml:1:11: found no server for block 2 of the mesh 'grid'");
  says(error("{servers: [0, 2, 1]}"), "test.yaml:1:11: found the server 2 for block 1, expected one of 0 to 1");
  says(error("{file: /nowhere/map}"), "found the map '/nowhere/map', which cannot be read");
  const auto of_file = [&](const std::string& text) { return error(MapFile(text).yaml()); };
  says(of_file("grid 0 0\ngrid 1 1\n"), "found no server for block 2");
  says(of_file("grid 0 0\ngrid one 1\n"), "found 'grid one 1' in line 2 of the map");
  says(of_file("0 0\n"), "expected 'mesh block server'");
  says(of_file("grit 0 0\n"), "found the mesh 'grit' in line 1");
  says(of_file("grid 0 2\n"), "found the server 2 in line 1");
  says(of_file("grid 0 -1\n"), "found the server -1 in line 1");
  says(of_file("grid 0 0\ngrid 1 0\ngrid 0 1\n"), "found block 0 a second time (first in line 1) in line 3");
}
