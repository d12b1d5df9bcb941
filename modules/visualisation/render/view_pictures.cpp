#include "visualisation/render/view_pictures.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "sidestream/kit/analysis/chart.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/records.hpp"
#include "sidestream/kit/data/beside_results.hpp"
#include "visualisation/graphics/annotations.hpp"
#include "visualisation/render/lengths.hpp"

namespace sidestream::rendering {
namespace {

ResultServices& databases_of(Results& results, const std::string& file) {
  auto* const databases = dynamic_cast<ResultServices*>(&results);
  if (databases != nullptr) return *databases;
  fail(Code::configuration, "found the Cinema database '{}' where only single files are written; use a '.png' file",
       file);
}

}  // namespace

Bytes join_drawings(std::vector<Bytes> drawn) {
  // The drawing of a single view is most of its partial, and is not copied.
  if (drawn.size() == 1) return std::move(drawn.front());
  ByteWriter out;
  for (const Bytes& drawing : drawn) out.put(drawing);
  return out.take();
}

std::vector<std::vector<Bytes>> split_drawings(std::span<const Bytes> partials, std::size_t views) {
  std::vector<std::vector<Bytes>> drawn(views);
  if (views == 1) {
    drawn.front().assign(partials.begin(), partials.end());
    return drawn;
  }
  for (const Bytes& partial : partials) {
    ByteReader in(partial);
    for (std::vector<Bytes>& of_view : drawn) in.get(of_view.emplace_back());
  }
  return drawn;
}

void ViewPictures::add(std::size_t view, const std::vector<Bytes>& parts, const CombineInput& input,
                       const Ranges& ranges, const Domain& domain) {
  if (view == 0) failure_ = nullptr;
  if (failure_) return;
  try {
    hand_over(view, finish(scene_->views[view], parts, input.iteration, ranges, domain), input);
  } catch (...) {
    failure_ = std::current_exception();
  }
}

void ViewPictures::hand_over(std::size_t view, const Image& picture, const CombineInput& input) {
  const CameraView& shown = scene_->views[view];
  if (!is_picture_database(shown.file)) return input.results.add(shown.file, picture);
  if (view == 0) listed_ = {};
  list(shown, input.iteration, databases_of(input.results, shown.file).add_picture(shown.file, shown.name, picture));
}

void ViewPictures::end(const CombineInput& input) {
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  const std::string& file = scene_->file();
  if (is_picture_database(file)) databases_of(input.results, file).list_pictures(file, listed_);
}

/// Parameters that no view has, or that cannot differ, are no columns; parameters of some views only are NaN elsewhere.
void ViewPictures::list(const CameraView& view, const Iteration& iteration, const std::string& file) {
  const CameraPlace place = view.place_at(iteration);
  const auto all = [&](auto has) { return std::ranges::all_of(scene_->views, has); };
  std::vector<std::string> names;
  std::vector<Table::Cell> cells;
  if (!all([&](const CameraView& other) { return other.camera == view.camera; })) {
    names.emplace_back("camera");
    cells.emplace_back(view.camera);
  }
  const auto angled = [&](const CameraView& other) {
    const CameraPlace at = other.place_at(iteration);
    return at.phi.has_value() || at.theta.has_value();
  };
  if (std::ranges::any_of(scene_->views, angled)) {
    const double otherwise = angled(view) ? 0 : std::numeric_limits<double>::quiet_NaN();
    names.insert(names.end(), {"phi", "theta"});
    cells.insert(cells.end(), {place.phi.value_or(otherwise), place.theta.value_or(otherwise)});
  }
  names.emplace_back("FILE");
  cells.emplace_back(file);
  if (listed_.columns().empty()) listed_ = Table(names, {});
  listed_.add_row(cells);
}

Image ViewPictures::finish(const CameraView& view, const std::vector<Bytes>& parts, const Iteration& iteration,
                           const Ranges& ranges, const Domain& domain) const {
  Image image{scene_->width, scene_->height, {}};
  for (const Bytes& part : parts) {
    const auto* first = reinterpret_cast<const std::uint8_t*>(part.data());
    image.rgba.insert(image.rgba.end(), first, first + part.size());
  }
  TextBoxes boxes;
  for (int bar = 0; bar < layout_.bars; ++bar) {
    const auto scale = static_cast<std::size_t>(bar);
    draw_colour_bar(image, layout_, bar, materials_->map(scale), ranges[scale], scene_->scales[scale].title, &boxes);
  }
  if (!scene_->caption.empty()) {
    draw_caption(image, layout_, expand_caption(scene_->caption, scene_->label, iteration), &boxes);
  }
  draw_lengths(image, layout_, *scene_, view.at(iteration), domain, boxes);
  return image;
}

}  // namespace sidestream::rendering
