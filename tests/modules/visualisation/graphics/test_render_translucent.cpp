// Translucent surfaces: their light, in whatever order and on whatever server they are drawn.
#include <doctest/doctest.h>

#include <cmath>

#include "base/mpi/communicator.hpp"
#include "support/ranks.hpp"
#include "visualisation/graphics/compositing.hpp"
#include "visualisation/graphics/rasteriser.hpp"

using namespace sidestream;
using namespace sidestream::rendering;

namespace {

constexpr int size = 16;
constexpr Colour red{255, 0, 0}, green{0, 255, 0}, blue{0, 0, 255}, white{255, 255, 255};

Camera camera_from(const Vec3& view) {
  CameraSettings settings;
  settings.view = view;
  settings.parallel = true;
  return {settings, {{0, 0, 0}, {1, 1, 1}}, {0, 0, 2 * size, 2 * size}};
}

/// A square across the cube at height z.
struct Sheet {
  double z;
  std::uint8_t layer;
  Colour colour;
  bool translucent;
};

void draw(const Sheet& sheet, Rasteriser& rasteriser) {
  const Vec3 points[]{{0, 0, sheet.z}, {1, 0, sheet.z}, {1, 1, sheet.z}, {0, 1, sheet.z}};
  const std::array<std::int64_t, 3> corners[]{{0, 1, 2}, {0, 2, 3}};
  Material material;
  material.layer = sheet.layer;
  material.colour = sheet.colour;
  material.translucent = sheet.translucent;
  rasteriser.draw({points, corners, {}, {}}, material);
}

Translucency opacities(double first, double second, const Camera& camera) {
  Translucency translucency{{}, &camera, {}};
  translucency.opacity.fill(1);
  translucency.opacity[1] = first;
  translucency.opacity[2] = second;
  return translucency;
}

std::array<int, 3> middle(const std::vector<std::uint8_t>& pixels) {
  const std::size_t p = 4 * (size / 2 * size + size / 2);
  return {pixels[p], pixels[p + 1], pixels[p + 2]};
}

bool near(const std::array<int, 3>& a, const std::array<double, 3>& light) {
  for (std::size_t c = 0; c < 3; ++c) {
    if (std::fabs(to_linear(static_cast<std::uint8_t>(a[c])) / 65535.0 - light[c]) > 0.01) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("light from front to back, whatever is drawn first") {
  const Camera camera = camera_from({0, 0, -1});
  std::vector<Sheet> sheets{{0.8, 1, red, true}, {0.4, 2, blue, true}, {0.2, 3, green, false}};
  std::sort(sheets.begin(), sheets.end(), [](const Sheet& a, const Sheet& b) { return a.z < b.z; });
  do {
    Drawing drawing(2 * size, 0, 2 * size, 2);
    Rasteriser rasteriser(camera, drawing);
    for (const Sheet& sheet : sheets) draw(sheet, rasteriser);
    const auto pixels = resolve(drawing, size, {white, white}, opacities(0.25, 0.5, camera));
    CHECK(near(middle(pixels), {0.25, 0.375, 0.375}));
  } while (std::next_permutation(sheets.begin(), sheets.end(), [](const auto& a, const auto& b) { return a.z < b.z; }));
}

TEST_CASE("nothing behind an opaque surface is seen, and the background is seen through") {
  const Camera from_below = camera_from({0, 0, 1});
  Drawing drawing(2 * size, 0, 2 * size, 2);
  Rasteriser rasteriser(from_below, drawing);
  draw({0.8, 1, red, true}, rasteriser);
  draw({0.2, 3, green, false}, rasteriser);
  CHECK(near(middle(resolve(drawing, size, {white, white}, opacities(0.25, 1, from_below))), {0, 1, 0}));
  drawing.clear();
  draw({0.8, 1, red, true}, rasteriser);
  CHECK(near(middle(resolve(drawing, size, {white, white}, opacities(0.25, 1, from_below))), {1, 0.75, 0.75}));
}

TEST_CASE("sheets of several servers make the picture of one") {
  MpiCommunicator world(testing::test_ranks());
  const Camera camera = camera_from({0.3, 0.2, -1});
  const auto sheet = [](int n) {
    return Sheet{0.05 + 0.09 * n, static_cast<std::uint8_t>(1 + n % 2), n % 2 == 0 ? red : blue, n != 4};
  };
  Drawing all(2 * size, 0, 2 * size, 2), mine = all;
  Rasteriser whole(camera, all), part(camera, mine);
  for (int n = 0; n < 10; ++n) {
    draw(sheet(n), whole);
    if (n % world.size() == world.rank()) draw(sheet(n), part);
  }
  const Translucency translucency = opacities(0.3, 0.2, camera);
  const auto expected = resolve(all, size, {white, green}, translucency);
  Drawing stripe =
      composite(std::vector<Bytes>{encode(mine)}, 2 * size, 2, Stripes(2 * size, 2, world.size(), 2), world);
  const auto pixels = resolve(stripe, size, {white, green}, translucency);
  const auto first = static_cast<std::size_t>(stripe.opaque.first_row()) / 2 * 4 * size;
  CHECK(std::equal(pixels.begin(), pixels.end(), expected.begin() + static_cast<std::ptrdiff_t>(first)));
}

TEST_CASE("rows outside the picture are refused, on all servers") {
  MpiCommunicator world(testing::test_ranks());
  const Stripes stripes(2 * size, 2, world.size());
  Drawing opaque(2 * size, 2 * size, 2, 2), fragments = opaque, slabs = opaque;
  opaque.opaque.row(2 * size)[3] = make_sample(1, 1, red);
  fragments.fragments.row(2 * size).push_back({make_sample(1, 1, red), 3});
  slabs.slabs.row(size).push_back({3, 1, {1, 1, 1, 1}});
  for (const Drawing* drawing : {&opaque, &fragments, &slabs}) {
    CHECK_THROWS_AS(composite(std::vector<Bytes>{encode(*drawing)}, 2 * size, 2, stripes, world), Error);
  }
}

TEST_CASE("light of one slab adds up, whatever the order") {
  std::vector<SlabRecord> row{
      {4, 1, {1, 2, 3, 4}}, {2, 7, {1, 0, 0, 0}}, {4, 1, {10, 20, 30, UINT32_MAX}}, {2, 3, {5, 0, 0, 0}}};
  add_up(row);
  REQUIRE(row.size() == 3);
  CHECK(row[0].slab == 3);
  CHECK(row[1].slab == 7);
  CHECK(row[2].column == 4);
  CHECK(row[2].light.green == 33);
  CHECK(row[2].light.blue == UINT32_MAX);
}

TEST_CASE("damaged drawings are refused") {
  Drawing drawing(2 * size, 0, 2 * size, 2);
  const Camera camera = camera_from({0, 0, -1});
  Rasteriser rasteriser(camera, drawing);
  draw({0.8, 1, red, true}, rasteriser);
  const Bytes whole = encode(drawing);
  MpiCommunicator world(testing::test_ranks());
  for (const std::size_t left : {std::size_t{5}, whole.size() / 2, whole.size() - 1}) {
    const Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(left));
    CHECK_THROWS_AS(composite(std::vector<Bytes>{cut}, 2 * size, 2, Stripes(2 * size, 2, world.size()), world), Error);
  }
}
