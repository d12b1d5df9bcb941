// Annotations at every size: texts stay within the picture, and none overlaps another.
#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "visualisation/graphics/annotations.hpp"
#include "visualisation/graphics/axes.hpp"
#include "visualisation/graphics/paragraph.hpp"
#include "visualisation/graphics/text.hpp"

using namespace sidestream;
using namespace sidestream::rendering;

namespace {

constexpr std::array<std::array<int, 2>, 3> sizes{{{320, 240}, {640, 480}, {2000, 1500}}};

const std::string short_caption = "Density    time 12.345    cycle 120";
const std::string long_caption =
    "Temperature fluctuation of the inner fluid [K], Velocity of the solar wind [km/s]    time 0.0012345    cycle 1234567";
const std::string long_title = "Magnetic field strength perpendicular to the plane of the galaxy [microgauss]";

Image grey_picture(int width, int height, std::uint8_t light) {
  return {width, height, std::vector<std::uint8_t>(static_cast<std::size_t>(width) * height * 4, light)};
}

/// A picture's annotations.
struct Annotated {
  Domain domain;
  CameraSettings camera;
  ColourRange range;
  std::string title = "T", caption;
  int bars = 1;
};

Image annotate(const Annotated& shown, int width, int height, TextBoxes& boxes) {
  Layout layout(width, height, shown.bars, !shown.caption.empty());
  layout.add_axes();
  layout.add_scale_bar();
  Image image = grey_picture(width, height, 250);
  const ColourMap map("viridis");
  for (int bar = 0; bar < shown.bars; ++bar) draw_colour_bar(image, layout, bar, map, shown.range, shown.title, &boxes);
  if (!shown.caption.empty()) draw_caption(image, layout, shown.caption, &boxes);
  const Camera camera(shown.camera, shown.domain, layout.viewport());
  AxisTitles titles;
  titles.units.fill("kpc");
  draw_axes(image, layout, shown.domain, camera, titles, boxes);
  draw_scale_bar(image, layout, length_of_a_pixel(shown.domain, camera), "kpc", boxes);
  return image;
}

CameraSettings parallel_view(const Vec3& view, double zoom = 1) {
  CameraSettings camera;
  camera.parallel = true;
  camera.view = view;
  camera.zoom = zoom;
  return camera;
}

std::vector<Annotated> all_kinds() {
  const Domain flat{{0, 0, 0}, {1, 1, 0}}, cube{{0, 0, 0}, {1, 1, 1}};
  return {
      {flat, {}, {0, 1}, "T", short_caption},
      {flat, {}, logarithmic_range(1e-5, 3e2), "Density [g/cm³]", long_caption},
      {{{-1e5, 0, 0}, {3e5, 1.2e5, 0}}, {}, {-2e-7, 3e-7}, long_title, long_caption},
      {{{300, 0, 0}, {300.0001, 1e-5, 2e-4}}, parallel_view({0, 1, 0}), {1000, 1000.001}, "Onelongwordthatdoesnotfit"},
      {cube, {}, usable_range(-3, 7, ColourScaling::symmetric), "Phase [rad]", short_caption},
      {cube, {}, logarithmic_range(2, 40), "rho", "", 0},
      {cube, parallel_view({1, 2, -1}), logarithmic_range(3, 4), "rho", "", 2},
      {{{0, 0, 0}, {64, 32, 100}}, parallel_view({1, 2, -1}), {0, 1}, long_title, long_caption, 2},
      {cube, parallel_view({0, 0, -1}, 4), logarithmic_range(1e-30, 1e40), "rho", long_caption},
      {{{0, 0, 0}, {4, 0, 0}}, {}, {0, 1}, "T", ""},
  };
}

}  // namespace

TEST_CASE("texts stay within the picture, and none overlaps another") {
  int kind = 0;
  for (const Annotated& shown : all_kinds()) {
    CAPTURE(kind);
    ++kind;
    for (const auto& [width, height] : sizes) {
      CAPTURE(width);
      TextBoxes boxes;
      static_cast<void>(annotate(shown, width, height, boxes));
      CHECK(boxes.all().size() > 3);
      for (std::size_t n = 0; n < boxes.all().size(); ++n) {
        CHECK(boxes.all()[n].is_within(width, height));
        for (std::size_t m = 0; m < n; ++m) CHECK(!boxes.all()[n].overlaps(boxes.all()[m]));
      }
    }
  }
}

TEST_CASE("boxes of texts contain their ink") {
  for (const bool upwards : {false, true}) {
    Image image = grey_picture(300, 300, 255);
    const TextLine line{"[gjpqy] \u00c5|x_", 140.3, 170.8, 11.5, upwards};
    TextBoxes boxes;
    draw_line_of_text(image, line, {0, 0, 0}, &boxes);
    REQUIRE(boxes.all().size() == 1);
    const TextBox& box = boxes.all()[0];
    double left = 300, right = 0, top = 300, bottom = 0;
    for (int y = 0; y < 300; ++y) {
      for (int x = 0; x < 300; ++x) {
        if (image.rgba[(static_cast<std::size_t>(y) * 300 + x) * 4] > 127) continue;
        left = std::min<double>(left, x), right = std::max<double>(right, x + 1);
        top = std::min<double>(top, y), bottom = std::max<double>(bottom, y + 1);
      }
    }
    for (const double difference : {left - box.left, box.right - right, top - box.top, box.bottom - bottom}) {
      CHECK(difference > -1);
      CHECK(difference < 1.5);
    }
    CHECK((upwards ? bottom - top > 2 * (right - left) : right - left > 2 * (bottom - top)));
  }
}

TEST_CASE("axes have numbers and names where there is room, at the left and below") {
  for (const auto& [width, height] : sizes) {
    CAPTURE(width);
    const Domain flat{{0, 0, 0}, {1, 1, 0}};
    Layout layout(width, height, 0, false);
    layout.add_axes();
    Image image = grey_picture(width, height, 255);
    TextBoxes boxes;
    const Camera camera({}, flat, layout.viewport());
    draw_axes(image, layout, flat, camera, {}, boxes);
    const Projection corner = camera.project(camera.see({0, 0, 0}));
    int left = 0, below = 0;
    for (const TextBox& box : boxes.all()) {
      left += box.right < corner.x;
      below += box.top > corner.y;
    }
    CHECK(left >= 3);
    CHECK(below >= 3);
    CHECK(left + below == static_cast<int>(boxes.all().size()));
  }
}

TEST_CASE("axes of a domain around the camera, or outside the picture, are left out") {
  const Domain cube{{0, 0, 0}, {1, 1, 1}};
  const Layout layout(300, 300, 0, false);
  CameraSettings inside;
  inside.position = Vec3{0.5, 0.5, 0.5};
  inside.focus = Vec3{1, 1, 0.5};
  for (const CameraSettings& settings : {inside, parallel_view({0, 0, -1}, 50)}) {
    Image image = grey_picture(300, 300, 255);
    TextBoxes boxes;
    draw_axes(image, layout, cube, Camera(settings, cube, layout.viewport()), {}, boxes);
    CHECK(boxes.all().empty());
    CHECK(image.rgba == grey_picture(300, 300, 255).rgba);
  }
}

TEST_CASE("a scale bar is as long as it says") {
  const Domain flat{{0, 0, 0}, {10, 10, 0}}, cube{{0, 0, 0}, {10, 10, 10}};
  Layout layout(400, 400, 0, false);
  layout.add_scale_bar();
  const Camera camera({}, flat, layout.viewport());
  const double pixel = length_of_a_pixel(flat, camera);
  const double across = camera.project(camera.see({10, 0, 0})).x - camera.project(camera.see({0, 0, 0})).x;
  CHECK(pixel * across == doctest::Approx(10));
  Image image = grey_picture(400, 400, 255);
  TextBoxes boxes;
  draw_scale_bar(image, layout, pixel, "", boxes);
  CHECK(boxes.all().size() == 1);
  // The bar is the widest run of ink.
  int longest = 0;
  for (int y = 0; y < 400; ++y) {
    int run = 0;
    for (int x = 0; x < 400; ++x) {
      run = image.rgba[(static_cast<std::size_t>(y) * 400 + x) * 4] < 128 ? run + 1 : 0;
      longest = std::max(longest, run);
    }
  }
  CHECK(std::abs(longest * pixel - 2) < 4 * pixel);
  CHECK(length_of_a_pixel(cube, Camera({}, cube, layout.viewport())) == 0);
  CHECK(length_of_a_pixel(cube, Camera(parallel_view({1, 2, -1}), cube, layout.viewport())) > 0);
}

TEST_CASE("paragraphs keep all words as long as there is room") {
  const auto joined = [](const Paragraph& paragraph) {
    std::string all;
    for (const std::string& line : paragraph.lines) all += (all.empty() ? "" : " ") + line;
    return all;
  };
  const Paragraph one = fit_paragraph("short", {200, 50, 10, 6});
  CHECK(one.lines == std::vector<std::string>{"short"});
  CHECK(one.size == 10);
  const Paragraph several = fit_paragraph(long_title, {120, 100, 10, 6});
  CHECK(joined(several) == long_title);
  CHECK(several.size >= 6);
  CHECK(several.height() <= 100);
  for (const std::string& line : several.lines) CHECK(text_width(line, several.size) <= 120);
  const Paragraph broken = fit_paragraph(std::string(40, 'm'), {80, 200, 10, 6});
  std::size_t letters = 0;
  for (const std::string& line : broken.lines) {
    letters += line.size();
    CHECK(text_width(line, broken.size) <= 80);
  }
  CHECK(letters == 40);
  const Paragraph cut = fit_paragraph(std::string(4000, 'm'), {80, 30, 10, 6});
  CHECK(cut.lines.back().ends_with("..."));
  CHECK(cut.height() <= 30);
}
