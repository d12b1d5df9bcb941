// Cameras of a scene: one or several, on paths or around the domain, each with a picture in every iteration.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sidestream/data/iteration.hpp"
#include "sidestream/data/metadata.hpp"
#include "sidestream/extend/options.hpp"
#include "visualisation/graphics/camera.hpp"

namespace sidestream::rendering {

/// Position and direction of a camera, as far as the configuration gives them.
struct CameraPlace {
  std::optional<Vec3> position, focus, view, up;
  std::optional<double> angle, zoom;
  std::optional<double> phi, theta;  ///< degrees
};

/// A place that a camera on a path has at a time, or at a cycle.
struct KeyFrame {
  std::optional<double> time, cycle;  ///< one of them
  CameraPlace place;
  [[nodiscard]] double moment() const { return time ? *time : cycle.value_or(0); }
};

/// A camera's picture of each iteration. A camera with several angles has a view for each pair of them.
struct CameraView {
  std::string file;  ///< file of the pictures, or the Cinema database of all views
  std::string name;  ///< in a database: distinguishes the views of an iteration; empty for a single one
  std::string camera;
  CameraPlace place;
  std::vector<KeyFrame> path;  ///< in ascending order; empty: it stays
  bool parallel = false;

  [[nodiscard]] CameraPlace place_at(const Iteration& iteration) const;
  [[nodiscard]] CameraSettings at(const Iteration& iteration) const;
};

/// True for the file option's value of a Cinema database, a directory whose name ends in `.cdb`.
[[nodiscard]] bool is_picture_database(const std::string& file);

/// The options of a camera, and the views that some cameras describe. `file` is for cameras without a file of their
/// own; `domain` is null if only the data tell it. Throws Error(configuration), at `image` if it is about all.
[[nodiscard]] std::vector<Option> camera_options();
[[nodiscard]] std::vector<CameraView> read_cameras(const Settings& image, const std::vector<Settings>& cameras,
                                                   const std::string& file, const Domain* domain);

}  // namespace sidestream::rendering
