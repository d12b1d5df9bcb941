#include "visualisation/render/absence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>
#include <variant>
#include <vector>

#include "visualisation/render/layer_pieces.hpp"

namespace sidestream::rendering {
namespace {

bool is_blank(const Drawing& stripe) {
  const Framebuffer& opaque = stripe.opaque;
  for (std::int64_t y = opaque.first_row(); y < opaque.end_row(); ++y) {
    const Sample* row = opaque.row(y);
    if (std::any_of(row, row + opaque.width(), [](Sample sample) { return sample != empty_sample; })) return false;
    if (!stripe.fragments.row(y).empty() || !stripe.slabs.row(y / stripe.samples).empty()) return false;
  }
  return true;
}

/// Kind of a layer.
std::string text_of(const SliceQuery&) { return "slice"; }
std::string text_of(const ClipQuery&) { return "clip"; }
std::string text_of(const ParticlesQuery&) { return "particles"; }
std::string text_of(const VolumeQuery&) { return "volume"; }
std::string text_of(const streamlines::Query&) { return "stream lines"; }

std::string wanted_by(const IsosurfaceQuery& query) { return fmt::format("{}", fmt::join(query.values, ", ")); }
std::string wanted_by(const ThresholdQuery& query) { return fmt::format("{} to {}", query.low, query.high); }

}  // namespace

Absence::Absence(const Scene& scene) : scene_(&scene), covered_(scene.views.size(), 0), notice_(scene.file()) {
  for (std::size_t l = 0; l < scene.layers.size(); ++l) {
    const Layer::Query& query = scene.layers[l].query;
    if (const auto* surface = std::get_if<IsosurfaceQuery>(&query)) {
      seen_.emplace(l, SeenValues(surface->variable, surface->component));
    } else if (const auto* part = std::get_if<ThresholdQuery>(&query)) {
      seen_.emplace(l, seen_values_of(*part));
    }
  }
}

void Absence::select(Selection& selection) const {
  for (const auto& [layer, seen] : seen_) selection.variables.push_back(seen.entry());
}

void Absence::note_stripe(std::size_t view, const Drawing& stripe) { covered_[view] = is_blank(stripe) ? 0 : 1; }

void Absence::report(const CombineInput& input) {
  notice_.look(covered_, input, [&](const std::vector<std::size_t>& blank) { return why(blank, input); });
  forget();
}

void Absence::forget() noexcept {
  for (auto& [layer, seen] : seen_) seen.forget();
}

/// A surface may exist outside the camera's view, so this only reports what exists.
std::string Absence::why(const std::vector<std::size_t>& blank, const CombineInput& input) const {
  std::vector<std::string> layers;
  for (std::size_t l = 0; l < scene_->layers.size(); ++l) {
    std::visit(
        [&](const auto& query) {
          if constexpr (std::is_same_v<std::decay_t<decltype(query)>, PatchesQuery>) {
            const Mesh& outlined = input.metadata.meshes.at(static_cast<std::size_t>(query.mesh));
            layers.push_back(fmt::format("patches of the mesh '{}'", outlined.name));
          } else {
            const auto& variables = input.metadata.variables;
            const Variable& variable =
                variables.at(static_cast<std::size_t>(leading_variable(scene_->layers[l].query)));
            if constexpr (requires { wanted_by(query); }) {
              const bool surface = std::is_same_v<std::decay_t<decltype(query)>, IsosurfaceQuery>;
              layers.push_back(fmt::format("{} of '{}' at {}, and {}", surface ? "isosurface" : "threshold",
                                           variable.name, wanted_by(query), seen_.at(l).text(input)));
            } else {
              const Mesh& mesh = input.metadata.mesh_of(variable);
              layers.push_back(
                  fmt::format("{} of the mesh '{}', and {}", text_of(query), mesh.name, reach_text(mesh, input)));
            }
          }
        },
        scene_->layers[l].query);
  }
  std::string where;
  if (scene_->views.size() > 1) {
    const CameraView& view = scene_->views[blank.front()];
    where = fmt::format(" in {} of {} views, first in '{}'", blank.size(), scene_->views.size(),
                        is_picture_database(view.file) ? view.name : view.file);
  }
  return fmt::format("nothing is seen{}; what was asked for is {}; compare it with that, and the camera with the mesh",
                     where, fmt::join(layers, "; "));
}

}  // namespace sidestream::rendering
