// Options of cameras, and their checks.
#include "visualisation/render/cameras.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "sidestream/extend/option_table.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/text.hpp"
#include "sidestream/kit/data/file_pattern.hpp"

namespace sidestream::rendering {
namespace {

constexpr std::size_t most_views = 4096;

/// A camera as it is written.
struct CameraOptions {
  std::string name, file;
  std::optional<Vec3> position, focus, view, up;
  std::vector<double> phi, theta;
  double angle = CameraSettings().angle, zoom = 1;
  bool parallel = false;
  std::vector<KeyFrame> path;
};

void check_point(const Settings& settings, const std::string& name, const std::optional<Vec3>& point) {
  for (const double number : point.value_or(Vec3{})) {
    if (!std::isfinite(number))
      settings.fail(name, fmt::format("found {} in '{}'; write finite numbers", number, name));
  }
}

template <class Owner>
OptionField<Owner> point_option(const std::string& name, std::optional<Vec3> Owner::*point, const std::string& text) {
  return option(name, point, text)
      .then([point](const Settings& settings, const std::string& option, const Metadata&, Owner& owner) {
        check_point(settings, option, owner.*point);
      });
}

const OptionTable<CameraPlace>& place_options() {
  static const OptionTable<CameraPlace> table{
      point_option("position", &CameraPlace::position, "The camera's position there."),
      point_option("focus", &CameraPlace::focus, "The point in the middle of the image there."),
      point_option("view", &CameraPlace::view, "The direction in which the camera looks there."),
      point_option("up", &CameraPlace::up, "The direction that is up in the image there."),
      option("phi", &CameraPlace::phi, "The camera's longitude there, in degrees; 360 more is once around."),
      option("theta", &CameraPlace::theta, "The camera's latitude there, in degrees.", {.minimum = -90, .maximum = 90}),
      option("angle", &CameraPlace::angle, "The vertical field of view there.", {.minimum = 0.01, .maximum = 170}),
      option("zoom", &CameraPlace::zoom, "The enlargement there.", {.minimum = 1e-6, .maximum = 1e6})};
  return table;
}

const OptionTable<KeyFrame>& key_options() {
  static const OptionTable<KeyFrame> table{
      option("time", &KeyFrame::time, "The simulation's time at which the camera is there."),
      option("cycle", &KeyFrame::cycle, "The cycle at which it is there, instead of `time`."),
      options_of(&KeyFrame::place, place_options())};
  return table;
}

const OptionTable<CameraOptions>& table_of_cameras() {
  static const OptionTable<CameraOptions> table{
      option("name", &CameraOptions::name, "Name of the camera in a Cinema database. Default: its number, from 0."),
      option<OptionType::file>("file", &CameraOptions::file,
                               "The file of this camera's frames. Default: `file` of the analysis.",
                               {.choices = {".png", ".cdb"}}),
      point_option("position", &CameraOptions::position,
                   "The position of the camera. Default: far enough away to show the whole domain."),
      point_option("focus", &CameraOptions::focus,
                   "The point in the middle of the image. Default: the domain's centre, or, without `position`, the "
                   "point that centres the whole domain."),
      point_option("view", &CameraOptions::view, "The direction in which the camera looks, instead of `position`."),
      point_option("up", &CameraOptions::up,
                   "The direction that is up in the image. Default: z; y for a domain that is flat along z."),
      option(
          "phi", &CameraOptions::phi,
          "The camera's longitude about `up`, in degrees, instead of `position` and `view`: 0 is on the side of x (of "
          "z if y is up, of y if x is up). It is equally far from the focus for all angles. Several values give "
          "several views, which need a Cinema database as `file`."),
      option("theta", &CameraOptions::theta, "The camera's latitude above the plane across `up`, likewise.",
             {.minimum = -90, .maximum = 90}),
      option("angle", &CameraOptions::angle,
             "Vertical field of view: degrees between the upper and the lower edge of the image.",
             {.standard = CameraSettings().angle, .minimum = 0.01, .maximum = 170}),
      option("zoom", &CameraOptions::zoom, "Enlarges the image without moving the camera.",
             {.standard = 1, .minimum = 1e-6, .maximum = 1e6}),
      option<OptionType::choice>("projection", &CameraOptions::parallel,
                                 "`parallel`: distant objects do not appear smaller.",
                                 {.standard = "perspective", .choices = {{"perspective", false}, {"parallel", true}}}),
      option("path", &CameraOptions::path,
             "Places of the camera at given times. Between them all numbers change linearly. Before the first time and "
             "after the last one the camera stays.",
             {.least_entries = 2, .options = key_options()})};
  return table;
}

/// The quantities of a place, for what holds for each of them.
template <class Place, class F>
void for_each_quantity(Place& place, F&& f) {
  f("position", place.position);
  f("focus", place.focus);
  f("view", place.view);
  f("up", place.up);
  f("phi", place.phi);
  f("theta", place.theta);
  f("angle", place.angle);
  f("zoom", place.zoom);
}

std::vector<std::string> quantities_of(const CameraPlace& place) {
  std::vector<std::string> names;
  for_each_quantity(place, [&](const char* name, const auto& value) {
    if (value) names.emplace_back(name);
  });
  return names;
}

/// Throws unless a camera looks somewhere with this place. The middle of the domain counts if it is known.
void check_direction(const Settings& settings, const CameraPlace& place, const Domain* domain) {
  if (place.phi || place.theta) {
    for_each_quantity(place, [&](const std::string& name, const auto& value) {
      if ((name == "position" || name == "view") && value)
        settings.fail(name, fmt::format("found both '{}' and the angles 'phi' and 'theta' for the camera; keep one of "
                                        "them",
                                        name));
    });
  }
  if (place.position && place.view) {
    settings.fail("view", "found both 'position' and 'view' for the camera; keep 'position' (and 'focus') or 'view'");
  }
  std::optional<Vec3> view = place.view;
  if (place.position && (place.focus || domain != nullptr))
    view = subtract(place.focus ? *place.focus : domain->centre(), *place.position);
  if (view && !(length(*view) > 0)) {
    settings.fail(place.position ? "position" : "view",
                  place.position ? "the camera's position is its focus, so it looks nowhere; move one of them"
                                 : "the camera's view is [0, 0, 0], which is no direction; change it");
  }
  if (place.up && (!(length(*place.up) > 0) || (view && nearly_parallel(*place.up, *view)))) {
    settings.fail("up", "the camera's 'up' is zero or the direction in which it looks; choose one across the view");
  }
}

void check_key(const Settings& settings, const KeyFrame& key, const KeyFrame& first, const KeyFrame* before) {
  if (key.time.has_value() == key.cycle.has_value()) {
    settings.fail("time",
                  "found a place of a path with both or neither of 'time' and 'cycle', expected one of them, "
                  "the same in all places; write it");
  }
  if (key.time.has_value() != first.time.has_value()) {
    settings.fail(key.time ? "time" : "cycle",
                  "found 'time' and 'cycle' in one path, expected one of them in all "
                  "places; change it");
  }
  if (!std::isfinite(key.moment()) || (before != nullptr && !(key.moment() > before->moment()))) {
    settings.fail(key.time ? "time" : "cycle",
                  fmt::format("found {} in a path{}, expected finite numbers that rise from place to place; change it",
                              key.moment(), before ? fmt::format(" after {}", before->moment()) : ""));
  }
  const auto given = quantities_of(key.place), wanted = quantities_of(first.place);
  if (given.empty())
    settings.fail("position", "found a place of a path without a position, direction, angle or zoom; write one");
  if (given != wanted) {
    settings.fail(given.front(),
                  fmt::format("found a place with {} in a path that begins with {}, expected the same in "
                              "all places; complete them",
                              fmt::join(given, ", "), fmt::join(wanted, ", ")));
  }
}

/// Throws if the camera looks nowhere on the way between two places, such as opposite views or a line through the
/// focus.
void check_between(const Settings& settings, const CameraPlace& a, const CameraPlace& b, const KeyFrame& from,
                   const KeyFrame& to, const Domain* domain) {
  const auto view_at = [&](const CameraPlace& place) -> std::optional<Vec3> {
    if (place.view || !place.position) return place.view;
    if (!place.focus && domain == nullptr) return std::nullopt;
    return subtract(place.focus ? *place.focus : domain->centre(), *place.position);
  };
  const std::optional<Vec3> first = view_at(a), last = view_at(b);
  if (!first || !last) return;
  const Vec3 way = subtract(*last, *first);
  const double all = dot(way, way);
  const double nearest = all > 0 ? std::clamp(-dot(*first, way) / all, 0.0, 1.0) : 0;
  if (length(add(*first, scale(way, nearest))) > 1e-6 * std::max(length(*first), length(*last))) return;
  settings.fail(
      a.view ? "view" : "position",
      fmt::format("found a path on which the camera looks nowhere between {} and {}, because it passes through "
                  "its focus or turns to the opposite direction; write a place between them, or turn it by "
                  "'phi' and 'theta'",
                  from.moment(), to.moment()));
}

void check_path(const Settings& camera, const CameraOptions& options, const CameraPlace& still, const Domain* domain) {
  if (options.path.empty()) return;
  const std::vector<Settings> places = camera.maps(table_of_cameras().name(&CameraOptions::path));
  for (std::size_t n = 0; n < places.size(); ++n) {
    const KeyFrame& key = options.path[n];
    check_key(places[n], key, options.path.front(), n > 0 ? &options.path[n - 1] : nullptr);
    for (const std::string& name : quantities_of(key.place)) {
      if (!camera.given(name)) continue;
      camera.fail(name, fmt::format("found '{}' for the camera and in its path; remove one of them", name));
    }
    const auto at = [&](const KeyFrame& one) { return CameraView{{}, {}, {}, still, {one}}.place_at({}); };
    check_direction(places[n], at(key), domain);
    if (n > 0) check_between(places[n], at(options.path[n - 1]), at(key), options.path[n - 1], key, domain);
  }
}

/// "phi30_theta-45", after the name of a camera among several. Angles with only one value are left out.
std::string name_of(const std::string& camera, bool named, const CameraPlace& place, bool phis, bool thetas) {
  std::vector<std::string> parts;
  if (named) parts.push_back(camera);
  if (phis) parts.push_back(fmt::format("phi{}", place.phi.value_or(0)));
  if (thetas) parts.push_back(fmt::format("theta{}", place.theta.value_or(0)));
  return fmt::format("{}", fmt::join(parts, "_"));
}

/// Names of cameras become names of files.
void check_name(const Settings& camera, const std::string& name) {
  const bool plain = std::ranges::all_of(name, [](char c) {
    const bool beyond_ascii = static_cast<unsigned char>(c) >= 0x80;
    return beyond_ascii || is_letter_or_digit(c) || c == '-' || c == '_' || c == '+' || c == '.';
  });
  if (!plain || name.empty() || name.front() == '.') {
    camera.fail("name", fmt::format("found '{}' as the name of a camera, expected letters, digits, '-', '_', '+' and "
                                    "'.'; rename it",
                                    name));
  }
}

class CamerasReader {
 public:
  CamerasReader(std::string file, const Domain* domain, std::size_t cameras)
      : file_(std::move(file)), domain_(domain), several_(cameras > 1), database_(is_picture_database(file_)) {}

  void add(const Settings& camera, std::size_t number) {
    CameraOptions options = table_of_cameras().read(camera);
    CameraPlace still{options.position, options.focus, options.view, options.up, options.angle, options.zoom, {}, {}};
    if (!options.phi.empty() || !options.theta.empty()) {
      if (options.phi.empty()) options.phi = {0};
      if (options.theta.empty()) options.theta = {0};
      still.phi = options.phi.front();
      still.theta = options.theta.front();
    }
    check_direction(camera, still, domain_);
    for (const char* name : {"phi", "theta"}) check_angles(camera, name);
    check_path(camera, options, still, domain_);
    add_views(camera, options, still, number);
  }

  [[nodiscard]] std::vector<CameraView> take() { return std::move(views_); }

 private:
  static void check_angles(const Settings& camera, const char* name) {
    const std::vector<double> angles = camera.reals(name);
    for (const double angle : angles) {
      if (!std::isfinite(angle)) camera.fail(name, fmt::format("found {} in '{}'; write degrees", angle, name));
    }
    std::set<double> turned;  // 360 degrees are once around
    for (const double angle : angles) turned.insert(std::fmod(std::fmod(angle, 360) + 360, 360));
    if (turned.size() < angles.size()) {
      camera.fail(name, fmt::format("found one direction twice in '{}', expected each once; remove one", name));
    }
  }

  void add_views(const Settings& camera, const CameraOptions& options, const CameraPlace& still, std::size_t number) {
    const std::size_t across = std::max<std::size_t>(1, options.phi.size());
    const std::size_t along = std::max<std::size_t>(1, options.theta.size());
    if (across > most_views || along > most_views || views_.size() + across * along > most_views) {
      camera.fail("phi",
                  fmt::format("found more than {} views in all, expected at most so many; leave some out", most_views));
    }
    const std::string name = options.name.empty() ? fmt::format("{}", number) : options.name;
    if (database_) check_name(camera, name);
    if (database_ && !names_.insert(name).second) {
      camera.fail("name", fmt::format("found the camera '{}' twice, expected different names; rename one", name));
    }
    const std::string file = options.file.empty() ? file_ : options.file;
    check_file(camera, file, across * along, !options.file.empty());
    for (const double theta : options.theta.empty() ? std::vector<double>{0} : options.theta) {
      for (const double phi : options.phi.empty() ? std::vector<double>{0} : options.phi) {
        CameraPlace place = still;
        if (still.phi) place.phi = phi;
        if (still.theta) place.theta = theta;
        views_.push_back(
            {file, name_of(name, several_, place, across > 1, along > 1), name, place, options.path, options.parallel});
      }
    }
  }

  void check_file(const Settings& camera, const std::string& file, std::size_t views, bool own) {
    if (database_ && own) {
      camera.fail("file", fmt::format("found a file for a camera whose pictures go to the Cinema database '{}', "
                                      "expected one of them; remove it",
                                      file_));
    }
    if (own && is_picture_database(file)) {
      camera.fail("file", fmt::format("found the Cinema database '{}' for one camera, expected a picture such as "
                                      "'view.png'; write a database as `file` beside `camera`, for all cameras",
                                      file));
    }
    if (database_) return;
    if (views > 1) {
      camera.fail(table_of_cameras().given(camera, &CameraOptions::phi) ? "phi" : "theta",
                  fmt::format("found {} views for the file '{}', expected a Cinema database for several; write for "
                              "example `file: views.cdb`",
                              views, file));
    }
    if (!files_.insert(file).second) {
      camera.fail("file", fmt::format("found the file '{}' for two cameras, expected one for each; write `file` for "
                                      "the camera, or a Cinema database such as `file: views.cdb` for all",
                                      file));
    }
  }

  std::string file_;
  const Domain* domain_;
  bool several_, database_;
  std::set<std::string> files_, names_;
  std::vector<CameraView> views_;
};

}  // namespace

bool is_picture_database(const std::string& file) { return file.ends_with(".cdb"); }

std::vector<Option> camera_options() { return table_of_cameras().declarations(); }

std::vector<CameraView> read_cameras(const Settings& image, const std::vector<Settings>& cameras,
                                     const std::string& file, const Domain* domain) {
  if (is_picture_database(file) && names_iteration(file)) {
    image.fail("file", fmt::format("found the Cinema database '{}', whose name has a field in braces, expected one "
                                   "directory for all iterations; remove the field",
                                   file));
  }
  CamerasReader reader(file, domain, cameras.size());
  for (std::size_t n = 0; n < cameras.size(); ++n) reader.add(cameras[n], n);
  std::vector<CameraView> views = reader.take();
  if (views.empty()) views.push_back({file, "", "0", {}, {}, false});
  return views;
}

}  // namespace sidestream::rendering
