#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/mpi/agree.hpp"
#include "base/mpi/communicator.hpp"
#include "config/options/option_text.hpp"
#include "declaring.hpp"
#include "import/amrex_fields.hpp"
#include "import/imported.hpp"
#include "importers/amrex/level_data.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/records.hpp"

namespace sidestream::importing {

namespace {

constexpr std::uint64_t part_bytes = 64u << 20;  ///< of values in memory at a time, unless one box is larger

/// Statistics of a level, or of a folder of particles, whose cells are its particles.
struct Report {
  std::int64_t boxes = 0, cells = 0;
  std::uint64_t values = 0, stored = 0;
};

class AmrexImport {
 public:
  explicit AmrexImport(const ImportOptions& options)
      : plotfile_(amrex::read_plotfile(options.directory)),
        imported_(options, fmt::format("imported from AMReX: '{}', {}", options.directory, plotfile_.code)) {
    remarks_ = unread_parts(plotfile_);
    for (std::size_t n = 0; n < plotfile_.levels.size(); ++n) levels_.push_back(read_level_data(plotfile_, n));
    find_type();
    declare();
    make_parts();
    fields_.emplace(plotfile_, levels_, mesh_, imported_, part_bytes);
    remarks_.insert(remarks_.end(), fields_->remarks().begin(), fields_->remarks().end());
    for (const std::string& folder : amrex::particle_folders(plotfile_)) {
      particles_.emplace_back(plotfile_, folder, imported_, part_bytes);
    }
    reports_.resize(levels_.size() + 1 + particles_.size());
  }

  std::string run(Communicator& all, const std::function<bool()>& stop) {
    const Iteration iteration{0, plotfile_.levels.front().step, plotfile_.time};
    std::size_t parts = parts_.size() + fields_->parts();
    for (const AmrexParticles& one : particles_) parts += one.parts();
    imported_.store(
        all, static_cast<int>(parts), "part",
        [&](int part, Imported::Part& to) { add_part(static_cast<std::size_t>(part), to); }, iteration, stop);
    std::vector<Report> reports(reports_.size());
    for (const Bytes& bytes : all.gather(bytes_of(reports_), 0)) {
      const auto more = records_of<Report>(bytes);
      for (std::size_t n = 0; n < more.size(); ++n) {
        reports[n].boxes += more[n].boxes;
        reports[n].cells += more[n].cells;
        reports[n].values += more[n].values;
        reports[n].stored += more[n].stored;
      }
    }
    return text_of(reports);
  }

 private:
  /// Boxes [first, last) of a level.
  struct Boxes {
    std::size_t level = 0, first = 0, last = 0;
  };

  void find_type() {
    for (const amrex::LevelData& level : levels_) {
      if (level.fabs.empty()) continue;
      type_ = type_of(level, 0);
      return;
    }
    fail(Code::file, "'{}' has no box on any level", plotfile_.directory);
  }

  void declare() {
    Mesh mesh;
    mesh.name = "grid";
    mesh.dimensions = plotfile_.dimensions;
    const amrex::PlotLevel& coarsest = plotfile_.levels.front();
    mesh.cells = coarsest.domain;
    std::array<double, 3> origin{};
    for (std::size_t a = 0; a < 3; ++a) {
      origin[a] = plotfile_.low[a] - coarsest.spacing[a] * static_cast<double>(coarsest.domain.lo[a]);
    }
    mesh.geometry = std::make_shared<UniformGeometry>(origin, coarsest.spacing);
    mesh.refinement = plotfile_.ratios;
    mesh_ = imported_.add(std::move(mesh));
    std::vector<double> times;
    for (const amrex::PlotLevel& level : plotfile_.levels) times.push_back(level.time);
    const auto is_plot_time = [&](double time) { return time == plotfile_.time; };
    if (!std::all_of(times.begin(), times.end(), is_plot_time)) imported_.set_level_times(mesh_, std::move(times));
    for (const std::string& name : plotfile_.variables) {
      Variable variable;
      variable.name = printable(name);
      while (imported_.metadata().find_variable(variable.name) != nullptr) variable.name += '_';
      variable.mesh = mesh_;
      variable.type = type_;
      if (variable.name != name) remarks_.push_back(fmt::format("'{}' is called '{}'", name, variable.name));
      variables_.push_back(imported_.add(std::move(variable)));
    }
  }

  void make_parts() {
    const std::uint64_t bytes = plotfile_.variables.size() * size_of(type_);
    std::int64_t id = 0;
    for (std::size_t level = 0; level < levels_.size(); ++level) {
      first_id_.push_back(id);
      id += static_cast<std::int64_t>(levels_[level].fabs.size());
      std::uint64_t held = 0;
      for (std::size_t n = 0; n < levels_[level].fabs.size(); ++n) {
        const auto more = static_cast<std::uint64_t>(levels_[level].fabs[n].cells.count()) * bytes;
        if (held == 0 || held + more > part_bytes) {
          parts_.push_back({level, n, n});
          held = 0;
        }
        held += more;
        parts_.back().last = n + 1;
      }
    }
  }

  /// Adds a part: boxes come first, then additional fields, then particles, folder by folder.
  void add_part(std::size_t part, Imported::Part& to) {
    if (part < parts_.size()) return add_boxes(parts_[part], to);
    part -= parts_.size();
    if (part < fields_->parts()) {
      reports_[levels_.size()].stored += fields_->add(part, first_id_, to);
      return;
    }
    part -= fields_->parts();
    for (std::size_t n = 0; n < particles_.size(); ++n) {
      if (part < particles_[n].parts()) {
        reports_[levels_.size() + 1 + n].stored += particles_[n].add(part, to);
        return;
      }
      part -= particles_[n].parts();
    }
  }

  void add_boxes(const Boxes& boxes, Imported::Part& to) {
    const amrex::LevelData& level = levels_[boxes.level];
    Report& report = reports_[boxes.level];
    for (std::size_t n = boxes.first; n < boxes.last; ++n) {
      Block block;
      block.id = first_id_[boxes.level] + static_cast<std::int64_t>(n);
      block.mesh = mesh_;
      block.level = static_cast<std::int32_t>(boxes.level);
      block.cells = level.fabs[n].cells;
      std::vector<Bytes> values = read_fab(level, n, type_);
      ++report.boxes;
      report.cells += block.cells.count();
      for (std::size_t v = 0; v < values.size(); ++v) {
        report.values += values[v].size();
        report.stored += to.add(variables_[v], block, std::move(values[v]));
      }
    }
  }

  [[nodiscard]] std::string text_of(const std::vector<Report>& reports) const {
    std::string text = fmt::format("{:>7} {:>9} {:>12} {:>10} {:>10}\n", "level", "boxes", "cells", "values", "stored");
    for (std::size_t n = 0; n < levels_.size(); ++n) {
      text += fmt::format("{:>7} {:>9} {:>12} {:>10} {:>10}\n", n, reports[n].boxes, reports[n].cells,
                          rounded_byte_size(reports[n].values), rounded_byte_size(reports[n].stored));
    }
    if (fields_->variables() > 0) {
      text += fmt::format("{} fields more, {}, stored {}\n", fields_->variables(), rounded_byte_size(fields_->bytes()),
                          rounded_byte_size(reports[levels_.size()].stored));
    }
    for (std::size_t n = 0; n < particles_.size(); ++n) {
      const amrex::ParticleFolder& folder = particles_[n].folder();
      text += fmt::format("{}: {} particles in {} grids, {}, stored {}\n", folder.name, folder.count,
                          folder.grids.size(), rounded_byte_size(folder.count * particles_[n].bytes_each()),
                          rounded_byte_size(reports[levels_.size() + 1 + n].stored));
    }
    for (const std::string& remark : remarks_) text += "remark: " + remark + "\n";
    return text;
  }

  amrex::Plotfile plotfile_;
  Imported imported_;
  std::vector<std::string> remarks_;
  std::vector<amrex::LevelData> levels_;
  Type type_ = Type::float64;
  std::int32_t mesh_ = -1;
  std::vector<std::int32_t> variables_;
  std::vector<std::int64_t> first_id_;
  std::vector<Boxes> parts_;
  std::optional<AmrexFields> fields_;
  std::vector<AmrexParticles> particles_;
  std::vector<Report> reports_;  ///< for levels, fields and particles
};

}  // namespace

std::string import_amrex(Communicator& all, const ImportOptions& options, const std::function<bool()>& stop) {
  std::optional<AmrexImport> work;
  run_collectively(all, [&] { work.emplace(options); });
  return work->run(all, stop);
}

}  // namespace sidestream::importing
