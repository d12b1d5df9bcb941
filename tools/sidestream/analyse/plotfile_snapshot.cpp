// Reader of AMReX plotfiles.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "analyse/sources.hpp"
#include "declaring.hpp"
#include "importers/amrex/level_data.hpp"
#include "importers/amrex/particles.hpp"
#include "sidestream/kit/base/fail.hpp"

namespace sidestream::analysing {

namespace {

/// The particles of a folder, with the names of the command `import`.
class Particles {
 public:
  Particles(const amrex::Plotfile& plotfile, const std::string& name, Metadata& metadata, std::vector<Block>& blocks)
      : folder_(read_particle_folder(plotfile, name)), first_block_(blocks.size()) {
    Mesh mesh;
    mesh.id = static_cast<std::int32_t>(metadata.meshes.size());
    mesh.name = identifier(name);
    if (metadata.find_mesh(mesh.name) != nullptr) mesh.name += "_particles";
    mesh.dimensions = folder_.dimensions;
    mesh.geometry = std::make_shared<ArrayGeometry>(MeshKind::points);
    first_variable_ = metadata.variables.size();
    for (const amrex::ParticleVariable& about : folder_.variables) declare(about, mesh, metadata);
    const std::int32_t id = mesh.id;
    metadata.meshes.push_back(std::move(mesh));
    list_blocks(id, blocks);
  }

  [[nodiscard]] bool has(std::size_t variable) const {
    return variable >= first_variable_ && variable < first_variable_ + folder_.variables.size();
  }

  /// The numbers of a particle are adjacent, so a block's numbers are read once for all variables in sequence.
  void read(std::size_t variable, std::size_t block, std::span<std::byte> out) {
    if (!held_ || *held_ != block) {
      const Stretch& range = ranges_.at(block - first_block_);
      held_.reset();
      values_ = read_particles(folder_, folder_.grids[range.grid], range.first, range.count);
      held_ = block;
    }
    const Bytes& values = values_.at(variable - first_variable_);
    if (values.size() != out.size())
      fail(Code::internal, "analyse: {} bytes of particles for {}", values.size(), out.size());
    std::copy(values.begin(), values.end(), out.begin());
  }

 private:
  struct Stretch {
    std::size_t grid = 0;
    std::uint64_t first = 0, count = 0;
  };

  static void declare(const amrex::ParticleVariable& about, Mesh& mesh, Metadata& metadata) {
    Variable variable;
    variable.id = static_cast<std::int32_t>(metadata.variables.size());
    variable.name = fmt::format("{}_{}", mesh.name, about.name);
    while (metadata.find_variable(variable.name) != nullptr) variable.name += '_';
    variable.mesh = mesh.id;
    variable.type = about.type;
    variable.components = static_cast<std::int32_t>(about.components);
    variable.centering = Centering::node;
    if (about.from == amrex::ParticleVariable::From::position) {
      variable.role = Role::coordinates;
      mesh.arrays[static_cast<std::size_t>(Role::coordinates)] = variable.id;
    }
    metadata.variables.push_back(std::move(variable));
  }

  /// Lists blocks: one per grid, several for large grids.
  void list_blocks(std::int32_t mesh, std::vector<Block>& blocks) {
    constexpr std::uint64_t most = std::uint64_t{1} << 20;
    for (std::size_t n = 0; n < folder_.grids.size(); ++n) {
      for (std::uint64_t first = 0; first < folder_.grids[n].count; first += most) {
        const std::uint64_t count = std::min(most, folder_.grids[n].count - first);
        Block block;
        block.id = static_cast<std::int64_t>(ranges_.size());
        block.mesh = mesh;
        block.space = IndexSpace::list;
        block.cells = list_box(static_cast<Index>(count));
        block.lengths.points = static_cast<Index>(count);
        blocks.push_back(block);
        ranges_.push_back({n, first, count});
      }
    }
  }

  amrex::ParticleFolder folder_;
  std::size_t first_block_, first_variable_ = 0;
  std::vector<Stretch> ranges_;  ///< particles of each block
  std::optional<std::size_t> held_;
  std::vector<Bytes> values_;  ///< values of the cached block
};

/// The mesh `grid`, whose first cell is (0, 0, 0) whatever the plotfile's, and its variables.
class PlotfileSnapshot final : public Snapshot {
 public:
  explicit PlotfileSnapshot(const std::string& directory) : plotfile_(amrex::read_plotfile(directory)) {
    for (std::size_t n = 0; n < plotfile_.levels.size(); ++n) levels_.push_back(read_level_data(plotfile_, n));
    declare_mesh();
    const Type type = find_type();
    for (const std::string& name : plotfile_.variables) {
      Variable variable;
      variable.id = static_cast<std::int32_t>(metadata_.variables.size());
      variable.name = printable(name);
      while (metadata_.find_variable(variable.name) != nullptr) variable.name += '_';
      variable.mesh = 0;
      variable.type = type;
      metadata_.variables.push_back(variable);
    }
    list_blocks();
    for (const std::string& name : particle_folders(plotfile_)) {
      particles_.push_back(std::make_unique<Particles>(plotfile_, name, metadata_, blocks_));
    }
  }

  [[nodiscard]] const Metadata& metadata() const override { return metadata_; }
  [[nodiscard]] const std::vector<Block>& blocks() override { return blocks_; }
  [[nodiscard]] bool has(std::int32_t, std::size_t) override { return true; }

  [[nodiscard]] std::optional<Range> range(std::int32_t variable, std::size_t block) override {
    if (block >= places_.size() || static_cast<std::size_t>(variable) >= plotfile_.variables.size())
      return std::nullopt;
    while (ranges_.size() < levels_.size()) ranges_.push_back(read_ranges(levels_[ranges_.size()]));
    const auto& [level, fab] = places_[block];
    if (ranges_[level].empty()) return std::nullopt;
    return ranges_[level][fab][static_cast<std::size_t>(variable)];
  }

  void read(std::int32_t variable, std::size_t block, const Block& part, std::span<std::byte> out) override {
    for (const auto& particles : particles_) {
      if (particles->has(static_cast<std::size_t>(variable))) {
        return particles->read(static_cast<std::size_t>(variable), block, out);
      }
    }
    const auto& [level, fab] = places_.at(block);
    Box cells = part.cells;
    const Index3 first = first_of(part.level);
    for (std::size_t a = 0; a < 3; ++a) {
      cells.lo[a] += first[a];
      cells.hi[a] += first[a];
    }
    const Type type = metadata_.variables[static_cast<std::size_t>(variable)].type;
    amrex::read_component(levels_[level], fab, variable, cells, type, out);
  }

 private:
  /// The plotfile's index of the first cell of a level.
  [[nodiscard]] Index3 first_of(std::int32_t level) const {
    return plotfile_.levels.at(static_cast<std::size_t>(level)).domain.lo;
  }

  [[nodiscard]] Type find_type() const {
    for (const amrex::LevelData& level : levels_) {
      if (!level.fabs.empty()) return type_of(level, 0);
    }
    fail(Code::file, "'{}' has no box on any level", plotfile_.directory);
  }

  void declare_mesh() {
    Mesh mesh;
    mesh.id = 0;
    mesh.name = "grid";
    mesh.dimensions = plotfile_.dimensions;
    const amrex::PlotLevel& coarsest = plotfile_.levels.front();
    for (std::size_t a = 0; a < 3; ++a) mesh.cells.hi[a] = coarsest.domain.extent(static_cast<int>(a));
    mesh.geometry = std::make_shared<UniformGeometry>(plotfile_.low, coarsest.spacing);
    mesh.refinement = plotfile_.ratios;
    metadata_.meshes.push_back(std::move(mesh));
  }

  void list_blocks() {
    for (std::size_t level = 0; level < levels_.size(); ++level) {
      const Index3 first = first_of(static_cast<std::int32_t>(level));
      for (std::size_t fab = 0; fab < levels_[level].fabs.size(); ++fab) {
        Block block;
        block.id = static_cast<std::int64_t>(blocks_.size());
        block.mesh = 0;
        block.level = static_cast<std::int32_t>(level);
        block.cells = levels_[level].fabs[fab].cells;
        for (std::size_t a = 0; a < 3; ++a) {
          block.cells.lo[a] -= first[a];
          block.cells.hi[a] -= first[a];
        }
        blocks_.push_back(block);
        places_.emplace_back(level, fab);
      }
    }
  }

  amrex::Plotfile plotfile_;
  std::vector<amrex::LevelData> levels_;
  Metadata metadata_;
  std::vector<Block> blocks_;
  std::vector<std::pair<std::size_t, std::size_t>> places_;  ///< level and box of each block of the mesh
  std::vector<std::unique_ptr<Particles>> particles_;
  std::vector<std::vector<std::vector<Range>>> ranges_;  ///< by level, box and component, read on demand
};

}  // namespace

StoredIterations plotfile_iterations(const std::string& directory) {
  const amrex::Plotfile plotfile = amrex::read_plotfile(directory);
  return {{Format::plotfile, directory, {}, {0, plotfile.levels.front().step, plotfile.time}}};
}

std::unique_ptr<Snapshot> open_plotfile(const StoredIteration& iteration) {
  return std::make_unique<PlotfileSnapshot>(iteration.path);
}

}  // namespace sidestream::analysing
