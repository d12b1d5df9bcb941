// Stream lines of a vector field as files.
#include <fmt/format.h>

#include "sidestream/kit/analysis/common_options.hpp"
#include "sidestream/kit/analysis/empty_results.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/log.hpp"
#include "visualisation/kinds.hpp"
#include "visualisation/lines/lines.hpp"

namespace sidestream {
namespace {

class StreamLines final : public Task {
 public:
  StreamLines(streamlines::Query query, const Metadata& metadata, std::string file, bool single)
      : query_(std::move(query)),
        selection_(streamlines::selection_of(query_, metadata)),
        file_(std::move(file)),
        type_(single ? Type::float32 : Type::float64) {}

  Selection selection() const override { return selection_; }
  Bytes local(const LocalInput&) override { return {}; }
  Bytes combine(const CombineInput& input) override {
    if (input.local == nullptr) fail(Code::internal, "'{}': lines need the blocks of this server", file_);
    const streamlines::Lines lines = streamlines::trace(query_, *input.local, input.communicator);
    if (input.communicator.rank() != 0) return {};
    if (lines.outside > 0 && !warned_outside_) {
      say(input, fmt::format("{} of {} seeds are in no cell of the mesh and have no lines", lines.outside,
                             query_.seeds.size()));
      warned_outside_ = true;
    }
    if (lines.unknown > 0 && !warned_unknown_) {
      say(input, fmt::format("{} cells are of types that are not known; lines end there", lines.unknown));
      warned_unknown_ = true;
    }
    Surface surface = surface_of(lines, input.metadata);
    const bool inside = lines.outside < static_cast<std::int64_t>(query_.seeds.size());
    if (surface.lines.empty() && inside && !warned_short_) {
      say(input,
          fmt::format("no line is longer than its seed: '{}' is 0 or has no value at all seeds, or the step of {} is "
                      "larger than the mesh",
                      input.metadata.variables.at(static_cast<std::size_t>(query_.values.variables.front())).name,
                      query_.step));
      warned_short_ = true;
    }
    input.results.add(file_, std::move(surface));
    return {};
  }

 private:
  void say(const CombineInput& input, const std::string& sentence) const {
    remark(input.results, sentence);
    log::warning("'{}': {} (this is said once)", file_, sentence);
  }
  [[nodiscard]] Surface surface_of(const streamlines::Lines& lines, const Metadata& metadata) const {
    Surface surface;
    surface.coordinates = type_;
    surface.lines = streamlines::segments_of(lines);
    Surface::Array line{"line", 1, {}, Type::float64}, length{"arc_length", 1, {}, type_};
    for (const streamlines::Vertex& vertex : lines.vertices) {
      surface.points.push_back(vertex.at);
      if (query_.dimensions < 3) surface.points.back()[2] = query_.flat;
      line.values.push_back(static_cast<double>(vertex.line));
      length.values.push_back(static_cast<double>(vertex.number) * query_.step);
    }
    surface.point_data = {std::move(line), std::move(length)};
    add_variables(lines, metadata, surface);
    return surface;
  }

  void add_variables(const streamlines::Lines& lines, const Metadata& metadata, Surface& surface) const {
    const std::size_t all = sampling::value_count(query_.values, metadata);
    std::size_t first = 0;
    for (const std::int32_t id : query_.values.variables) {
      const Variable& variable = metadata.variables.at(static_cast<std::size_t>(id));
      const auto count = static_cast<std::size_t>(variable.components);
      Surface::Array array{variable.name, variable.components, {}, type_};
      for (std::size_t at = first; at < lines.values.size(); at += all) {
        array.values.insert(array.values.end(), lines.values.begin() + static_cast<std::ptrdiff_t>(at),
                            lines.values.begin() + static_cast<std::ptrdiff_t>(at + count));
      }
      first += count;
      surface.point_data.push_back(std::move(array));
    }
  }

  streamlines::Query query_;
  Selection selection_;
  std::string file_;
  Type type_;
  bool warned_outside_ = false;  ///< that seeds are outside
  bool warned_unknown_ = false;  ///< that cells were not searched
  bool warned_short_ = false;    ///< that there are no lines
};

}  // namespace

AnalysisKind streamlines_kind() {
  std::vector<Option> options = streamlines::line_options();
  options.push_back({.name = "fields",
                     .type = OptionType::variable,
                     .list = true,
                     .text = "Further variables of the same mesh that the lines carry."});
  options.push_back(precision_option());
  options.push_back(file_option("streamlines-{index:05}.vtp", "The lines, one file per iteration."));
  return {
      .name = "streamlines",
      .text =
          "Lines that have the direction of a vector field everywhere, through given seeds, as line segments with the "
          "point data `line` (the number of the seed, from 0), `arc_length` (from the seed, negative backwards), the "
          "field and `fields`. Steps of equal arc length by the method of Runge and Kutta of fourth order. Between "
          "nodes and between cell centres the field is linear; in octrees, in cells next to another level, and for values "
          "in cells of curvilinear and unstructured meshes it is constant in each cell. A line ends within a step of where the mesh ends, where the field has no value or is 0, or where it would turn back, and after `length` or `steps`. Lines run across blocks, levels and servers, and are the same bytes "
          "however the mesh is divided.",
      .options = std::move(options),
      .create = [](const Settings& settings, const Metadata& metadata) -> std::unique_ptr<Task> {
        const auto fields = read_fields(settings, read_variable(settings, metadata), metadata);
        return std::make_unique<StreamLines>(streamlines::read_lines(settings, metadata, fields, "fields"), metadata,
                                             settings.text("file"), read_single(settings));
      },
      .any_partials = false,
  };
}

}  // namespace sidestream
