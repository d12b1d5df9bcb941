// Scenes of Ascent: each render becomes one `render`, with a layer for each plot.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "sidestream/kit/base/numbers.hpp"
#include "translate/ascent.hpp"

namespace sidestream::ascent {

namespace {

std::string lower(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 'a' - 'A') : c;
  return text;
}

/// A colour whose parts are 0 to 1, or 0 to 255.
std::string colour_of(const std::vector<std::string>& parts) {
  std::string text = "#";
  const bool bytes =
      std::any_of(parts.begin(), parts.end(), [](const std::string& part) { return *real_of(part) > 1; });
  for (std::size_t n = 0; n < 3; ++n) {
    const double part = n < parts.size() ? *real_of(parts[n]) : 0;
    text += fmt::format("{:02x}", std::clamp(std::lround(part * (bytes ? 1 : 255)), 0L, 255L));
  }
  return in_quotes(text);
}

class SceneTranslator {
 public:
  SceneTranslator(const std::string& name, Part& scene, Configuration& made, Remarks& remarks,
                  const GeometryOf& geometry_of)
      : name_(name), scene_(scene), made_(made), remarks_(remarks), geometry_of_(geometry_of) {}

  void run() {
    Part plots = scene_.part("plots");
    if (const Entry* const all = scene_.find("plots")) {
      for (const Entry& entry : all->value.entries) {
        plots.ignore({entry.key.c_str()});
        Part one(&entry.value, entry.where, remarks_);
        attempt(one, fmt::format("the plot '{}' of the scene '{}'", entry.key, name_), [&] { plot(one); });
      }
    }
    const std::string image = scene_.text("image_prefix", scene_.text("image_name", name_));
    const bool counted = !scene_.has("image_name") || scene_.has("image_prefix");
    const Entry* const renders = scene_.find("renders");
    if (layers_.empty()) {
      scene_.leave_out();
      return scene_.remark(fmt::format("the scene '{}' was left out: it has no plots with a counterpart", name_));
    }
    if (renders == nullptr) {
      made_.add_analysis("render", layers() + ", file: " + in_quotes(made_.file(image, ".png", counted)));
      return;
    }
    for (const Entry& entry : renders->value.entries) {
      Part one(&entry.value, entry.where, remarks_);
      attempt(one, fmt::format("the render '{}' of the scene '{}'", entry.key, name_), [&] { render(entry.key, one); });
    }
  }

 private:
  template <class Work>
  void attempt(Part& part, const std::string& what, Work&& work) {
    try {
      work();
    } catch (const Refused& refused) {
      part.leave_out();
      remarks_.add(refused.where, fmt::format("{} was left out: {}", what, refused.what()));
    }
  }

  void plot(Part& plot) {
    const std::string type = plot.need("type"), pipeline = plot.text("pipeline");
    if (type != "pseudocolor" && type != "volume") {
      plot.leave_out();
      plot.refuse(fmt::format("plots of type '{}' have no counterpart", type));
    }
    if (plot.has("points")) {
      plot.leave_out();
      plot.refuse("points are drawn by the layer `particles`, which needs the name of their mesh");
    }
    plot.ignore({"topology"});
    const Geometry geometry = pipeline.empty() ? Geometry{} : geometry_of_(pipeline, plot.where());
    const bool lines = geometry.kind == "streamlines";  // their field is a result of the filter
    const std::string field = lines ? plot.text("field") : made_.field(plot.need("field"));
    const std::string colours = colours_of(plot, type == "volume");
    if (type == "volume") {
      if (!geometry.kind.empty()) plot.refuse("the volume of a part of the mesh has no counterpart");
      return add("volume", fmt::format("variable: {}{}", field, colours));
    }
    if (geometry.kind == "resample") plot.refuse("pictures of resampled grids take a second configuration");
    // The faces of all cells with a value.
    if (geometry.kind.empty())
      return add("threshold", fmt::format("variable: {}, minimum: -1.7e308{}", field, colours));
    for (const std::string& options : geometry.options) {
      const bool other = !geometry.field.empty() && geometry.field != field && !lines;
      add(geometry.kind,
          fmt::format("variable: {}{}{}{}{}", geometry.field.empty() ? field : geometry.field,
                      options.empty() ? "" : ", ", options, other ? ", colour_by: " + field : "", colours));
    }
  }

  void add(const std::string& kind, const std::string& options) { layers_[kind].push_back("{" + options + "}"); }
  std::string layers() const {
    std::string all;
    for (const auto& [kind, some] : layers_) {
      const bool one = some.size() == 1;
      all += fmt::format("{}{}: {}{}{}", all.empty() ? "" : ", ", kind, one ? "" : "[", fmt::join(some, ", "),
                         one ? "" : "]");
    }
    return all;
  }

  std::string colours_of(Part& plot, bool volume) {
    std::string text;
    const auto low = plot.number("min_value"), high = plot.number("max_value");
    if (low && high) text += fmt::format(", range: [{}, {}]", *low, *high);
    if (low.has_value() != high.has_value())
      plot.remark("'min_value' and 'max_value' only have a counterpart together");
    Part table = plot.part("color_table");
    table.drop({"discrete", "annotation"}, "colours run continuously");
    const std::string name = lower(table.text("name", "cool to warm"));
    static const std::map<std::string, std::string> names{{"cool to warm", "coolwarm"}, {"cool2warm", "coolwarm"},
                                                          {"viridis", "viridis"},       {"inferno", "inferno"},
                                                          {"plasma", "plasma"},         {"magma", "magma"}};
    const auto found = names.find(name);
    std::string colours = found == names.end() ? "viridis" : found->second;
    const std::vector<std::string> points = control_points(table, volume ? &text : nullptr, low, high);
    if (!points.empty()) colours = fmt::format("[{}]", fmt::join(points, ", "));
    if (points.empty() && found == names.end()) {
      table.remark(fmt::format("the colour table '{}' has no counterpart; it became viridis", name));
    }
    if (table.is_true("reverse")) table.remark("'reverse' has no counterpart; list the colours");
    return text + ", colours: " + colours;
  }

  /// The colours of control points. Opacities go into `volume`.
  std::vector<std::string> control_points(Part& table, std::string* volume, const std::optional<std::string>& low,
                                          const std::optional<std::string>& high) {
    std::vector<std::string> colours, opacities, values;
    const Entry* const points = table.find("control_points");
    std::vector<Node> none;
    for (const Node& item : points == nullptr ? none : points->value.items) {
      Part point(&item, item.where, remarks_);
      const std::string position = point.number("position").value_or("0");
      if (point.text("type") == "rgb") {
        colours.push_back(colour_of(point.numbers("color")));
      } else if (volume != nullptr) {
        opacities.push_back(point.number("alpha").value_or("0"));
        if (low && high) {
          const double first = *real_of(*low), last = *real_of(*high);
          values.push_back(fmt::format("{}", first + *real_of(position) * (last - first)));
        }
      } else {
        point.ignore({"alpha", "color"});
      }
    }
    if (volume != nullptr) {
      if (opacities.size() < 2) {
        opacities = {"0", "0.1"};
        values.clear();
        table.remark("the opacity of the volume is ours: 0 to 0.1 in a hundredth of the diagonal");
      } else {
        table.remark("the opacity of the volume is for a hundredth of the diagonal; set `length`");
      }
      *volume += fmt::format(", opacity: [{}]", fmt::join(opacities, ", "));
      if (!values.empty()) *volume += fmt::format(", values: [{}]", fmt::join(values, ", "));
    }
    if (colours.size() > 1) table.remark("colours are spaced evenly, whatever their positions");
    if (colours.size() == 1) colours.clear();
    return colours;
  }

  void render(const std::string& name, Part& render) {
    const bool cinema = render.text("type") == "cinema";
    const std::string image = render.text("image_prefix", render.text("image_name", name_ + "_" + name));
    const bool counted = !render.has("image_name") || render.has("image_prefix");
    render.drop({"fg_color", "render_bg", "color_bar_position", "auto_camera", "shading", "world_annotations",
                 "screen_annotations"},
                "the picture is complete without it");
    std::string options = camera(render, cinema);
    const auto width = render.number("image_width"), height = render.number("image_height");
    if (width || height) options += fmt::format(", size: [{}, {}]", width.value_or("1024"), height.value_or("1024"));
    if (render.has("bg_color")) options += ", background: [" + colour_of(render.numbers("bg_color")) + "]";
    if (render.has("annotations") && !render.is_true("annotations")) {
      options += ", outline: false, colour_bar: false, caption: none";
    }
    const std::vector<std::string> box = render.numbers("dataset_bounds");
    if (box.size() == 6) {
      options += fmt::format(", domain: [{}, {}, {}, {}, {}, {}]", box[0], box[2], box[4], box[1], box[3], box[5]);
    }
    const std::string file =
        cinema ? made_.file(render.text("db_name", image), ".cdb", false) : made_.file(image, ".png", counted);
    made_.add_analysis("render", fmt::format("{}{}, file: {}", layers(), options, in_quotes(file)));
  }

  std::string camera(Part& render, bool cinema) {
    std::vector<std::string> options;
    Part camera = render.part("camera");
    const auto three = [&](const char* theirs, const char* ours) {
      const std::vector<std::string> numbers = camera.numbers(theirs, {"x", "y", "z"});
      if (numbers.size() == 3) options.push_back(fmt::format("{}: [{}]", ours, fmt::join(numbers, ", ")));
    };
    three("look_at", "focus");
    if (!cinema) three("position", "position");
    three("up", "up");
    if (const auto fov = camera.number("fov")) options.push_back("angle: " + *fov);
    if (const auto zoom = camera.number("zoom")) options.push_back("zoom: " + *zoom);
    camera.drop({"xpan", "ypan", "near_plane", "far_plane"}, "give a focus");
    camera.drop({"azimuth", "elevation"}, "they turn Ascent's default view; give `phi` and `theta`, or a position");
    camera.ignore({"2d"});
    if (cinema) cinema_angles(render, options);
    return options.empty() ? "" : fmt::format(", camera: {{{}}}", fmt::join(options, ", "));
  }

  /// Their angles come in equal steps: phi around, theta from pole to pole, which ours counts from the middle.
  static void cinema_angles(Part& render, std::vector<std::string>& options) {
    const auto angles = [&](const char* key, double first, double whole, int standard) {
      const double count = real_of(render.number(key).value_or(std::to_string(standard))).value_or(standard);
      std::vector<double> all;
      for (int n = 0; n < static_cast<int>(count); ++n)
        all.push_back(first + whole / count * (n + (first < 0 ? 0.5 : 0)));
      options.push_back(fmt::format("{}: [{}]", key, fmt::join(all, ", ")));
    };
    render.drop({"phi_range", "theta_range", "phi_num_angles", "theta_num_angles", "dphi", "dtheta"},
                "angles come in equal steps; give `phi` and `theta`");
    angles("phi", 0, 360, 4);
    angles("theta", -90, 180, 3);
  }

  const std::string& name_;
  Part& scene_;
  Configuration& made_;
  Remarks& remarks_;
  const GeometryOf& geometry_of_;
  std::map<std::string, std::vector<std::string>> layers_;
};

}  // namespace

void translate_scene(const std::string& name, Part& scene, Configuration& made, Remarks& remarks,
                     const GeometryOf& geometry_of) {
  SceneTranslator(name, scene, made, remarks, geometry_of).run();
}

}  // namespace sidestream::ascent
