// Pictures have the same bytes for every division into blocks and servers. Odd input still gives a picture, and a wrong
// configuration gets a sentence.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <limits>

#include "sidestream/kit/data/file_pattern.hpp"
#include "support/fake_domain.hpp"
#include "support/ranks.hpp"
#include "visualisation/graphics/colour.hpp"
#include "visualisation/kinds.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

const std::string name = "frame-{index:05}.png";

double hills(const std::array<double, 3>& x, const Index3&, int c) {
  return std::sin(5 * x[0] + c) * std::cos(4 * x[1]) + 0.7 * std::sin(3 * x[2] - x[0]);
}
double height(const std::array<double, 3>& x, const Index3&, int) { return 100 * x[2]; }
double level(const std::array<double, 3>&, const Index3&, int) { return 4; }
double holes(const std::array<double, 3>& x, const Index3& p, int c) {
  return (p[0] + p[1] + p[2]) % 7 == 0 ? std::numeric_limits<double>::quiet_NaN() : hills(x, p, c);
}

FakeDomain hilly(Index n) {
  return fake_cube(n, -1, 1,
                   {{"hills", hills},
                    {"height", height, Centering::node},
                    {"wind", hills, Centering::cell, 3},
                    {"level", level},
                    {"holes", holes}});
}

Image picture(const std::string& yaml, const FakeDomain& domain, const Division& division) {
  return run_alone(render_kind(), yaml, domain, division).images.at(name);
}

std::string message_of(const std::string& yaml) {
  try {
    static_cast<void>(render_kind().create(fake_settings(render_kind(), yaml, hilly(4).metadata), hilly(4).metadata));
  } catch (const Error& error) {
    CHECK(error.code() == Code::configuration);
    return error.what();
  }
  return "no error";
}

/// Pixels that differ between two pictures of one size.
int different(const Image& a, const Image& b) {
  int count = 0;
  for (std::size_t p = 0; p < a.rgba.size(); p += 4) count += std::memcmp(&a.rgba[p], &b.rgba[p], 4) != 0;
  return count;
}

}  // namespace

TEST_CASE("the same bytes however blocks and servers are divided") {
  MpiCommunicator world(test_ranks());
  const FakeDomain domain = hilly(16);
  const Box& cells = domain.mesh().cells;
  const std::vector<std::string> scenes{
      "{isosurface: {variable: hills, values: [-0.4, 0.3, 0.9]}, size: [200, 170]}",
      "{isosurface: {variable: hills, values: 0.2, colour_by: height}, size: [120, 90]}",
      "{slice: {variable: wind, component: 1, normal: [1, 2, 3]}, isosurface: [{variable: hills, values: 0}, "
      "{variable: "
      "height, values: 30, colour_by: hills, colours: magma}], size: [150, 150], camera: {position: [0.2, "
      "0.1, 0.3], "
      "focus: [1, 1, 1], angle: 70}, samples: 3}"};
  for (const std::string& yaml : scenes) {
    CAPTURE(yaml);
    const Image alone = picture(yaml, domain, {cells});
    for (const Division& division : {Division{cells}, even_division(cells, {2, 3, 1}), random_division(cells, 9, 5),
                                     random_division(cells, 2, 8)}) {
      for (const std::size_t partials : {1, 2}) {
        const CapturedResults results =
            run_analysis(render_kind(), yaml, domain, division, world, {.ghosts = 1, .partials = partials});
        CHECK(results.images.size() == (world.rank() == 0 ? 1 : 0));
        if (world.rank() != 0) continue;
        const Image& image = results.images.at(name);
        CHECK(image.width == alone.width);
        CHECK(image.height == alone.height);
        CHECK(image.rgba == alone.rgba);
      }
    }
  }
}

TEST_CASE("a picture shows what was asked for") {
  const FakeDomain domain = hilly(12);
  const Division blocks = even_division(domain.mesh().cells, {2, 1, 2});
  const std::string plain = "outline: false, colour_bar: false, caption: none, background: white, size: [64, 64]";
  const auto pixel = [](const Image& image, int x, int y) {
    const std::uint8_t* p = &image.rgba[(static_cast<std::size_t>(y) * image.width + x) * 4];
    return std::array<int, 4>{p[0], p[1], p[2], p[3]};
  };
  SUBCASE("a slice in the colours of its values: height from below to above") {
    const Image image = picture(
        "{slice: {variable: height, axis: y}, camera: {view: [0, 1, 0]}, colours: grey, range: [-100, "
        "100], " +
            plain + "}",
        domain, blocks);
    for (const int y : {12, 22, 32, 42, 52}) {
      // The slice lies in the middle of the cube, whose nearer face fills 94 % of the height at angle 30.
      const double distance = 1 / (std::tan(std::acos(-1.0) / 12) * 0.94) + 1;
      const double z = (31.5 - y) / 32 * std::tan(std::acos(-1.0) / 12) * distance;
      CHECK(std::abs(pixel(image, 32, y)[0] - (127.5 + 127.5 * z)) < 2);
      CHECK(pixel(image, 32, y)[0] == pixel(image, 12, y)[0]);
    }
    CHECK(pixel(image, 0, 0) == std::array<int, 4>{255, 255, 255, 255});
  }
  SUBCASE("the nearer of two surfaces") {
    const auto seen_from = [&](const std::string& view) {
      const Image image = picture(
          "{isosurface: [{variable: height, values: -50, colour: red}, {variable: height, values: "
          "50, colour: blue}], camera: {view: " +
              view + ", up: [0, 1, 0]}, " + plain + "}",
          domain, blocks);
      return pixel(image, 32, 32);
    };
    CHECK(seen_from("[0, 0, -1]")[2] > 2 * seen_from("[0, 0, -1]")[0]);
    CHECK(seen_from("[0, 0, 1]")[0] > 2 * seen_from("[0, 0, 1]")[2]);
  }
  SUBCASE("outline, colour bar and caption each add something, at their places") {
    const std::string scene =
        "{isosurface: {variable: hills, values: 0}, size: [200, 200], background: white, camera: "
        "{position: [6, -6, 4]}, ";
    const Image all = picture(scene + "outline: true, colour_bar: true, caption: 'time {time}'}", domain, blocks);
    CHECK(different(all, picture(scene + "outline: false, caption: 'time {time}'}", domain, blocks)) > 200);
    const Image later =
        run_alone(render_kind(), scene + "caption: 'time {time}'}", domain, blocks, {.iteration = {1, 1, 5}})
            .images.at(name);
    CHECK(different(all, later) > 5);
    CHECK(different(all, later) < 600);
  }
}

TEST_CASE("what is odd still gives a picture") {
  const FakeDomain domain = hilly(8);
  const Division blocks = even_division(domain.mesh().cells, {2, 2, 2});
  const std::string small = ", size: [80, 60]}";
  const Image nothing = picture("{isosurface: {variable: hills, values: 77}" + small, domain, blocks);
  CHECK(nothing.rgba.size() == 80 * 60 * 4);
  // The outline is drawn all the same.
  CHECK(different(nothing,
                  picture("{isosurface: {variable: hills, values: 77}, outline: false" + small, domain, blocks)) > 50);
  // There is nothing to take a range from, or only a single value.
  CHECK(picture("{isosurface: {variable: hills, values: 77, colour_by: height}" + small, domain, blocks).rgba.size() ==
        80 * 60 * 4);
  const Image constant = picture("{slice: {variable: level, axis: z}" + small, domain, blocks);
  CHECK(constant.rgba == picture("{slice: {variable: level, axis: z}, range: [3.6, 4.4]" + small, domain, blocks).rgba);
  // Cells without a number leave a hole, and change nothing else.
  const Image whole = picture("{slice: {variable: hills, axis: z}, range: [-2, 2]" + small, domain, blocks);
  const Image torn = picture("{slice: {variable: holes, axis: z}, range: [-2, 2]" + small, domain, blocks);
  CHECK(different(whole, torn) > 50);
  // A block that was not delivered.
  const Image lacking = run_alone(render_kind(), "{slice: {variable: hills, axis: z}, range: [-2, 2]" + small, domain,
                                  blocks, {.absent = {1, 3}})
                            .images.at(name);
  CHECK(different(whole, lacking) > 50);
  CHECK(picture("{isosurface: {variable: hills, values: [0, 1]}, size: [16, 16]}", domain, blocks).rgba.size() == 1024);
}

TEST_CASE("a wrong configuration gets a sentence") {
  const std::string iso = "isosurface: {variable: hills, values: 0}";
  CHECK(message_of("{size: [10, 10]}").find("16") != std::string::npos);
  CHECK(message_of("{outline: true}").find("without 'isosurface' or 'slice' or 'threshold'") != std::string::npos);
  CHECK(message_of("{isosurface: {variable: hills, values: 0, colour: pinkish}}").find("test.yaml:1:") == 0);
  CHECK(message_of("{isosurface: {variable: hills, values: 0, colour: pinkish}}").find("'#rrggbb'") !=
        std::string::npos);
  CHECK(message_of("{isosurface: {variable: hills, values: 0, colour: red, colour_by: height}}").find("remove one") !=
        std::string::npos);
  CHECK(message_of("{isosurface: {variable: hills, values: 0, colour_by: wind, colour_component: 3}}")
            .find("component 3 of 'wind'") != std::string::npos);
  CHECK(message_of("{slice: {variable: wind, axis: x}}").find("components") != std::string::npos);
  CHECK(message_of("{" + iso + ", range: [3, 1]}").find("lower one first") != std::string::npos);
  CHECK(message_of("{" + iso + ", caption: '{colour}'}").find("{label}") != std::string::npos);
  // These fields ask for a text of a thousand million characters.
  for (const char* field : {"time:999999999.9", "time:.999999999f", "cycle:0100000000", "label:>400"}) {
    CAPTURE(field);
    CHECK(message_of("{" + iso + ", caption: 'at {" + field + "}'}").find("at most 99") != std::string::npos);
  }
  CHECK(message_of("{" + iso + ", caption: '{time:{cycle}}'}").find("a field inside a field") != std::string::npos);
  CHECK(message_of("{" + iso + ", caption: '{{12345}} {time:99.50f}'}") == "no error");
  CHECK(
      message_of("{" + iso + ", camera: {position: [0, 0, 9], view: [0, 0, 1]}}").find("both 'position' and 'view'") !=
      std::string::npos);
  CHECK(message_of("{" + iso + ", camera: {position: [0, 0, 0]}}").find("looks nowhere") != std::string::npos);
  CHECK(message_of("{" + iso + ", camera: {view: [0, 0, 1], up: [0, 0, 2]}}").find("across the view") !=
        std::string::npos);
  CHECK(message_of("{isosurface: {variable: hills, values: 0, fields: height}}").find("fields") != std::string::npos);
  CHECK(message_of("{" + iso + "}") == "no error");
}

TEST_CASE("a frame shows nothing of the one before it") {
  const auto distance = [](const std::array<double, 3>& x, const Index3&, int) {
    return std::sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
  };
  const FakeDomain domain = fake_cube(12, -1, 1, {{"a", distance}});
  const Division division{domain.mesh().cells};
  const std::string yaml = "{isosurface: {variable: a, values: 0.7}, size: [60, 50], caption: none}";
  const AnalysisKind kind = render_kind();
  const auto analysis = kind.create(fake_settings(kind, yaml, domain.metadata), domain.metadata);
  MpiCommunicator self(MPI_COMM_SELF);
  const auto frame = [&](const std::vector<std::size_t>& absent) {
    const FakeServer server(domain, division, {0}, analysis->selection(), 0, absent);
    CapturedResults results;
    const std::vector<Bytes> partials{analysis->local({{}, domain.metadata, server.views(), 0, {}})};
    static_cast<void>(analysis->combine({{}, domain.metadata, partials, 0, self, results}));
    return results.images.begin()->second.rgba;
  };
  const auto full = frame({});
  const auto empty = frame({0});
  CHECK(full != empty);
  CHECK(empty == run_alone(kind, yaml, domain, division, {.absent = {0}}).images.begin()->second.rgba);
  CHECK(frame({}) == full);
}

namespace {

/// Frames of one task of values that are `factors` times (x + 1) / 2.
std::vector<CapturedResults> frames_of(const std::string& yaml, const std::vector<double>& factors,
                                       const std::vector<std::vector<std::string>>& earlier, Communicator& servers) {
  double factor = 1;
  const auto rising = [&factor](const std::array<double, 3>& x, const Index3&, int) { return factor * (x[0] + 1) / 2; };
  const FakeDomain domain = fake_cube(8, -1, 1, {{"a", rising}});
  const Division division = even_division(domain.mesh().cells, {2, 2, 1});
  const AnalysisKind kind = render_kind();
  const auto task = kind.create(fake_settings(kind, yaml, domain.metadata), domain.metadata);
  std::vector<std::size_t> mine;
  for (auto id = static_cast<std::size_t>(servers.rank()); id < 4; id += static_cast<std::size_t>(servers.size())) {
    mine.push_back(id);
  }
  std::vector<CapturedResults> frames;
  for (std::size_t n = 0; n < factors.size(); ++n) {
    factor = factors[n];
    const FakeServer server(domain, division, mine, task->selection(), 0);
    const Iteration iteration{static_cast<std::int64_t>(n), static_cast<std::int64_t>(n), 0};
    CapturedResults results;
    results.earlier["frame-ranges.csv"] = earlier;
    Bytes feedback;
    for (int pass = 0; pass < task->passes(); ++pass) {
      const std::vector<Bytes> partials{task->local({iteration, domain.metadata, server.views(), pass, feedback})};
      feedback = task->combine({iteration, domain.metadata, partials, pass, servers, results});
    }
    frames.push_back(std::move(results));
  }
  return frames;
}

}  // namespace

TEST_CASE("a running range spans what was shown so far, also before the run was resumed") {
  MpiCommunicator world(test_ranks());
  const std::string scene = "{slice: {variable: a, axis: z}, size: [80, 60], caption: none, range: ";
  const double low = 1.0 / 16, high = 15.0 / 16;  // values of the outermost cells
  const auto fixed = [&](double factor, double from, double to) {
    MpiCommunicator self(MPI_COMM_SELF);
    return frames_of(scene + fmt::format("[{}, {}]}}", from, to), {factor}, {}, self)[0].images.at(name).rgba;
  };
  const auto frames = frames_of(scene + "running}", {2, 4, 1}, {}, world);
  // The run gets the rows of iterations before its first one, but no rows of cycles that come again.
  const auto resumed = frames_of(
      scene + "running}", {1}, {{"0", "0", "0", "0", "0.125", "1.875"}, {"1", "1", "0", "0", "0.125", "3.75"}}, world);
  if (world.rank() != 0) return;
  CHECK(frames[0].images.at(name).rgba == fixed(2, 2 * low, 2 * high));
  CHECK(frames[1].images.at(name).rgba == fixed(4, 2 * low, 4 * high));
  CHECK(frames[2].images.at(name).rgba == fixed(1, low, 4 * high));
  CHECK(resumed[0].images.at(name).rgba == frames[2].images.at(name).rgba);
  const Table& table = frames[1].tables.at("frame-ranges.csv");
  CHECK(table.names() == std::vector<std::string>{"scale", "low", "high"});
  CHECK(std::get<double>(table.at(0, 1)) == 2 * low);
  CHECK(std::get<double>(table.at(0, 2)) == 4 * high);
  // Without `running` there is no table, and each frame has a range of its own.
  MpiCommunicator self(MPI_COMM_SELF);
  const auto apart = frames_of("{slice: {variable: a, axis: z}, size: [80, 60], caption: none}", {2, 4}, {}, self);
  CHECK(apart[1].tables.empty());
  CHECK(apart[1].images.at(name).rgba == fixed(4, 4 * low, 4 * high));
}
