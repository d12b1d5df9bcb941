#include "analyse/sources.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "analyse/arrays.hpp"
#include "config/options/document.hpp"
#include "config/options/read_settings.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/names.hpp"

namespace sidestream::analysing {

/// The checked file.
class Description {
 public:
  struct Place {
    std::string name;
    Settings settings;
  };
  std::vector<Place> meshes, particles, variables;
  Settings iteration;
};

namespace {

std::vector<Option> mesh_words() {
  return {
      {.name = "origin", .type = OptionType::real, .list = true, .most_entries = 3},
      {.name = "spacing", .type = OptionType::real, .list = true, .most_entries = 3},
      {.name = "box", .type = OptionType::real, .list = true, .most_entries = 6},
      {.name = "periodic", .type = OptionType::choice, .list = true, .choices = {"x", "y", "z"}, .most_entries = 3},
      {.name = "order", .type = OptionType::choice, .default_value = "column", .choices = {"column", "row"}},
  };
}

std::vector<Option> particle_words() {
  return {{.name = "coordinates", .type = OptionType::text, .list = true, .required = true, .most_entries = 3}};
}

std::vector<Option> variable_words() {
  return {
      {.name = "mesh", .type = OptionType::text},
      {.name = "array", .type = OptionType::text, .list = true, .required = true},
      {.name = "unit", .type = OptionType::text},
      {.name = "scale", .type = OptionType::real, .default_value = "1"},
  };
}

std::vector<Option> iteration_words() {
  return {
      {.name = "cycle", .type = OptionType::text},
      {.name = "time", .type = OptionType::text},
  };
}

/// `array: PATH` may be abbreviated to PATH.
Node as_map(const Node& node, const char* key) {
  if (node.kind != Node::Kind::scalar && node.kind != Node::Kind::list) return node;
  Node map;
  map.kind = Node::Kind::map;
  map.where = node.where;
  map.entries.push_back({key, node.where, node});
  return map;
}

void read_section(const Document& document, const char* section, const std::vector<Option>& words, const char* alone,
                  std::vector<Description::Place>& places) {
  const Entry* found = document.root().find(section);
  if (found == nullptr || found->value.kind == Node::Kind::null) return;
  if (found->value.kind != Node::Kind::map) {
    fail_at(found->value.where, "found {} for '{}', expected a map from names to descriptions",
            found->value.description(), section);
  }
  const Parameters none;
  for (const Entry& entry : found->value.entries) {
    places.push_back({entry.key, read_settings(as_map(entry.value, alone), words, fmt::format("'{}'", entry.key),
                                               entry.where, {{none, Stage::opening}})});
  }
}

using File = std::shared_ptr<const hdf5::InputFile>;

/// Reads a file according to the description.
class DescribedReader {
 public:
  DescribedReader(const std::string& path, const Description& description)
      : file_(std::make_shared<hdf5::InputFile>(path)), description_(description) {
    for (const auto& place : description.particles) add_particles(place);
    for (const auto& place : description.variables) add_variable(place);
  }
  std::unique_ptr<ArraysSnapshot> take() { return std::move(made_); }

 private:
  /// The shape of an array; nothing if this file lacks it.
  std::optional<hdf5::Shape> shape_of(const std::string& array, const Settings& settings, const char* option) const {
    if (!file_->has(array)) return std::nullopt;
    if (file_->is_group(array)) settings.fail(option, fmt::format("found '{}', which is a group of arrays", array));
    hdf5::Shape shape = file_->shape(array);
    if (!shape.type) settings.fail(option, fmt::format("found '{}', which is no array of numbers", array));
    return shape;
  }

  const Description::Place& mesh_for(const Description::Place& variable) const {
    std::vector<std::string> names;
    for (const auto& mesh : description_.meshes) names.push_back(mesh.name);
    for (const auto& mesh : description_.particles) names.push_back(mesh.name);
    if (!variable.settings.has("mesh") && description_.meshes.size() == 1) {
      return description_.meshes.front();
    }
    const std::string wanted = variable.settings.has("mesh") ? variable.settings.text("mesh") : std::string();
    for (const auto* all : {&description_.meshes, &description_.particles}) {
      for (const auto& mesh : *all) {
        if (mesh.name == wanted) return mesh;
      }
    }
    variable.settings.fail("mesh", fmt::format("found '{}', expected one of {}; {}", wanted, listed(names),
                                               suggestion(wanted, names, "say on which the variable lies")));
  }

  void add_variable(const Description::Place& place) {
    const Description::Place& mesh = mesh_for(place);
    const std::vector<std::string> arrays = place.settings.texts("array");
    const auto shape = shape_of(arrays.front(), place.settings, "array");
    if (!shape) return;
    for (const std::string& array : arrays) {
      const auto other = shape_of(array, place.settings, "array");
      if (!other) return;
      if (other->extents != shape->extents) {
        place.settings.fail("array",
                            fmt::format("found '{}' and '{}', which have different shapes", arrays.front(), array));
      }
    }
    if (shape->extents.empty()) {
      place.settings.fail("array", fmt::format("found '{}', which is a single number", arrays.front()));
    }
    const bool on_points = points_.count(mesh.name) > 0;
    const std::size_t rank = shape->extents.size();
    const std::size_t axes = on_points ? 1 : dimensions_of(mesh, rank, arrays.size());
    const bool together = rank == axes + 1 && arrays.size() == 1;
    if (rank != axes && !together) {
      place.settings.fail("array", fmt::format("found '{}' with {} axes, expected {}", arrays.front(), rank, axes));
    }
    Variable variable;
    variable.name = place.name;
    variable.type = *shape->type;
    variable.components = static_cast<std::int32_t>(together ? shape->extents.back() : arrays.size());
    if (place.settings.has("unit")) variable.unit = place.settings.text("unit");
    const double scale = place.settings.real("scale");
    if (scale != 1) variable.type = Type::float64;
    StoredValues values;
    values.file = file_;
    values.together = together;
    for (const std::string& array : arrays) values.components.push_back({Term{array, 0, scale}});
    if (on_points) return add_on_points(place, mesh, variable, *shape, values);
    add_on_mesh(mesh, variable, *shape, static_cast<int>(axes), std::move(values));
  }

  /// Number of axes of a mesh: of its origin, spacing or box, otherwise of the array.
  static std::size_t dimensions_of(const Description::Place& mesh, std::size_t rank, std::size_t arrays) {
    const Settings& of = mesh.settings;
    if (of.has("spacing") && of.reals("spacing").size() > 1) return of.reals("spacing").size();
    if (of.has("origin") && of.reals("origin").size() > 1) return of.reals("origin").size();
    if (of.has("box")) return of.reals("box").size() / 2;
    return arrays == 1 ? std::min<std::size_t>(rank, 3) : rank;
  }

  void add_on_mesh(const Description::Place& place, Variable variable, const hdf5::Shape& shape, int dimensions,
                   StoredValues values) {
    const Order order = place.settings.text("order") == "row" ? Order::row : Order::column;
    const Box cells = box_of(shape.extents, dimensions, order);
    if (cells.empty()) fail(Code::file, "'{}': the array of '{}' is empty", file_->path(), variable.name);
    if (meshes_.count(place.name) == 0) {
      const std::int32_t id = made_->add(mesh_of(place, cells, dimensions));
      Block block;
      block.mesh = id;
      block.cells = cells;
      meshes_[place.name] = {id, made_->add(block)};
    }
    const auto& [id, block] = meshes_[place.name];
    const Box& known = made_->metadata().meshes[static_cast<std::size_t>(id)].cells;
    if (known != cells) {
      fail(Code::file, "'{}': '{}' has {} values, expected {} as other variables on the mesh '{}'", file_->path(),
           variable.name, cells.count(), known.count(), place.name);
    }
    variable.mesh = id;
    variable.order = order;
    made_->add(made_->add(variable), block, std::move(values));
  }

  Mesh mesh_of(const Description::Place& place, const Box& cells, int dimensions) const {
    const Settings& of = place.settings;
    Mesh mesh;
    mesh.name = place.name;
    mesh.dimensions = dimensions;
    mesh.cells = cells;
    std::array<double, 3> origin{0, 0, 0}, spacing{1, 1, 1};
    const auto count = static_cast<std::size_t>(dimensions);
    const auto take = [&](const char* option, std::array<double, 3>& to) {
      const std::vector<double> given = of.reals(option);
      if (given.size() != count && given.size() != 1) {
        of.fail(option, fmt::format("found {} numbers, expected 1 or {}", given.size(), dimensions));
      }
      for (std::size_t a = 0; a < count; ++a) to[a] = given.size() == 1 ? given[0] : given[a];
    };
    if (of.has("origin")) take("origin", origin);
    if (of.has("spacing")) take("spacing", spacing);
    if (of.has("box")) {
      if (of.has("origin") || of.has("spacing")) of.fail("box", "found it besides 'origin' or 'spacing'; give either");
      const std::vector<double> box = of.reals("box");
      if (box.size() != 2 * count) {
        of.fail("box", fmt::format("found {} numbers, expected {}: the lower corner, then the upper one", box.size(),
                                   2 * count));
      }
      for (std::size_t a = 0; a < count; ++a) {
        origin[a] = box[a];
        spacing[a] = (box[count + a] - box[a]) / static_cast<double>(cells.extent(static_cast<int>(a)));
      }
    }
    for (std::size_t a = 0; a < count; ++a) {
      if (!(spacing[a] > 0)) of.fail("spacing", fmt::format("found {}, expected more than 0", spacing[a]));
    }
    mesh.geometry = std::make_shared<UniformGeometry>(origin, spacing);
    for (const std::string& axis : of.texts("periodic")) {
      const auto number = static_cast<std::size_t>(axis[0] - 'x');
      if (number >= count) of.fail("periodic", fmt::format("found {} on a mesh of {} dimensions", axis, dimensions));
      mesh.periodic[number] = true;
    }
    return mesh;
  }

  struct Points {
    std::int32_t mesh = -1;
    PointBlocks blocks;
  };

  void add_particles(const Description::Place& place) {
    const std::vector<std::string> arrays = place.settings.texts("coordinates");
    const auto shape = shape_of(arrays.front(), place.settings, "coordinates");
    if (!shape) return;
    const bool together = arrays.size() == 1 && shape->extents.size() == 2;
    const std::size_t dimensions = together ? shape->extents[1] : arrays.size();
    if (shape->extents.size() != (together ? 2u : 1u) || dimensions < 1 || dimensions > 3) {
      place.settings.fail("coordinates",
                          fmt::format("found '{}' with {} axes, expected a list for each dimension, or one "
                                      "array of points with 1 to 3 coordinates each",
                                      arrays.front(), shape->extents.size()));
    }
    Mesh mesh;
    mesh.name = place.name;
    mesh.dimensions = static_cast<int>(dimensions);
    mesh.geometry = std::make_shared<ArrayGeometry>(MeshKind::points);
    Points points;
    points.mesh = made_->add(std::move(mesh));
    points.blocks = add_points(*made_, points.mesh, static_cast<Index>(shape->extents[0]));
    points_[place.name] = points;
    Variable variable;
    variable.name = place.name + "_coordinates";
    variable.type = *shape->type;
    variable.components = static_cast<std::int32_t>(dimensions);
    variable.role = Role::coordinates;
    StoredValues values;
    values.file = file_;
    values.together = together;
    for (const std::string& array : arrays) values.components.push_back({Term{array}});
    add_on_points(place, place, variable, *shape, values);
  }

  void add_on_points(const Description::Place& place, const Description::Place& mesh, Variable variable,
                     const hdf5::Shape& shape, const StoredValues& values) {
    const Points& points = points_.at(mesh.name);
    const Index count = points.blocks.first.back();
    if (static_cast<Index>(shape.extents[0]) != count) {
      fail(Code::file, "'{}': '{}' has {} entries, but there are {} points in '{}'", file_->path(), place.name,
           shape.extents[0], count, mesh.name);
    }
    variable.mesh = points.mesh;
    variable.centering = Centering::node;
    const std::int32_t id = made_->add(variable);
    for (std::size_t n = 0; n < points.blocks.blocks.size(); ++n) {
      StoredValues part = values;
      part.first = {-points.blocks.first[n], 0, 0};
      made_->add(id, points.blocks.blocks[n], std::move(part));
    }
  }

  File file_;
  const Description& description_;
  std::unique_ptr<ArraysSnapshot> made_ = std::make_unique<ArraysSnapshot>();
  std::map<std::string, std::pair<std::int32_t, std::size_t>> meshes_;  ///< id of the mesh, and its block
  std::map<std::string, Points> points_;
};

/// A number, `0.5`, or an attribute: `/universe@redshift`.
double number_of(const hdf5::InputFile& file, const Settings& settings, const char* option) {
  const std::string& text = settings.text(option);
  const std::size_t at = text.rfind('@');
  double number = 0;
  if (at != std::string::npos) {
    const std::string object = at == 0 ? "/" : text.substr(0, at);
    const std::vector<double> values = file.numbers(object, text.substr(at + 1));
    if (values.size() != 1) {
      settings.fail(option, fmt::format("found '{}', which has {} values in '{}', expected one", text, values.size(),
                                        file.path()));
    }
    number = values.front();
  } else if (std::from_chars(text.data(), text.data() + text.size(), number).ptr != text.data() + text.size()) {
    settings.fail(option, fmt::format("found '{}', expected a number, or an attribute as in /group@name", text));
  }
  if (std::isfinite(number)) return number;
  settings.fail(option,
                fmt::format("found '{}', which is {} in '{}', expected a finite number", text, number, file.path()));
}

std::int64_t cycle_of(const hdf5::InputFile& file, const Settings& settings) {
  const double number = number_of(file, settings, "cycle");
  if (std::fabs(number) < 0x1p63) return static_cast<std::int64_t>(number);
  settings.fail("cycle", fmt::format("found '{}', which is {} in '{}', expected a number of at most 18 digits",
                                     settings.text("cycle"), number, file.path()));
}

/// The last number in a file's name, or nothing.
std::optional<std::int64_t> number_in(const std::string& path) {
  const std::string name = path.substr(path.rfind('/') + 1);
  const std::string digits = "0123456789";
  std::size_t end = name.rfind('.');
  if (end == std::string::npos || end == 0) end = name.size();
  const std::size_t last = name.find_last_of(digits, end - 1);
  if (last == std::string::npos) return std::nullopt;
  const std::size_t before = name.find_last_not_of(digits, last);
  const std::size_t first = before == std::string::npos ? 0 : before + 1;
  std::int64_t number = 0;
  const auto read = std::from_chars(name.data() + first, name.data() + last + 1, number);
  return read.ec == std::errc() ? std::optional(number) : std::nullopt;
}

}  // namespace

std::shared_ptr<const Description> read_description(const std::string& text, const std::string& path) {
  const auto document = parse_document(text, path);
  const std::vector<std::string> known{"iteration", "meshes", "particles", "variables"};
  for (const Entry& entry : document->root().entries) {
    if (std::find(known.begin(), known.end(), entry.key) != known.end()) continue;
    fail_at(entry.where, "found the unknown section '{}', expected one of {}; {}", entry.key, listed(known),
            suggestion(entry.key, known, "correct or remove it"));
  }
  auto found = std::make_shared<Description>();
  read_section(*document, "meshes", mesh_words(), "spacing", found->meshes);
  read_section(*document, "particles", particle_words(), "coordinates", found->particles);
  read_section(*document, "variables", variable_words(), "array", found->variables);
  const Parameters none;
  const Entry* iteration = document->root().find("iteration");
  found->iteration = read_settings(iteration == nullptr ? Node{} : iteration->value, iteration_words(), "'iteration'",
                                   {path, 1, 1}, {{none, Stage::opening}});
  if (found->variables.empty() && found->particles.empty()) {
    fail(Code::configuration, "{}: it names no variables; write 'variables: {{density: /path/of/the/array}}'", path);
  }
  return found;
}

StoredIterations described_iterations(const std::string& path, const Description& description, std::int64_t number) {
  const hdf5::InputFile file(path);
  const Settings& of = description.iteration;
  Iteration when;
  when.cycle = of.has("cycle") ? cycle_of(file, of) : number_in(path).value_or(number);
  when.time = of.has("time") ? number_of(file, of, "time") : static_cast<double>(when.cycle);
  return {{Format::described, path, {}, when}};
}

std::unique_ptr<Snapshot> open_described(const StoredIteration& iteration, const Description& description) {
  return DescribedReader(iteration.path, description).take();
}

}  // namespace sidestream::analysing
