// Charts: two axes with numbers, and bars, lines and dots between them.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "graphics/colour.hpp"
#include "graphics/layout.hpp"
#include "sidestream/data/result.hpp"
#include "sidestream/extend/options.hpp"

namespace sidestream::halos {

/// A chart as the configuration describes it.
struct ChartFile {
  std::string file, caption;
  int width = 1024, height = 768;
};

/// The option `image` of a chart, and its value, if given. Throws Error(configuration).
[[nodiscard]] Option chart_option(const std::string& text, const std::string& caption);
[[nodiscard]] std::optional<ChartFile> read_chart(const Settings& settings);
/// Of the map itself.
[[nodiscard]] ChartFile read_chart_file(const Settings& settings);

/// What a chart shows and says. Values are those of the axes, logarithms where it says so.
struct ChartFrame {
  int width = 1024, height = 768;
  std::string caption;                ///< above; empty: none
  std::array<std::string, 2> titles;  ///< of the axis to the right and of that upwards
  std::array<rendering::ColourRange, 2> ranges;
  bool numbers_up = true;  ///< whether the axis upwards has numbers
};

class Chart {
 public:
  explicit Chart(const ChartFrame& frame);
  /// From the bottom to `y`.
  void bar(double x0, double x1, double y, rendering::Colour colour);
  void line(double x0, double y0, double x1, double y1, double pixels, rendering::Colour colour);
  void dot(double x, double y, double pixels, rendering::Colour colour);
  [[nodiscard]] Image take() { return std::move(image_); }
  /// Pixels that the axis upwards has.
  [[nodiscard]] double high() const noexcept { return bottom_ - top_; }

 private:
  void draw_axes(const ChartFrame& frame);
  [[nodiscard]] double column(double x) const noexcept { return left_ + ranges_[0].fraction(x) * (right_ - left_); }
  [[nodiscard]] double row(double y) const noexcept { return bottom_ - ranges_[1].fraction(y) * (bottom_ - top_); }

  rendering::Layout layout_;
  std::array<rendering::ColourRange, 2> ranges_;
  double left_, right_, top_, bottom_;
  Image image_;
};

}  // namespace sidestream::halos
