// Reader of files that the output `hdf5` has written: docs/format-hdf5.md.
#include <fmt/format.h>

#include <filesystem>

#include "analyse/arrays.hpp"
#include "analyse/sources.hpp"
#include "data/mesh_arrays.hpp"
#include "sidestream/kit/base/fail.hpp"

namespace sidestream::analysing {

namespace {

using File = std::shared_ptr<const hdf5::InputFile>;

Index3 three(const hdf5::InputFile& file, const std::string& object, const std::string& name, Index otherwise = 0) {
  const std::vector<std::int64_t> values = file.integers(object, name);
  if (values.empty() || values.size() > 3) {
    fail(Code::file, "'{}': the attribute '{}' of '{}' has {} values, expected 1 to 3", file.path(), name, object,
         values.size());
  }
  Index3 found{otherwise, otherwise, otherwise};
  for (std::size_t a = 0; a < values.size(); ++a) found[a] = values[a];
  return found;
}

std::array<double, 3> three_reals(const hdf5::InputFile& file, const std::string& object, const std::string& name,
                                  double otherwise) {
  const std::vector<double> values = file.numbers(object, name);
  std::array<double, 3> found{otherwise, otherwise, otherwise};
  for (std::size_t a = 0; a < std::min<std::size_t>(3, values.size()); ++a) found[a] = values[a];
  return found;
}

std::string text_of(const hdf5::InputFile& file, const std::string& object, const std::string& name) {
  const std::vector<std::string> values = file.texts(object, name);
  return values.empty() ? std::string() : values.front();
}

/// An array, or one of numbers with the scale of the CF conventions: docs/precision.md.
std::vector<Term> terms_of(const hdf5::InputFile& file, const std::string& array) {
  if (!file.has_attribute(array, "scale_factor")) return {Term{array}};
  const auto number = [&](const char* name) { return file.numbers(array, name).at(0); };
  return {Term{array, 0, number("scale_factor"), number("_FillValue")}, Term{"", number("add_offset")}};
}

/// Reads the whole-mesh file and the servers' files.
class FieldsReader {
 public:
  explicit FieldsReader(const std::string& path) : file_(std::make_shared<hdf5::InputFile>(path)) {
    for (const std::string& name : file_->names("/meshes")) read_mesh(name);
    // Missing if no block has a point, for example if all particles are gone.
    if (file_->has("/variables")) {
      for (const std::string& array : file_->arrays("/variables")) read_variable(array);
    }
    give_roles();
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    for (const std::string& name : file_->texts("/", "files")) {
      servers_.push_back(std::make_shared<hdf5::InputFile>((folder / name).string()));
    }
    measure_blocks();
    add_blocks();
  }

  std::unique_ptr<ArraysSnapshot> take() { return std::move(made_); }

 private:
  struct Known {
    std::int32_t id = -1;
    std::string path;
  };
  /// An array in a server's file.
  struct Found {
    std::size_t variable = 0;
    File file;
    std::string path;
    Box points;
    std::int64_t block = 0;
    std::int32_t level = 0;
  };

  void read_mesh(const std::string& name) {
    const std::string path = "/meshes/" + name, kind = text_of(*file_, path, "kind");
    Mesh mesh;
    mesh.name = name;
    mesh.dimensions = static_cast<int>(file_->integers(path, "dimensions").at(0));
    if (mesh.dimensions < 1 || mesh.dimensions > 3) fail(Code::file, "'{}': '{}' is damaged", file_->path(), path);
    if (kind == "uniform") {
      mesh.geometry = std::make_shared<UniformGeometry>(three_reals(*file_, path, "origin", 0),
                                                        three_reals(*file_, path, "spacing", 1));
    } else if (kind == "rectilinear") {
      mesh.geometry = read_nodes(path, mesh.dimensions);
    } else if (kind == "octree") {
      mesh.geometry =
          std::make_shared<OctreeGeometry>(three(*file_, path, "roots", 1), three_reals(*file_, path, "origin", 0),
                                           three_reals(*file_, path, "spacing", 1));
    } else {
      const MeshKind type = kind == "curvilinear"    ? MeshKind::curvilinear
                            : kind == "unstructured" ? MeshKind::unstructured
                            : kind == "points"       ? MeshKind::points
                                                     : MeshKind::none;
      if (type == MeshKind::none) fail(Code::file, "'{}': the mesh '{}' is of kind '{}'", file_->path(), name, kind);
      mesh.geometry = std::make_shared<ArrayGeometry>(type);
    }
    if (!mesh.is_list()) mesh.cells = {three(*file_, path, "lo"), three(*file_, path, "hi", 1)};
    mesh.owned_points = file_->has_attribute(path, "points");
    if (file_->has_attribute(path, "refinement")) {
      const std::vector<std::int64_t> ratios = file_->integers(path, "refinement");
      for (std::size_t n = 0; n + 2 < ratios.size(); n += 3) {
        mesh.refinement.push_back({ratios[n], ratios[n + 1], ratios[n + 2]});
      }
    }
    mesh_ids_[name] = made_->add(std::move(mesh));
  }

  std::shared_ptr<const Geometry> read_nodes(const std::string& path, int dimensions) const {
    std::array<std::vector<double>, 3> nodes{std::vector<double>{0, 1}, {0, 1}, {0, 1}};
    for (int a = 0; a < dimensions; ++a) {
      const std::string array = fmt::format("{}/{}", path, "xyz"[a]);
      const hdf5::Shape shape = file_->shape(array);
      if (shape.extents.size() != 1) fail(Code::file, "'{}': '{}' is no list", file_->path(), array);
      nodes[static_cast<std::size_t>(a)].resize(shape.extents[0]);
      file_->read(array, {{0}, shape.extents}, Type::float64,
                  std::as_writable_bytes(std::span(nodes[static_cast<std::size_t>(a)])));
    }
    return std::make_shared<RectilinearGeometry>(Index3{0, 0, 0}, std::move(nodes));
  }

  void read_variable(const std::string& path) {
    Variable variable;
    variable.name = path.substr(path.rfind('/') + 1);
    const auto mesh = mesh_ids_.find(text_of(*file_, path, "mesh"));
    const std::string centering = text_of(*file_, path, "centering");
    const auto type = type_named(text_of(*file_, path, "type"));
    if (mesh == mesh_ids_.end() || !type) fail(Code::file, "'{}': '{}' is damaged", file_->path(), path);
    variable.mesh = mesh->second;
    variable.type = *type;
    const auto named = centering_named(centering);
    const int dimensions = made_->metadata().meshes[static_cast<std::size_t>(variable.mesh)].dimensions;
    variable.centering = named ? reduced(*named, dimensions) : Centering::cell;
    variable.components = static_cast<std::int32_t>(file_->integers(path, "components").at(0));
    variable.order = text_of(*file_, path, "order") == "row" ? Order::row : Order::column;
    if (file_->has_attribute(path, "unit")) variable.unit = text_of(*file_, path, "unit");
    if (file_->has_attribute(path, "label")) variable.label = text_of(*file_, path, "label");
    variables_.push_back(std::move(variable));
    paths_.push_back(path);
  }

  /// Sets the roles of the arrays that meshes name.
  void give_roles() {
    for (const auto& [name, id] : mesh_ids_) {
      for (int n = 1; n < role_count; ++n) {
        const std::string role(name_of(static_cast<Role>(n)));
        if (!file_->has_attribute("/meshes/" + name, role)) continue;
        const std::string path = text_of(*file_, "/meshes/" + name, role);
        for (std::size_t v = 0; v < paths_.size(); ++v) {
          if (paths_[v] == path || paths_[v] == "/" + path) variables_[v].role = static_cast<Role>(n);
        }
      }
    }
    for (Variable& variable : variables_) ids_.push_back(made_->add(variable));
  }

  void measure_blocks() {
    for (std::size_t v = 0; v < variables_.size(); ++v) {
      for (const File& file : servers_) {
        if (!file->has(paths_[v])) continue;
        for (const std::string& array : file->arrays(paths_[v])) measure(v, file, array);
      }
    }
  }

  /// Reads an array's block: for a box, without ghosts.
  void measure(std::size_t v, const File& file, const std::string& array) {
    Found found{v, file, array, {three(*file, array, "lo"), three(*file, array, "hi", 1)}};
    found.block = file->integers(array, "id").at(0);
    found.level = static_cast<std::int32_t>(file->integers(array, "level").at(0));
    Box own = found.points;
    if (file->has_attribute(array, "points_lo")) {
      own = {three(*file, array, "points_lo"), three(*file, array, "points_hi", 1)};
    }
    const Variable& variable = variables_[v];
    const Mesh& mesh = made_->metadata().meshes[static_cast<std::size_t>(variable.mesh)];
    Block& block = known_[{variable.mesh, found.block}];
    block.id = found.block;
    block.mesh = variable.mesh;
    block.level = found.level;
    if (mesh.is_list()) {
      measure_list(variable, mesh, own.extent(0), block);
    } else {
      for (std::size_t a = 0; a < 3; ++a) own.hi[a] -= at_nodes(variable.centering, static_cast<int>(a)) ? 1 : 0;
      block.cells = own;
    }
    found_.push_back(std::move(found));
  }

  static void measure_list(const Variable& variable, const Mesh& mesh, Index count, Block& block) {
    block.space = IndexSpace::list;
    if (variable.role == Role::connectivity) {
      block.lengths.corners = count;
    } else if (variable.role == Role::faces) {
      block.lengths.faces = count;
    } else if (mesh.kind() == MeshKind::points) {
      block.lengths.points = count;
      block.cells = list_box(count);
    } else if (variable.centering == Centering::cell) {
      block.cells = list_box(count);
    } else {
      block.lengths.points = count;
    }
  }

  void add_blocks() {
    std::map<std::pair<std::int32_t, std::int64_t>, std::size_t> places;
    for (const auto& [name, block] : known_) places[name] = made_->add(block);
    for (const Found& found : found_) {
      StoredValues values;
      values.file = found.file;
      values.components = {terms_of(*found.file, found.path)};
      values.together = variables_[found.variable].components > 1;
      values.first = found.points.lo;
      made_->add(ids_[found.variable], places.at({variables_[found.variable].mesh, found.block}), std::move(values));
    }
  }

  File file_;
  std::vector<File> servers_;
  std::unique_ptr<ArraysSnapshot> made_ = std::make_unique<ArraysSnapshot>();
  std::map<std::string, std::int32_t> mesh_ids_;
  std::vector<Variable> variables_;
  std::vector<std::string> paths_;
  std::vector<std::int32_t> ids_;
  std::map<std::pair<std::int32_t, std::int64_t>, Block> known_;
  std::vector<Found> found_;
};

}  // namespace

StoredIterations fields_iterations(const std::string& path) {
  const hdf5::InputFile file(path);
  return {{Format::fields, path, {}, {0, file.integers("/", "cycle").at(0), file.numbers("/", "time").at(0)}}};
}

std::unique_ptr<Snapshot> open_fields(const StoredIteration& iteration) { return FieldsReader(iteration.path).take(); }

}  // namespace sidestream::analysing
