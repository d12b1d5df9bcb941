// Heat maps, drawn on the first server from lines that all servers provide.
//
// `Frame` maps each pixel column and row to a cell of the grid. Each server sends the values of the pixel lines whose
// rows it owns, one value per pixel, so that no message depends on the size of the grid. The range of colours is
// reduced over servers.
#include "visualisation/projection/heat_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "sidestream/kit/analysis/chart.hpp"
#include "sidestream/kit/analysis/common_options.hpp"
#include "sidestream/kit/base/records.hpp"
#include "visualisation/graphics/annotations.hpp"
#include "visualisation/graphics/text.hpp"

namespace sidestream {
namespace {

using namespace rendering;

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Index of the cell between `edges` that contains a position; -1: none.
Index cell_at(const std::vector<double>& edges, double x) {
  const bool up = edges.front() <= edges.back();
  const auto above = up ? std::upper_bound(edges.begin(), edges.end(), x)
                        : std::upper_bound(edges.begin(), edges.end(), x, std::greater<>());
  const Index n = above - edges.begin() - 1, cells = static_cast<Index>(edges.size()) - 1;
  if (n == cells && x == edges.back()) return n - 1;
  return n < 0 || n >= cells ? -1 : n;
}

/// Place of the grid in the image, in whole pixels, and the cell that each column and row shows.
struct Frame {
  int left = 0, top = 0;
  std::vector<Index> columns, rows;  ///< of each pixel from the left and from the top

  Frame(const Layout& layout, const std::array<std::vector<double>, 2>& edges) {
    const Viewport view = layout.viewport();
    // Images of only a few lines hardly have room for the caption.
    const double wide = std::max(2.0, view.width), high = std::max(2.0, view.height);
    const double margin = std::min(layout.margin, 0.1 * std::min(wide, high));
    const double room[2] = {wide - 2 * margin, high - 2 * margin};
    double size[2], most = 0;
    for (std::size_t a = 0; a < 2; ++a) {
      size[a] = std::fabs(edges[a].back() - edges[a].front());
      most = std::max(most, size[a] / room[a]);
    }
    int pixels[2];
    for (std::size_t a = 0; a < 2; ++a) {
      pixels[a] = std::max(1, static_cast<int>(std::min(room[a], size[a] / most)));
      std::vector<Index>& cells = a == 0 ? columns : rows;
      const double low = std::min(edges[a].front(), edges[a].back());
      for (int p = 0; p < pixels[a]; ++p) {
        const double part = (a == 0 ? p + 0.5 : pixels[a] - p - 0.5) / pixels[a];
        cells.push_back(cell_at(edges[a], low + part * size[a]));
      }
    }
    left = static_cast<int>(view.left + 0.5 * (wide - pixels[0]));
    top = static_cast<int>(view.top + 0.5 * (high - pixels[1]));
  }
};

double shown_value(const HeatMap& picture, double value) {
  if (!picture.logarithmic) return value;
  return value > 0 ? std::log10(value) : std::numeric_limits<double>::quiet_NaN();
}

ColourRange range_of(const HeatMap& picture, std::span<const double> values, Communicator& servers) {
  double low = infinity, high = -infinity;
  for (const double value : values) {
    const double v = shown_value(picture, value);
    if (!std::isfinite(v)) continue;
    low = std::min(low, v);
    high = std::max(high, v);
  }
  servers.minimum({&low, 1});
  servers.maximum({&high, 1});
  if (picture.range) return {shown_value(picture, (*picture.range)[0]), shown_value(picture, (*picture.range)[1])};
  return usable_range(low, high);
}

/// Header of a line of the image.
struct Line {
  std::int64_t row = 0;
};

/// Lines of the image whose rows this server owns.
Bytes lines_of(const Frame& frame, const HeatMapValues& shown, Index first, Index rows) {
  ByteWriter out;
  for (std::size_t line = 0; line < frame.rows.size(); ++line) {
    const Index row = frame.rows[line] - first;
    if (row < 0 || row >= rows) continue;
    out.put(Line{static_cast<std::int64_t>(line)});
    for (const Index column : frame.columns) {
      const double none = std::numeric_limits<double>::quiet_NaN();
      out.put(column < 0 ? none : shown.values[static_cast<std::size_t>(row * shown.grid.row_cells() + column)]);
    }
  }
  return out.take();
}

void paint(Image& image, const Frame& frame, const HeatMap& picture, const std::vector<Bytes>& parts,
           const ColourRange& range, const ColourMap& map) {
  const int right = frame.left + static_cast<int>(frame.columns.size());
  const int bottom = frame.top + static_cast<int>(frame.rows.size());
  fill_rectangle(image, frame.left - 1, frame.top - 1, right + 1, bottom + 1, {90, 96, 104});
  fill_rectangle(image, frame.left, frame.top, right, bottom, map.at(std::numeric_limits<double>::quiet_NaN()));
  for (const Bytes& part : parts) {
    ByteReader in(part);
    while (!in.at_end()) {
      const auto row = static_cast<int>(in.get<Line>().row);
      for (int x = frame.left; x < right; ++x) {
        const double fraction = range.fraction(shown_value(picture, in.get<double>()));
        fill_rectangle(image, x, frame.top + row, x + 1, frame.top + row + 1, map.at(fraction));
      }
    }
  }
}

void read_map_caption(const Settings& settings, const std::string& name, const Metadata&, HeatMap& picture) {
  if (picture.caption == "none") picture.caption.clear();
  try {
    static_cast<void>(expand_caption(picture.caption, {}, {}));
  } catch (const Error& error) {
    settings.fail(name, error.what());
  }
}

void check_map_range(const Settings& settings, const std::string& name, const Metadata&, const HeatMap& picture) {
  if (!picture.range) return;
  const auto [low, high] = *picture.range;
  if (low < high && std::isfinite(high - low) && (!picture.logarithmic || low > 0)) return;
  settings.fail(name, fmt::format("found the range [{}, {}], expected two finite numbers, the lower one first{}", low,
                                  high, picture.logarithmic ? ", and above 0 with `scale: logarithmic`" : ""));
}

}  // namespace

OptionTable<HeatMap> heat_map_options() {
  return {option<OptionType::file>("file", &HeatMap::file, "The file of each frame, `x-{index:05}.png`.",
                                   {.required = true, .choices = {".png"}}),
          option("size", &HeatMap::size, picture_size_option().text,
                 {.standard = "[1024, 1024]", .minimum = 16, .maximum = 16384}),
          option<OptionType::choice>("colours", &HeatMap::colours, "Colour map.",
                                     {.standard = "viridis", .choices = colour_map_names()}),
          option<OptionType::choice>(
              "scale", &HeatMap::logarithmic,
              "`logarithmic`: colours follow the logarithm to the base 10; values that are not above 0 are grey.",
              {.standard = "linear", .choices = {{"linear", false}, {"logarithmic", true}}}),
          option("range", &HeatMap::range,
                 "Values at the two ends of the colour map. Default: the smallest and largest value of the iteration.")
              .then(check_map_range),
          option("caption", &HeatMap::caption, "Text above the image, as in `render`; `none` for none.",
                 {.standard = "{label}    time {time:#.5g}    cycle {cycle}"})
              .then(read_map_caption)};
}

void draw_heat_map(const HeatMap& picture, const HeatMapValues& shown, const CombineInput& input) {
  Communicator& servers = input.communicator;
  const Layout layout(picture.size[0], picture.size[1], 1, !picture.caption.empty());
  const Frame frame(layout, shown.edges);
  const ColourRange range = range_of(picture, shown.values, servers);
  const Index first = shown.grid.first_row(servers.rank(), servers.size());
  const Index rows = shown.grid.first_row(servers.rank() + 1, servers.size()) - first;
  const std::vector<Bytes> parts = servers.gather(lines_of(frame, shown, first, rows), 0);
  if (servers.rank() != 0) return;
  const auto pixels = static_cast<std::size_t>(picture.size[0]) * static_cast<std::size_t>(picture.size[1]);
  Image image{picture.size[0], picture.size[1], std::vector<std::uint8_t>(4 * pixels, 255)};
  const ColourMap map(picture.colours);
  paint(image, frame, picture, parts, range, map);
  const std::string scale = picture.logarithmic ? "log10 " : "";
  draw_colour_bar(image, layout, 0, map, range, scale + shown.of);
  if (!picture.caption.empty()) {
    draw_caption(image, layout, expand_caption(picture.caption, scale + shown.title, input.iteration));
  }
  input.results.add(picture.file, image);
}

}  // namespace sidestream
