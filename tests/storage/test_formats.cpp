// The bytes of small files, and the parts of which they consist.
#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <limits>

#include "sidestream/kit/data/box_values.hpp"
#include "sidestream/kit/storage/files/output_file.hpp"
#include "storage/formats/csv.hpp"
#include "storage/formats/kinds.hpp"
#include "storage/formats/vtk_block.hpp"
#include "storage/formats/vtk_xml.hpp"
#include "storage/support/sample.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

const std::string golden = SIDESTREAM_GOLDEN_DIRECTORY;
const std::string provenance = "Sidestream 0.1.0\nmeshes: {box: {size: [2, 1, 1]}}  # a -- b";
const Iteration iteration{3, 30, 0.75};

struct Fixture {
  /// Compares the output of `write` with the golden file of that name. With SIDESTREAM_WRITE_GOLDEN set, makes it anew.
  void compare(const std::string& name, const std::function<void(const std::string& path)>& write) {
    const std::string path = std::getenv("SIDESTREAM_WRITE_GOLDEN") != nullptr ? golden + name : directory / name;
    write(path);
    CHECK_MESSAGE(read_file(path) == read_file(golden + name), name, " differs from ", golden);
  }
  MpiCommunicator self{MPI_COMM_SELF};
  SharedDirectory directory{self};
};

std::string encoded(const std::string& text) {
  std::string out(base64_size(text.size()), '?');
  base64_encode(std::as_bytes(std::span(text)), out.data());
  return out;
}

}  // namespace

TEST_CASE_FIXTURE(Fixture, "tables, surfaces and grids are the golden bytes") {
  compare("table.csv", [](const std::string& path) {
    const double infinite = std::numeric_limits<double>::infinity();
    csv_format().table(path,
                       Table{{"name", "count", "value"},
                             {{std::string("a \"b\", c"), std::int64_t{-1}, 0.1},
                              {std::string("two\nlines"), std::numeric_limits<std::int64_t>::max(), 1e-300},
                              {std::string(), std::int64_t{0}, -infinite},
                              {std::string("x"), std::int64_t{1}, -std::numeric_limits<double>::quiet_NaN()},
                              {std::string("x"), std::int64_t{1}, 1.0 / 3}}},
                       false, provenance);
  });
  compare("cinema.csv", [](const std::string& path) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const std::vector<std::string> names{"name", "count", "value"};
    cinema_format().table(path, Table(names, {{std::string("views"), std::int64_t{3}, 3.0}}), false, provenance);
    cinema_format().table(path,
                          Table{names,
                                {{std::string("views"), std::int64_t{4}, -1e-5},
                                 {std::string("views"), std::int64_t{5}, 0.25},
                                 {std::string("views"), std::int64_t{6}, 1.5e300},
                                 {std::string("views"), std::int64_t{7}, nan}}},
                          true, provenance);
  });
  const Surface surface{{{0, 0, 0.5}, {1, 0, 0.5}, {0, 1, 0.25}, {1, 1, 0.25}},
                        {{0, 1, 2}, {1, 3, 2}},
                        {},
                        {{"temperature", 1, {300, 301, 302, 303.5}}, {"normal <x>", 3, std::vector<double>(12, 0.5)}}};
  compare("surface.vtp",
          [&](const std::string& path) { vtp_format().surface(path, WholeSurface(surface), iteration, provenance); });
  const Surface empty;
  compare("empty.vtp",
          [&](const std::string& path) { vtp_format().surface(path, WholeSurface(empty), iteration, ""); });
}

TEST_CASE_FIXTURE(Fixture, "blocks and lists of blocks are the golden bytes") {
  const FakeDomain domain(
      {{1, 0, 0}, {3, 1, 1}}, std::make_shared<UniformGeometry>(std::array{0.0, 0.1, -1.0}, std::array{0.1, 1.0, 2.0}),
      {{"t", [](auto&, const Index3& p, int) { return 0.5 + static_cast<double>(p[0]); }},
       {"n", [](auto&, const Index3& p, int c) { return static_cast<double>(p[0] + 10 * p[2] + c); }, Centering::node,
        2, Type::int16, Order::row}});
  const FakeServer server(domain, {domain.mesh().cells}, {0}, {{{0, 0}, {1, 0}}}, 1);
  VtkBlock block{server.views()[0][0].block};
  for (std::size_t v = 0; v < 2; ++v) block.arrays.push_back({&domain.metadata.variables[v], &server.views()[v][0]});
  // Golden files are not compressed, because zlib's bytes depend on its version. test_read_files.py reads compressed
  // ones.
  compare("block.vti",
          [&](const std::string& path) { write_vtk_block(path, domain.mesh(), block, iteration, provenance, {0}); });
  compare("grid.pvti", [&](const std::string& path) {
    write_vtk_list(path, domain.mesh(), {&domain.metadata.variables[0], &domain.metadata.variables[1]},
                   {{block.block, "block.vti"}}, iteration, provenance);
  });
}

TEST_CASE("base64 is that of RFC 4648, section 10") {
  CHECK(encoded("") == "");
  CHECK(encoded("f") == "Zg==");
  CHECK(encoded("fo") == "Zm8=");
  CHECK(encoded("foo") == "Zm9v");
  CHECK(encoded("foob") == "Zm9vYg==");
  CHECK(encoded("fooba") == "Zm9vYmE=");
  CHECK(encoded("foobar") == "Zm9vYmFy");
  CHECK(encoded("\xfb\xff\xbf") == "+/+/");
}

TEST_CASE_FIXTURE(Fixture, "a base64 stream does not depend on the parts it gets") {
  std::string text;
  for (int n = 0; n < 1000000; ++n) text += static_cast<char>(n * 2654435761u >> 13);
  for (const std::size_t part : {std::size_t{1}, std::size_t{2}, std::size_t{7}, std::size_t{196608}, text.size()}) {
    OutputFile file(directory / "f");
    Base64Stream stream(file);
    for (std::size_t n = 0; n < text.size(); n += part) {
      stream.append(std::as_bytes(std::span(text).subspan(n, std::min(part, text.size() - n))));
    }
    stream.finish();
    file.close();
    CHECK(read_file(directory / "f") == encoded(text));
  }
}

TEST_CASE("slabs make up the packed region, without copies where the memory is gapless") {
  for (const Order stored : {Order::column, Order::row}) {
    for (const Order wanted : {Order::column, Order::row}) {
      for (const int ghosts : {0, 1}) {
        for (const std::uint64_t limit : {1u, 20u, 100u, 100000u}) {
          const Box region{{-1, 2, 0}, {4, 5, 3}}, whole = grown(region, ghosts);
          std::vector<float> values(static_cast<std::size_t>(whole.count() * 2));
          for (std::size_t n = 0; n < values.size(); ++n) values[n] = static_cast<float>(n);
          ArrayView array;
          array.data = values.data();
          array.type = Type::float32;
          array.box = whole;
          array.components = 2;
          array.strides = packed_strides(whole, 2, stored);
          Bytes expected(packed_bytes(region, 2, Type::float32)), found;
          pack(array, region, wanted, expected);
          std::int64_t calls = 0, points = 0;
          for_each_slab(array, region, wanted, limit, [&](std::span<const std::byte> bytes, const Box& part) {
            CHECK(bytes.size() == packed_bytes(part, 2, Type::float32));
            found.insert(found.end(), bytes.begin(), bytes.end());
            ++calls;
            points += part.count();
            if (ghosts == 0 && stored == wanted) CHECK(static_cast<const void*>(bytes.data()) == values.data());
          });
          CHECK(found == expected);
          CHECK(points == region.count());
          CHECK((calls == 1) == ((ghosts == 0 && stored == wanted) || limit == 100000u));
        }
      }
    }
  }
}

TEST_CASE("a region of whole lines of an array with ghosts is contiguous only in the slow direction") {
  ArrayView array;
  array.box = {{0, 0, 0}, {4, 3, 5}};
  array.strides = packed_strides(array.box, 1, Order::column);
  CHECK(is_gapless(array, {{0, 0, 1}, {4, 3, 4}}, Order::column));
  CHECK(is_gapless(array, {{1, 1, 2}, {3, 2, 3}}, Order::column));
  CHECK_FALSE(is_gapless(array, {{0, 0, 1}, {4, 2, 4}}, Order::column));
  CHECK_FALSE(is_gapless(array, {{0, 0, 0}, {4, 3, 5}}, Order::row));
  array.components = 2;
  array.strides = {1, 4, 12, 60};  // components in separate planes
  CHECK_FALSE(is_gapless(array, {{0, 0, 0}, {4, 3, 5}}, Order::column));
}
