#include "analyse/snapshot.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "data/mesh_arrays.hpp"

namespace sidestream::analysing {

namespace {

bool begins_at_zero(const Mesh& mesh) { return mesh.is_list() || mesh.cells.lo == Index3{0, 0, 0}; }

/// Shifts indices to begin at 0; cells keep their positions.
Mesh from_zero(Mesh mesh) {
  if (begins_at_zero(mesh)) return mesh;
  if (mesh.kind() == MeshKind::uniform) {
    const auto& geometry = static_cast<const UniformGeometry&>(*mesh.geometry);
    std::array<double, 3> origin{};
    for (std::size_t a = 0; a < 3; ++a) origin[a] = geometry.node(static_cast<int>(a), mesh.cells.lo[a]);
    mesh.geometry = std::make_shared<UniformGeometry>(origin, geometry.spacing());
  } else if (mesh.kind() == MeshKind::rectilinear) {
    const auto& geometry = static_cast<const RectilinearGeometry&>(*mesh.geometry);
    mesh.geometry = std::make_shared<RectilinearGeometry>(
        Index3{0, 0, 0}, std::array{geometry.nodes(0), geometry.nodes(1), geometry.nodes(2)});
  }
  for (std::size_t a = 0; a < 3; ++a) {
    mesh.cells.hi[a] -= mesh.cells.lo[a];
    mesh.cells.lo[a] = 0;
  }
  return mesh;
}

class Shifted final : public Snapshot {
 public:
  explicit Shifted(std::unique_ptr<Snapshot> snapshot)
      : snapshot_(std::move(snapshot)), metadata_(snapshot_->metadata()) {
    for (Mesh& mesh : metadata_.meshes) mesh = from_zero(std::move(mesh));
  }
  [[nodiscard]] const Metadata& metadata() const override { return metadata_; }
  [[nodiscard]] const std::vector<Block>& blocks() override {
    if (!blocks_.empty()) return blocks_;
    for (const Block& block : snapshot_->blocks()) blocks_.push_back(moved(block, -1));
    return blocks_;
  }
  [[nodiscard]] bool has(std::int32_t variable, std::size_t block) override { return snapshot_->has(variable, block); }
  [[nodiscard]] std::optional<Range> range(std::int32_t variable, std::size_t block) override {
    return snapshot_->range(variable, block);
  }
  void read(std::int32_t variable, std::size_t block, const Block& part, std::span<std::byte> out) override {
    Block of_snapshot = part;  // its mesh may have another id there
    of_snapshot.mesh = snapshot_->blocks().at(block).mesh;
    snapshot_->read(variable, block, moved(of_snapshot, 1), out);
  }

 private:
  [[nodiscard]] Block moved(Block block, Index sign) const {
    const Mesh& mesh = snapshot_->metadata().meshes.at(static_cast<std::size_t>(block.mesh));
    if (block.is_list() || begins_at_zero(mesh)) return block;
    const Index3 first = mesh.cells_on(block.level).lo;
    for (std::size_t a = 0; a < 3; ++a) {
      block.cells.lo[a] += sign * first[a];
      block.cells.hi[a] += sign * first[a];
    }
    return block;
  }

  std::unique_ptr<Snapshot> snapshot_;
  Metadata metadata_;
  std::vector<Block> blocks_;
};

}  // namespace

std::unique_ptr<Snapshot> counted_from_zero(std::unique_ptr<Snapshot> snapshot) {
  const std::vector<Mesh>& meshes = snapshot->metadata().meshes;
  if (std::all_of(meshes.begin(), meshes.end(), begins_at_zero)) return snapshot;
  return std::make_unique<Shifted>(std::move(snapshot));
}

namespace {

std::string line_of(const Mesh& mesh) {
  std::string text = fmt::format("mesh {}: {}", mesh.name, mesh.geometry ? mesh.geometry->kind() : "without a kind");
  if (mesh.is_list()) return text + fmt::format(", {} dimensions\n", mesh.dimensions);
  text += ", ";
  for (int a = 0; a < mesh.dimensions; ++a) text += fmt::format("{}{}", a > 0 ? " x " : "", mesh.cells.extent(a));
  text += " cells";
  if (!mesh.refinement.empty()) text += fmt::format(", {} levels", mesh.refinement.size() + 1);
  std::string axes;
  for (std::size_t a = 0; a < 3; ++a) axes += mesh.periodic[a] ? std::string(1, "xyz"[a]) : std::string();
  return text + (axes.empty() ? "" : ", periodic along " + axes) + "\n";
}

std::string line_of(const Variable& variable, const Mesh& mesh) {
  const std::string type = variable.components == 1
                               ? std::string(name_of(variable.type))
                               : fmt::format("{} x {}", name_of(variable.type), variable.components);
  std::string text = fmt::format("  {:<24} {}", variable.name, type);
  // Particles have no cells different from their points.
  if (mesh.kind() != MeshKind::points) text += fmt::format(", {}", name_of(variable.centering, mesh.dimensions));
  if (!variable.unit.empty()) text += ", " + variable.unit;
  if (variable.role != Role::none) text += fmt::format(", {} of the mesh", name_of(variable.role));
  return text + "\n";
}

}  // namespace

std::string contents_of(const StoredIterations& iterations, const Metadata& metadata) {
  const auto cycles = std::minmax_element(iterations.begin(), iterations.end(),
                                          [](const auto& a, const auto& b) { return a.when.cycle < b.when.cycle; });
  const auto times = std::minmax_element(iterations.begin(), iterations.end(),
                                         [](const auto& a, const auto& b) { return a.when.time < b.when.time; });
  std::string text =
      iterations.size() == 1
          ? fmt::format("1 iteration, cycle {}, time {}\n", iterations[0].when.cycle, iterations[0].when.time)
          : fmt::format("{} iterations, cycles {} to {}, times {} to {}\n", iterations.size(), cycles.first->when.cycle,
                        cycles.second->when.cycle, times.first->when.time, times.second->when.time);
  for (const Mesh& mesh : metadata.meshes) {
    text += line_of(mesh);
    for (const Variable& variable : metadata.variables) {
      if (variable.mesh == mesh.id) text += line_of(variable, mesh);
    }
  }
  return text;
}

}  // namespace sidestream::analysing
