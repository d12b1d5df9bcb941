// Filters of Ascent's pipelines. Filters that compute fields become derived variables. One filter that cuts the mesh
// becomes an analysis or a layer.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "sidestream/kit/base/numbers.hpp"
#include "translate/ascent.hpp"

namespace sidestream::ascent {

namespace {

using Numbers = std::vector<std::string>;

std::string listed(const Numbers& numbers) { return fmt::format("[{}]", fmt::join(numbers, ", ")); }

struct Filter {
  Part& params;
  Geometry& geometry;
  Configuration& made;
  const ExpressionNames& names;
  Location where;

  /// Sets the part of the mesh that is left.
  void cut(const std::string& kind, const std::string& field, std::vector<std::string> options) const {
    if (!geometry.kind.empty()) {
      throw Refused(where, fmt::format("it works on the result of '{}', and ours works on the mesh", geometry.kind));
    }
    geometry = {kind, field, std::move(options)};
  }
  [[nodiscard]] std::string field(int components = 1) const { return made.field(params.need("field"), components); }
  void derive(const std::string& usual, const std::string& formula) const {
    made.derive(params.text("output_name", usual), formula, where);
  }
  [[nodiscard]] std::string in_formula(int components = 1) const { return in_expression(field(components)); }
};

void contour(Filter& f) {
  f.params.drop({"use_contour_tree"}, "values are given");
  if (f.params.has("levels")) {
    throw Refused(f.where, "'levels' are between the extremes of each iteration; give 'iso_values'");
  }
  const Numbers values = f.params.numbers("iso_values");
  if (values.empty()) throw Refused(f.where, "'iso_values' are missing");
  const std::string field = f.field();
  f.cut("isosurface", field, {"values: " + listed(values)});
}

/// Throws Refused for an offset that is not the middle of the mesh, which ours has if no place is given.
void check_middle(Part& at, const Location& where) {
  for (const char* const key : {"x_offset", "y_offset", "z_offset"}) {
    const auto offset = at.number(key);
    if (offset && *real_of(*offset) != 0) {
      throw Refused(where, fmt::format("'{}: {}' depends on the bounds of the mesh; give a point", key, *offset));
    }
  }
}

void slice(Filter& f) {
  f.params.ignore({"topology"});
  const Numbers normal = f.params.numbers("normal", {"x", "y", "z"});
  if (normal.size() != 3) throw Refused(f.where, "it has no normal of three numbers");
  std::string options = "normal: " + listed(normal);
  Part point = f.params.part("point");
  check_middle(point, f.where);
  if (point.has("x") || point.has("y") || point.has("z")) {
    options += fmt::format(", origin: [{}, {}, {}]", point.number("x").value_or("0"), point.number("y").value_or("0"),
                           point.number("z").value_or("0"));
  }
  f.cut("slice", "", {options});
}

void three_slices(Filter& f) {
  f.params.ignore({"topology"});
  check_middle(f.params, f.where);
  Part point = f.params.part("point");
  check_middle(point, f.where);
  std::vector<std::string> all;
  for (const char* const axis : {"x", "y", "z"}) {
    const auto at = point.number(axis);
    all.push_back(fmt::format("axis: {}{}", axis, at ? ", position: " + *at : ""));
  }
  f.cut("slice", "", all);
}

void threshold(Filter& f) {
  if (f.params.is_true("invert")) throw Refused(f.where, "'invert' has no counterpart; take two thresholds");
  for (const char* const shape : {"sphere", "box", "plane", "cylinder", "multi_plane"}) {
    if (f.params.has(shape)) {
      throw Refused(f.where, fmt::format("the threshold by a {} has no counterpart; `clip` has `whole_cells`", shape));
    }
  }
  std::string options;
  for (const auto& [theirs, ours] : {std::pair("min_value", "minimum"), std::pair("max_value", "maximum")}) {
    const auto value = f.params.number(theirs);
    if (value) options += fmt::format("{}{}: {}", options.empty() ? "" : ", ", ours, *value);
  }
  f.cut("threshold", f.field(), {options});
}

void clip(Filter& f) {
  f.params.ignore({"topology"});
  const bool inside = f.params.is_true("invert");
  if (f.params.has("plane")) {
    Part plane = f.params.part("plane");
    return f.cut("clip", "",
                 {fmt::format("normal: {}, origin: {}, side: {}", listed(plane.numbers("normal", {"x", "y", "z"})),
                              listed(plane.numbers("point", {"x", "y", "z"})), inside ? "below" : "above")});
  }
  const char* const keep = inside ? "inside" : "outside";
  if (f.params.has("sphere")) {
    Part sphere = f.params.part("sphere");
    return f.cut("clip", "",
                 {fmt::format("centre: {}, radius: {}, keep: {}", listed(sphere.numbers("center", {"x", "y", "z"})),
                              sphere.number("radius").value_or("1"), keep)});
  }
  if (f.params.has("box")) {
    Part box = f.params.part("box");
    return f.cut("clip", "",
                 {fmt::format("low: {}, high: {}, keep: {}", listed(box.numbers("min", {"x", "y", "z"})),
                              listed(box.numbers("max", {"x", "y", "z"})), keep)});
  }
  throw Refused(f.where, "ours clips by a plane, a sphere or a box");
}

/// Samples lie in the centres of our grid's cells.
void uniform_grid(Filter& f) {
  f.params.drop({"invalid_value"}, "places outside the mesh are NaN");
  f.params.ignore({"topology"});
  const Numbers dims = f.params.numbers("dims", {"i", "j", "k"});
  if (dims.empty()) throw Refused(f.where, "'dims' are missing; ours needs the size of the grid");
  std::string options = "size: [";
  for (const std::string& one : dims) options += fmt::format("{}{:.0f}", &one == &dims[0] ? "" : ", ", *real_of(one));
  options += "]";
  const Numbers origin = f.params.numbers("origin", {"x", "y", "z"});
  Numbers spacing = f.params.numbers("spacing", {"dx", "dy", "dz"});
  if (!origin.empty()) {
    if (spacing.empty()) spacing.assign(3, "1");
    std::string low, high;
    for (std::size_t n = 0; n < dims.size() && n < origin.size() && n < spacing.size(); ++n) {
      const double width = *real_of(spacing[n]), first = *real_of(origin[n]) - width / 2;
      low += fmt::format("{}{}", n == 0 ? "" : ", ", first);
      high += fmt::format("{}{}", n == 0 ? "" : ", ", first + width * *real_of(dims[n]));
    }
    options += fmt::format(", low: [{}], high: [{}]", low, high);
  } else if (!spacing.empty()) {
    throw Refused(f.where, "'spacing' without 'origin' depends on the bounds of the mesh");
  }
  f.cut("resample", f.params.has("field") ? f.field() : "", {options});
}

void streamline(Filter& f) {
  const std::string why = "ours are lines";
  f.params.drop({"tube_size", "tube_sides", "tube_val", "tube_value", "tube_capping"}, why);
  f.params.ignore({"enable_tubes", "output_field", "output_name"});
  Part seeds = f.params.part("seeds");
  const std::string type = seeds.text("type");
  const Numbers at = seeds.numbers("location");
  std::string options = "direction: forwards, step: " + f.params.number("step_size").value_or("0.01") +
                        ", steps: " + f.params.number("num_steps").value_or("1000");
  if ((type == "point" || type == "point_list") && !at.empty() && at.size() % 3 == 0) {
    options += ", point: [";
    for (std::size_t n = 0; n < at.size(); n += 3) {
      options += fmt::format("{}{{at: [{}, {}, {}]}}", n == 0 ? "" : ", ", at[n], at[n + 1], at[n + 2]);
    }
    options += "]";
  } else if (type == "line" && seeds.text("sampling_type", "uniform") == "uniform") {
    options += fmt::format(", line: {{from: {}, to: {}, samples: {}}}", listed(seeds.numbers("start")),
                           listed(seeds.numbers("end")), seeds.number("num_seeds").value_or("2"));
  } else {
    f.params.leave_out();
    seeds.leave_out();
    throw Refused(f.where, "its seeds are random or in a box; ours are points, lines and planes");
  }
  f.cut("streamlines", f.field(3), {options});
}

void logarithm(Filter& f, const std::string& function, const std::string& name) {
  const std::string of = f.in_formula();
  const auto least = f.params.number("clamp_min_value");
  f.params.ignore({"clamp_to_min"});
  f.derive(name + "_" + f.params.text("field"),
           least ? fmt::format("{}(max({}, {}))", function, of, *least) : fmt::format("{}({})", function, of));
}

void differential(Filter& f, const std::string& function, int components, const std::string& suffix) {
  f.params.ignore({"use_cell_gradient"});
  f.derive(f.params.text("field") + suffix, fmt::format("{}({})", function, f.in_formula(components)));
}

void composite_vector(Filter& f) {
  std::vector<std::string> parts;
  for (const char* const key : {"field1", "field2", "field3"}) {
    if (f.params.has(key)) parts.push_back(in_expression(f.made.field(f.params.text(key))));
  }
  if (parts.size() < 2) throw Refused(f.where, "a vector needs two fields or three");
  f.params.ignore({"component"});
  f.derive("composite_vector", fmt::format("vector({})", fmt::join(parts, ", ")));
}

void add_fields(Filter& f) {
  std::vector<std::string> parts;
  for (const std::string& one : f.params.texts("fields")) parts.push_back(in_expression(f.made.field(one)));
  if (parts.empty()) throw Refused(f.where, "'fields' are missing");
  f.derive("sum", fmt::format("{}", fmt::join(parts, " + ")));
}

/// One axis or two with fields, for sums and counts.
void binning(Filter& f) {
  const std::string op = f.params.need("reduction_op"), reduced = f.params.text("reduction_field");
  f.params.ignore({"output_field", "output_type", "component"});
  const bool counts = op == "cnt" || op == "count" || op == "pdf";
  const auto out = [&](const std::string& why) {
    f.params.leave_out();
    throw Refused(f.where, why);
  };
  if (!counts && op != "sum") out(fmt::format("'{}' in bins has no counterpart; ours counts and sums", op));
  const Entry* const axes = f.params.find("axes");
  const std::size_t count = axes == nullptr ? 0 : axes->value.items.size();
  if (count < 1 || count > 2) out("ours has bins along one or two fields; `projection` and `deposit` have grids");
  std::vector<std::string> all;
  for (const Node& item : axes->value.items) {
    const auto text = [&](const char* key) {
      const Entry* const found = item.find(key);
      return found == nullptr ? std::string() : found->value.text;
    };
    const std::string field = text("field");
    if (field == "x" || field == "y" || field == "z" || field.empty()) {
      out("ours has bins along fields; `projection` and `deposit` have grids in space");
    }
    std::string axis =
        fmt::format("variable: {}, bins: {}", f.made.field(field), text("num_bins").empty() ? "256" : text("num_bins"));
    if (!text("min_val").empty() && !text("max_val").empty()) {
      axis += fmt::format(", range: [{}, {}]", text("min_val"), text("max_val"));
    }
    all.push_back(axis);
  }
  std::string rest = counts ? "" : ", weight: " + f.made.field(reduced);
  if (op == "pdf") rest += ", normalise: density";
  if (count == 1) {
    f.made.add_analysis("histogram", all[0] + rest + ", file: " + in_quotes(f.made.file("binning", ".csv", false)));
  } else {
    f.made.add_analysis("histogram2d", fmt::format("x: {{{}}}, y: {{{}}}{}, file: {}", all[0], all[1], rest,
                                                   in_quotes(f.made.file("binning", ".h5", true))));
  }
}

using Handle = void (*)(Filter&);

const std::map<std::string, Handle>& handles() {
  static const std::map<std::string, Handle> all{
      {"contour", contour},
      {"slice", slice},
      {"3slice", three_slices},
      {"threshold", threshold},
      {"clip", clip},
      {"uniform_grid", uniform_grid},
      {"streamline", streamline},
      {"binning", binning},
      {"composite_vector", composite_vector},
      {"add_fields", add_fields},
      {"log", [](Filter& f) { logarithm(f, "ln", "log"); }},
      {"log10", [](Filter& f) { logarithm(f, "log10", "log10"); }},
      {"log2", [](Filter& f) { logarithm(f, "log2", "log2"); }},
      {"gradient", [](Filter& f) { differential(f, "gradient", 1, "_gradient"); }},
      {"vorticity", [](Filter& f) { differential(f, "curl", 3, "_vorticity"); }},
      {"divergence", [](Filter& f) { differential(f, "divergence", 3, "_divergence"); }},
      {"qcriterion", [](Filter& f) { differential(f, "q_criterion", 3, "_qcriterion"); }},
      {"vector_magnitude", [](Filter& f) { differential(f, "magnitude", 3, "_magnitude"); }},
      {"vector_component",
       [](Filter& f) {
         const std::string component = f.params.need("component");
         f.derive(f.params.text("field") + "_" + component, fmt::format("{}[{}]", f.in_formula(3), component));
       }},
      {"power_of_field",
       [](Filter& f) {
         f.derive(f.params.text("field") + "_power",
                  fmt::format("({})^({})", f.in_formula(), f.params.number("exponent").value_or("2")));
       }},
      {"expression",
       [](Filter& f) {
         f.derive(f.params.text("name", "expression"),
                  translated_formula(f.params.need("expression"), f.where, f.names));
       }},
      {"ghost_stripper",
       [](Filter& f) {
         f.params.ignore({"field", "min_value", "max_value"});
       }},
      {"clean_grid", [](Filter&) {}},
  };
  return all;
}

}  // namespace

void translate_filter(Part& filter, Geometry& geometry, Configuration& made, const ExpressionNames& names) {
  const std::string type = filter.need("type");
  const auto handle = handles().find(type);
  if (handle == handles().end()) {
    filter.leave_out();
    throw Refused(filter.where(), fmt::format("the filter '{}' has no counterpart", type));
  }
  Part params = filter.part("params");
  Filter one{params, geometry, made, names, filter.where()};
  try {
    handle->second(one);
  } catch (const Refused& refused) {
    params.leave_out();
    throw Refused(refused.where, fmt::format("the filter '{}': {}", type, refused.what()));
  }
}

}  // namespace sidestream::ascent
