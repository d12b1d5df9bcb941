// Plotfiles of AMReX.
#include <fmt/format.h>

#include <optional>

#include "analyse/formats.hpp"
#include "base/fail.hpp"
#include "storage/amrex/level_data.hpp"

namespace sidestream::analysing {

namespace {

/// A slash would be a folder in files.
std::string plain(std::string name) {
  for (char& c : name) {
    if (c == '/' || static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7f) c = '_';
  }
  return name;
}

/// The mesh `grid`, whose first cell is (0, 0, 0) wherever the plotfile counts from, and a variable for each of its.
class PlotfileSnapshot final : public Snapshot {
 public:
  explicit PlotfileSnapshot(const std::string& directory) : plotfile_(amrex::read_plotfile(directory)) {
    for (std::size_t n = 0; n < plotfile_.levels.size(); ++n) levels_.push_back(read_level_data(plotfile_, n));
    declare_mesh();
    const Type type = find_type();
    for (const std::string& name : plotfile_.variables) {
      Variable variable;
      variable.id = static_cast<std::int32_t>(metadata_.variables.size());
      variable.name = plain(name);
      variable.mesh = 0;
      variable.type = type;
      metadata_.variables.push_back(variable);
    }
    list_blocks();
  }

  [[nodiscard]] const Metadata& metadata() const override { return metadata_; }
  [[nodiscard]] const std::vector<Block>& blocks() override { return blocks_; }
  [[nodiscard]] bool has(std::int32_t, std::size_t) override { return true; }

  void read(std::int32_t variable, std::size_t block, const Block& part, std::span<std::byte> out) override {
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
  /// What the plotfile calls the first cell of a level.
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
  std::vector<std::pair<std::size_t, std::size_t>> places_;  ///< of each block: level, and box in it
};

class PlotfileIteration final : public StoredIteration {
 public:
  explicit PlotfileIteration(std::string directory) : directory_(std::move(directory)) {
    const amrex::Plotfile plotfile = amrex::read_plotfile(directory_);
    when_ = {0, plotfile.levels.front().step, plotfile.time};
  }
  [[nodiscard]] Iteration when() const override { return when_; }
  [[nodiscard]] std::string where() const override { return fmt::format("'{}'", directory_); }
  [[nodiscard]] std::unique_ptr<Snapshot> open() const override {
    return std::make_unique<PlotfileSnapshot>(directory_);
  }

 private:
  std::string directory_;
  Iteration when_;
};

}  // namespace

StoredIterations plotfile_iterations(const std::string& directory) {
  return {std::make_shared<PlotfileIteration>(directory)};
}

}  // namespace sidestream::analysing
