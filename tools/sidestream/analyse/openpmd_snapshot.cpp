// Reader of openPMD files (github.com/openPMD/openPMD-standard, version 1.x) in HDF5: meshes and particles.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "analyse/arrays.hpp"
#include "analyse/sources.hpp"
#include "declaring.hpp"
#include "sidestream/kit/base/fail.hpp"

namespace sidestream::analysing {

namespace {

using File = std::shared_ptr<const hdf5::InputFile>;

std::string without_slashes(std::string text) {
  while (!text.empty() && text.back() == '/') text.pop_back();
  return text.substr(std::min(text.find_first_not_of('/'), text.size()));
}

std::string text_of(const hdf5::InputFile& file, const std::string& object, const std::string& name,
                    const std::string& otherwise) {
  if (!file.has_attribute(object, name)) return otherwise;
  const std::vector<std::string> values = file.texts(object, name);
  return values.empty() ? otherwise : values.front();
}

double number_of(const hdf5::InputFile& file, const std::string& object, const std::string& name, double otherwise) {
  if (!file.has_attribute(object, name)) return otherwise;
  const std::vector<double> values = file.numbers(object, name);
  return values.empty() ? otherwise : values.front();
}

/// A component of a record: an array, or a constant.
struct Component {
  std::string path;
  bool constant = false;
  hdf5::Extents extents;
  std::optional<Type> type;
  double number = 0, unit = 1;
};

bool is_component(const hdf5::InputFile& file, const std::string& path) {
  return !file.is_group(path) || (file.has_attribute(path, "value") && file.has_attribute(path, "shape"));
}

Component component_of(const hdf5::InputFile& file, const std::string& path, Units units) {
  Component found;
  found.path = path;
  found.constant = file.is_group(path);
  if (units == Units::si) found.unit = number_of(file, path, "unitSI", 1);
  if (!found.constant) {
    const hdf5::Shape shape = file.shape(path);
    found.extents = shape.extents;
    found.type = shape.type;
    return found;
  }
  for (const std::int64_t extent : file.integers(path, "shape")) {
    if (extent < 0) fail(Code::file, "'{}': '{}' has the shape {}", file.path(), path, extent);
    found.extents.push_back(static_cast<hsize_t>(extent));
  }
  found.number = file.numbers(path, "value").at(0);
  found.type = file.attribute_type(path, "value");
  return found;
}

Term term_of(const Component& component) {
  return component.constant ? Term{{}, component.number, component.unit} : Term{component.path, 0, component.unit};
}

/// The single component of a scalar, without a name, or the named ones of a vector.
std::vector<std::pair<std::string, Component>> components_of(const hdf5::InputFile& file, const std::string& record,
                                                             Units units) {
  std::vector<std::pair<std::string, Component>> found;
  if (is_component(file, record)) return {{std::string(), component_of(file, record, units)}};
  for (const std::string& name : file.names(record)) {
    const std::string path = record + "/" + name;
    if (is_component(file, path)) found.emplace_back(name, component_of(file, path, units));
  }
  return found;
}

/// Grid of a mesh component's values, which are in the centres of cells.
struct Grid {
  int dimensions = 0;
  Order order = Order::column;
  Box cells;
  std::array<double, 3> origin{0, 0, 0}, spacing{1, 1, 1};
  bool operator==(const Grid& other) const {
    return dimensions == other.dimensions && cells == other.cells && origin == other.origin && spacing == other.spacing;
  }
};

/// Reorders numbers of a record to the axes of its arrays, slowest first: with the data order F the file has them
/// reversed.
template <class T>
std::vector<T> by_axis(std::vector<T> values, bool fortran) {
  if (fortran) std::reverse(values.begin(), values.end());
  return values;
}

/// The order of axes, if their labels are in alphabetical or reverse order.
std::optional<Order> order_of(const std::vector<std::string>& labels) {
  if (std::is_sorted(labels.rbegin(), labels.rend())) return Order::column;
  if (std::is_sorted(labels.begin(), labels.end())) return Order::row;
  return std::nullopt;
}

class OpenPmdReader {
 public:
  OpenPmdReader(const std::string& path, const std::string& iteration, Units units)
      : file_(std::make_shared<hdf5::InputFile>(path)), base_(iteration), units_(units) {
    const std::string meshes = without_slashes(text_of(*file_, "/", "meshesPath", "")),
                      particles = without_slashes(text_of(*file_, "/", "particlesPath", ""));
    if (!meshes.empty() && file_->is_group(base_ + "/" + meshes)) {
      for (const std::string& name : file_->names(base_ + "/" + meshes))
        add_record(name, base_ + "/" + meshes + "/" + name);
    }
    if (!particles.empty() && file_->is_group(base_ + "/" + particles)) {
      const std::string folder = base_ + "/" + particles;
      for (const std::string& name : file_->names(folder)) add_species(name, folder + "/" + name);
    }
  }
  std::unique_ptr<ArraysSnapshot> take() { return std::move(made_); }

 private:
  /// The grid; nothing for records without a Cartesian grid.
  [[nodiscard]] std::optional<Grid> grid_of(const std::string& record, const Component& component) const {
    const std::size_t rank = component.extents.size();
    if (text_of(*file_, record, "geometry", "cartesian") != "cartesian" || rank < 1 || rank > 3) return std::nullopt;
    const bool fortran = text_of(*file_, record, "dataOrder", "C") == "F";
    const auto labels = by_axis(file_->texts(record, "axisLabels"), fortran);
    const auto spacing = by_axis(file_->numbers(record, "gridSpacing"), fortran);
    const auto offset = by_axis(file_->numbers(record, "gridGlobalOffset"), fortran);
    std::vector<double> position(rank, 0.0);
    if (file_->has_attribute(component.path, "position")) {
      position = by_axis(file_->numbers(component.path, "position"), fortran);
    }
    if (labels.size() != rank || spacing.size() != rank || offset.size() != rank || position.size() != rank) {
      fail(Code::file, "'{}': the attributes of '{}' do not have {} entries, as its array has axes", file_->path(),
           record, rank);
    }
    const auto order = order_of(labels);
    if (!order) return std::nullopt;
    Grid grid;
    grid.dimensions = static_cast<int>(rank);
    grid.order = *order;
    grid.cells = box_of(component.extents, grid.dimensions, *order);
    // One number or, since version 2, one per axis.
    std::vector<double> unit(rank, 1.0);
    if (units_ == Units::si && file_->has_attribute(record, "gridUnitSI")) {
      const auto given = by_axis(file_->numbers(record, "gridUnitSI"), fortran);
      for (std::size_t n = 0; n < rank && !given.empty(); ++n) unit[n] = given.size() == rank ? given[n] : given[0];
    }
    for (std::size_t n = 0; n < rank; ++n) {
      const std::size_t axis = *order == Order::column ? rank - 1 - n : n;
      grid.spacing[axis] = spacing[n] * unit[n];
      grid.origin[axis] = offset[n] * unit[n] + (position[n] - 0.5) * grid.spacing[axis];
    }
    return grid;
  }

  void add_record(const std::string& name, const std::string& path) {
    const auto components = components_of(*file_, path, units_);
    std::vector<Grid> grids;
    for (const auto& [part, component] : components) {
      const auto grid = component.type ? grid_of(path, component) : std::nullopt;
      if (!grid) return;
      grids.push_back(*grid);
    }
    if (grids.empty() || grids.front().cells.empty()) return;
    const bool alike = std::all_of(grids.begin(), grids.end(), [&](const Grid& g) { return g == grids.front(); });
    if (alike) return add_on_grid(identifier(name), grids.front(), components);
    // Components at different positions become separate variables.
    for (std::size_t n = 0; n < components.size(); ++n) {
      add_on_grid(identifier(name + "_" + components[n].first), grids[n], {components[n]});
    }
  }

  void add_on_grid(const std::string& name, const Grid& grid,
                   const std::vector<std::pair<std::string, Component>>& components) {
    auto known = std::find(grids_.begin(), grids_.end(), grid);
    if (known == grids_.end()) {
      Mesh mesh;
      mesh.name = grids_.empty() ? "grid" : fmt::format("grid_{}", grids_.size() + 1);
      mesh.dimensions = grid.dimensions;
      mesh.cells = grid.cells;
      mesh.geometry = std::make_shared<UniformGeometry>(grid.origin, grid.spacing);
      Block block;
      block.mesh = made_->add(std::move(mesh));
      block.cells = grid.cells;
      of_grid_.emplace_back(block.mesh, made_->add(block));
      known = grids_.insert(grids_.end(), grid);
    }
    const auto& [mesh, block] = of_grid_[static_cast<std::size_t>(known - grids_.begin())];
    Variable variable = variable_of(name, mesh, components);
    variable.order = grid.order;
    made_->add(made_->add(variable), block, values_of(components));
  }

  [[nodiscard]] static Variable variable_of(const std::string& name, std::int32_t mesh,
                                            const std::vector<std::pair<std::string, Component>>& components) {
    Variable variable;
    variable.name = name;
    variable.mesh = mesh;
    variable.components = static_cast<std::int32_t>(components.size());
    variable.type = *components.front().second.type;
    for (const auto& [part, component] : components) {
      // Computed values are computed and stored in double precision.
      if (component.unit != 1 || component.type != variable.type) variable.type = Type::float64;
    }
    return variable;
  }

  [[nodiscard]] StoredValues values_of(const std::vector<std::pair<std::string, Component>>& components) const {
    StoredValues values;
    values.file = file_;
    for (const auto& [part, component] : components) values.components.push_back({term_of(component)});
    return values;
  }

  void add_species(const std::string& name, const std::string& path) {
    if (!file_->is_group(path + "/position")) return;
    const auto places = components_of(*file_, path + "/position", units_);
    if (places.empty() || places.size() > 3 || places.front().second.extents.size() != 1) return;
    Mesh mesh;
    mesh.name = identifier(name);
    mesh.dimensions = static_cast<int>(places.size());
    mesh.geometry = std::make_shared<ArrayGeometry>(MeshKind::points);
    const std::int32_t id = made_->add(std::move(mesh));
    const auto count = static_cast<Index>(places.front().second.extents[0]);
    const PointBlocks blocks = add_points(*made_, id, count);
    add_places(identifier(name), id, path, places, blocks);
    for (const std::string& record : file_->names(path)) {
      if (record == "position" || record == "positionOffset" || record == "particlePatches") continue;
      const auto components = components_of(*file_, path + "/" + record, units_);
      const bool fits = std::all_of(components.begin(), components.end(), [&](const auto& one) {
        return one.second.type && one.second.extents == places.front().second.extents;
      });
      if (components.empty() || !fits) continue;
      Variable variable = variable_of(identifier(name + "_" + record), id, components);
      const bool is_signed = variable.type == Type::int64 || variable.type == Type::int32;
      if (record == "id" && variable.components == 1 && is_signed) variable.role = Role::point_ids;
      add_on_points(std::move(variable), values_of(components), blocks);
    }
  }

  /// Adds positions: the sum of the position and its offset.
  void add_places(const std::string& species, std::int32_t mesh, const std::string& path,
                  const std::vector<std::pair<std::string, Component>>& places, const PointBlocks& blocks) {
    Variable variable = variable_of(species + "_position", mesh, places);
    variable.role = Role::coordinates;
    StoredValues values = values_of(places);
    for (std::size_t n = 0; n < places.size(); ++n) {
      const std::string offset = path + "/positionOffset/" + places[n].first;
      if (!file_->has(offset)) continue;
      const Component more = component_of(*file_, offset, units_);
      if (more.constant && more.number * more.unit == 0) continue;
      values.components[n].push_back(term_of(more));
      variable.type = Type::float64;
    }
    add_on_points(std::move(variable), std::move(values), blocks);
  }

  void add_on_points(Variable variable, StoredValues values, const PointBlocks& blocks) {
    variable.centering = Centering::node;
    const std::int32_t id = made_->add(std::move(variable));
    for (std::size_t n = 0; n < blocks.blocks.size(); ++n) {
      values.first = {-blocks.first[n], 0, 0};
      made_->add(id, blocks.blocks[n], values);
    }
  }

  File file_;
  std::string base_;
  Units units_;
  std::unique_ptr<ArraysSnapshot> made_ = std::make_unique<ArraysSnapshot>();
  std::vector<Grid> grids_;
  std::vector<std::pair<std::int32_t, std::size_t>> of_grid_;  ///< mesh and block
};

}  // namespace

StoredIterations openpmd_iterations(const std::string& path, Units units) {
  const hdf5::InputFile file(path);
  // The standard requires `/data/%T/`; in any case, iterations are the groups whose names are numbers.
  const std::string base = text_of(file, "/", "basePath", "/data/%T/"),
                    data = "/" + without_slashes(base.substr(0, base.find("%T")));
  StoredIterations found;
  std::vector<std::pair<std::int64_t, std::string>> groups;
  for (const std::string& name : file.has(data) ? file.names(data) : std::vector<std::string>{}) {
    std::int64_t number = 0;
    const auto read = std::from_chars(name.data(), name.data() + name.size(), number);
    if (read.ec == std::errc() && read.ptr == name.data() + name.size()) groups.emplace_back(number, data + "/" + name);
  }
  std::sort(groups.begin(), groups.end());
  for (const auto& [number, group] : groups) {
    const double unit = units == Units::si ? number_of(file, group, "timeUnitSI", 1) : 1;
    const Iteration when{0, number, number_of(file, group, "time", static_cast<double>(number)) * unit};
    found.push_back({Format::openpmd, path, group, when});
  }
  if (found.empty()) fail(Code::file, "'{}' has no iteration in '{}'", path, data);
  return found;
}

std::unique_ptr<Snapshot> open_openpmd(const StoredIteration& iteration, Units units) {
  return OpenPmdReader(iteration.path, iteration.part, units).take();
}

}  // namespace sidestream::analysing
