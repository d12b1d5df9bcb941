#include "analyse/shifted.hpp"

#include <algorithm>

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

}  // namespace sidestream::analysing
