// `sidestream plan` as a user calls it, compared with numbers worked out by hand.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "config/tool_folder.hpp"

using sidestream::testing::contains;
using sidestream::testing::Outcome;
using sidestream::testing::ToolFolder;

namespace {

/// The folder of this file's tests.
struct Folder : ToolFolder {
  Folder() : ToolFolder("plan_files", "plan") {}
};

/// The numbers of the lines that --table adds: server, blocks, bytes.
std::vector<std::vector<long long>> table(const std::string& out) {
  std::istringstream lines(out.substr(out.find("\n\n") + 2));
  std::string line;
  std::getline(lines, line);
  std::vector<std::vector<long long>> rows;
  while (std::getline(lines, line)) {
    std::istringstream numbers(line);
    std::vector<long long>& row = rows.emplace_back();
    for (long long n = 0; numbers >> n;) row.push_back(n);
  }
  return rows;
}

const std::string slice =
    "placement: {mode: nodes, servers: 3}\n"
    "meshes: {grid: {size: [$n, $n, $n]}}\n"
    "variables: {t: {mesh: grid}, p: {mesh: grid, type: float32}}\n"
    "analyses:\n"
    "  - slice: {variable: t, axis: z, position: 2.25, every: 2}\n";

// Two blocks along x, of 2 x 4 x 4 cells, with ranges of `t`.
const std::string two_blocks =
    "sidestream_metadata: 1\n"
    "iteration: {index: 2, cycle: 20, time: 0.5}\n"
    "meshes:\n"
    "  \"grid\": {type: uniform, size: [4, 4, 4], origin: [0, 0, 0], spacing: [1, 1, 1]}\n"
    "variables:\n"
    "  \"t\": {mesh: \"grid\", type: float64, centering: cell, components: 1, order: column}\n"
    "blocks: |\n"
    "  0 0 0 0 0 0 0 2 4 4\n"
    "  0 1 0 1 2 0 0 4 4 4\n"
    "ranges: |\n"
    "  0 0 0 0 1  0 1 0 1 0 1 0 1 0 1 0 1 0 1\n"
    "  1 0 0 2 5  2 3 2 5 2 3 2 5 2 3 2 5 2 3\n";

}  // namespace

TEST_CASE("a regular decomposition: counts and bytes") {
  const Folder folder;
  folder.file(slice);
  // 4 x 4 x 4 blocks of 2^3 cells; z = 2.25 lies below the first centres (2.5) of the second layer of blocks.
  const Outcome outcome = folder.run("run.yaml --metadata grid:8x8x8/4x4x4 --set n=8 --table");
  CHECK(outcome.status == 0);
  CHECK(outcome.err.empty());
  CHECK(contains(outcome.out, "run.yaml: 64 blocks exist"));
  CHECK(contains(outcome.out, "slice        16 of 64 blocks (25.00 %), 1.0 KiB (1024 B) and halos"));
  CHECK(contains(outcome.out, "in all       16 of 64 blocks (25.00 %), 1.0 KiB (1024 B) of 4.0 KiB (4096 B)"));
  CHECK(contains(outcome.out, "nowhere      48 blocks"));
  CHECK(contains(outcome.out, "servers      3 with 5 to 6 blocks and 320 B to 384 B each"));
  CHECK(table(outcome.out) == std::vector<std::vector<long long>>{{0, 6, 384}, {1, 5, 320}, {2, 5, 320}});
}

TEST_CASE("the union of analyses and outputs, by variable") {
  const Folder folder;
  folder.file(slice + "  - histogram: {variable: p, bins: 4}\noutputs: [metadata: {ranges: t}]\n");
  const Outcome outcome = folder.run("run.yaml --metadata grid:8x8x8/4x4x4 --set n=8");
  CHECK(outcome.status == 0);
  CHECK(contains(outcome.out, "histogram    64 of 64 blocks (100.00 %), 2.0 KiB (2048 B)\n"));
  CHECK(contains(outcome.out, "metadata     0 of 64 blocks (0.00 %), 0 B\n"));
  // All 8 x 8 x 8 x 4 bytes of p, and a quarter of t.
  CHECK(contains(outcome.out, "in all       64 of 64 blocks (100.00 %), 3.0 KiB (3072 B) of 6.0 KiB (6144 B)"));
  CHECK(contains(outcome.out, "nowhere      0 blocks"));
}

TEST_CASE("partitioners: of the configuration, of the command line, with options") {
  const Folder folder;
  folder.file(slice);
  const std::string base = "run.yaml --metadata grid:8x8x8/4x4x4 --set n=8 --table ";
  CHECK(table(folder.run(base + "--servers 2 --partitioner '{stripe: {width: 12}}'").out) ==
        std::vector<std::vector<long long>>{{0, 12, 768}, {1, 4, 256}});
  // Each server has half of the needed cells: 16 blocks of 8 cells, cut across z between 0 .. 3 and 4 .. 7.
  const Outcome regrid = folder.run(base + "--servers 4 --partitioner '{regrid: {shape: slabs, axis: x}}'");
  CHECK(table(regrid.out) == std::vector<std::vector<long long>>{{0, 4, 256}, {1, 4, 256}, {2, 4, 256}, {3, 4, 256}});
  const Outcome split = folder.run(base + "--servers 8 --partitioner '{regrid: {shape: slabs, axis: x}}'");
  CHECK(contains(split.out, "16 blocks are split or copied"));
  CHECK(table(split.out)[7] == std::vector<long long>{7, 4, 128});
  const Outcome copies = folder.run(base + "--servers 2 --partitioner replicated");
  CHECK(table(copies.out) == std::vector<std::vector<long long>>{{0, 16, 1024}, {1, 16, 1024}});
  CHECK(contains(copies.out, "moves        2.0 KiB (2048 B), 50.00 %"));
  // A partitioner that leaves blocks out, whatever analyses need.
  const Outcome cut = folder.run(base + "--partitioner '{slice: {origin: [1, 0, 0], normal: [1, 0, 0]}}'");
  CHECK(contains(cut.out, "nowhere      60 blocks, 12 of them needed but left out by the partitioner"));
  folder.file("placement: {mode: cores, partitioner: balanced}\n" + slice.substr(slice.find('\n') + 1));
  CHECK(contains(folder.run(base + "--servers 2").out, "partitioner  balanced"));
}

TEST_CASE("a metadata file: blocks whose ranges bracket a value") {
  const Folder folder;
  folder.file("analyses:\n  - isosurface: {variable: t, values: 3.5, normals: false}\n");
  folder.file(two_blocks, "m.yaml");
  const Outcome one = folder.run("run.yaml --metadata m.yaml --servers 1");
  CHECK(one.status == 0);
  CHECK(contains(one.out, "isosurface   1 of 2 blocks (50.00 %), 256 B"));
  // The value 1.5 lies between the blocks. The lower block has the cells between them.
  folder.file("analyses:\n  - isosurface: {variable: t, values: 1.5}\n");
  CHECK(contains(folder.run("run.yaml --metadata m.yaml --servers 1").out, "isosurface   1 of 2 blocks"));
  folder.file("analyses:\n  - isosurface: {variable: t, values: 9}\n");
  CHECK(contains(folder.run("run.yaml --metadata m.yaml --servers 1").out, "isosurface   0 of 2 blocks (0.00 %), 0 B"));
}

TEST_CASE("without ranges any block may be needed, and the output says so") {
  const Folder folder;
  const std::string both =
      "analyses:\n  - isosurface: {variable: t, values: 3.5, normals: false}\n  - histogram: {variable: t}\n";
  folder.file("variables: {t: {mesh: grid}}\n" + both);
  const Outcome outcome = folder.run("run.yaml --metadata grid:8x8x8/2x2x2 --servers 2");
  CHECK(outcome.status == 0);
  CHECK(contains(outcome.out, "isosurface   8 of 8 blocks (100.00 %), 4.0 KiB (4096 B)"));
  CHECK(contains(outcome.out, "; ranges are unknown: any block may be needed\n"));
  CHECK(contains(outcome.out, "histogram    8 of 8 blocks (100.00 %), 4.0 KiB (4096 B)\n"));
  CHECK(contains(outcome.out, "'isosurface' goes by the ranges of component 0 of 't', which the metadata do not hold"));
  const Outcome part = folder.run(
      "run.yaml --metadata grid:8x8x8/2x2x2 --servers 2 --partitioner '{isosurface: {variable: t, values: 3.5}}'");
  CHECK(part.status == 0);
  CHECK(contains(part.out, "nowhere      0 blocks\n"));
  CHECK(contains(part.out, "the partitioner goes by the ranges of component 0 of 't'"));
}

TEST_CASE("sizes that memory does not hold") {
  const Folder folder;
  folder.file(slice);
  const Outcome servers = folder.run("run.yaml --metadata grid:8x8x8/4x4x4 --set n=8 --servers 1073741824");
  CHECK(servers.status == 2);
  CHECK(contains(servers.err, "1048576"));
  const Outcome blocks = folder.run("run.yaml --metadata grid:1024x1024x1024/1024x1024x1024 --set n=1024");
  CHECK(blocks.status == 2);
  CHECK(contains(blocks.err, "expected at most 16777216"));
}

TEST_CASE("a partitioner of a plug-in") {
  const Folder folder;
  folder.file("plugins: [" TEST_MORTON_PLUGIN "]\n" + slice);
  const std::string base = "run.yaml --metadata grid:8x8x8/4x4x4 --set n=8 --table --servers 4 ";
  // Each server has a quarter, along the curve, of the 4 x 4 needed blocks.
  CHECK(table(folder.run(base + "--partitioner morton").out) ==
        std::vector<std::vector<long long>>{{0, 4, 256}, {1, 4, 256}, {2, 4, 256}, {3, 4, 256}});
  CHECK(contains(folder.run(base + "--partitioner '{morton: {weigh: cells}}'").err,
                 "--partitioner:1:18: found 'cells' for 'weigh', expected one of bytes, blocks"));
  const Outcome unknown = folder.run(base + "--partitioner mortn");
  CHECK(unknown.status == 1);
  CHECK(contains(unknown.err, "did you mean 'morton'?"));
}

TEST_CASE("a wrong partitioner of a plug-in gets the same sentence as on servers") {
  const Folder folder;
  const auto refusal = [&](const std::string& partitioner) {
    folder.file("plugins: [" TEST_FAULTY_PLUGIN "]\n" + slice);
    const Outcome outcome =
        folder.run("run.yaml --metadata grid:8x8x8/2x2x2 --set n=8 --servers 2 --partitioner " + partitioner);
    CHECK(outcome.status == 1);
    return outcome.err;
  };
  CHECK(contains(refusal("doubling"), "the partitioner 'doubling' gave server 0 two pieces of block"));
  CHECK(contains(refusal("overreaching"), "the partitioner 'overreaching' gave a part of block number 0 of"));
}

TEST_CASE("errors are one sentence") {
  const Folder folder;
  folder.file(two_blocks, "m.yaml");
  const auto fails = [&](const std::string& text, const std::string& arguments, int status, const std::string& part) {
    folder.file(text);
    const Outcome outcome = folder.run("run.yaml " + arguments);
    CHECK(outcome.status == status);
    CHECK(outcome.out.empty());
    CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
    return contains(outcome.err, part);
  };
  const std::string iso = "analyses:\n  - isosurface: {variable: t, values: 3}\n";
  CHECK(fails(slice, "--metadata grid:8x8x8/4x4x4", 1, "$n has no value"));
  CHECK(fails(slice, "--metadata none.yaml --set n=8", 1, "cannot read the metadata 'none.yaml'"));
  CHECK(fails(slice, "--metadata grid:8x8x8/4x4x9 --set n=8", 2, "found 9 blocks along axis z"));
  CHECK(fails(slice, "--metadata grid:8x8x8/4x4x4 --set n=16", 1, "has 8 x 8 x 8 cells, the configuration's 16 x 16"));
  CHECK(fails(iso, "--metadata m.yaml", 2, "found no --servers"));
  CHECK(fails(slice, "--metadata grd:8x8x8/2x2x2 --set n=8", 1, "did you mean 'grid'?"));
  CHECK(fails("placement: off\n" + iso, "--metadata m.yaml --servers 2", 1, "found 'placement: off'"));
  CHECK(fails("placement: {partitioner: [block]}\n" + iso, "--metadata m.yaml --servers 2", 1,
              "run.yaml:1:26: found a list for 'partitioner'"));
  CHECK(fails("placement: {partitioner: {block: {}, stripe: {}}}\n" + iso, "--metadata m.yaml --servers 2", 1,
              "run.yaml:1:38: found 'stripe' beside 'block'"));
  CHECK(fails("placement: {partitioner: {stripe: {width: 0}}}\n" + iso, "--metadata m.yaml --servers 2", 1,
              "run.yaml:1:43: found '0' for 'width'"));
  CHECK(fails("placement: {partitioner: {strip: {}}}\n" + iso, "--metadata m.yaml --servers 2", 1,
              "did you mean 'stripe'?"));
  CHECK(fails("placement: {partitioner: {slice: {origin: [0, 0, 0], normal: [0, 0, 0]}}}\n" + iso,
              "--metadata m.yaml --servers 2", 1, "found a normal without direction"));
  CHECK(folder.run("run.yaml --servers 2").status == 2);
  CHECK(folder.run("run.yaml --metadata m.yaml --servers 0").status == 2);
}
