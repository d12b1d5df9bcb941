#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>

#include "base/agree.hpp"
#include "base/communicator.hpp"
#include "base/fail.hpp"
#include "base/records.hpp"
#include "import/imported.hpp"
#include "storage/amrex/level_data.hpp"

namespace sidestream::importing {

namespace {

constexpr std::uint64_t part_bytes = 64u << 20;  ///< of values, that are held at a time, unless one box has more

/// A slash would be a folder in files.
std::string plain(std::string name) {
  for (char& c : name) {
    if (c == '/' || static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7f) c = '_';
  }
  return name;
}

struct LevelReport {
  std::int64_t level = 0, boxes = 0, cells = 0;
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
    reports_.resize(levels_.size());
  }

  std::string run(Communicator& all, const std::function<bool()>& stop) {
    const Iteration iteration{0, plotfile_.levels.front().step, plotfile_.time};
    imported_.store(
        all, static_cast<int>(parts_.size()), "part",
        [&](int part, Imported::Part& to) { add_part(parts_[static_cast<std::size_t>(part)], to); }, iteration, stop);
    std::vector<LevelReport> reports(levels_.size());
    for (const Bytes& bytes : all.gather(bytes_of(reports_), 0)) {
      const auto more = records_of<LevelReport>(bytes);
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
    for (const std::string& name : plotfile_.variables) {
      Variable variable;
      variable.name = plain(name);
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

  void add_part(const Boxes& boxes, Imported::Part& to) {
    const amrex::LevelData& level = levels_[boxes.level];
    LevelReport& report = reports_[boxes.level];
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

  [[nodiscard]] std::string text_of(const std::vector<LevelReport>& reports) const {
    std::string text = fmt::format("{:>7} {:>9} {:>12} {:>10} {:>10}\n", "level", "boxes", "cells", "values", "stored");
    for (std::size_t n = 0; n < reports.size(); ++n) {
      text += fmt::format("{:>7} {:>9} {:>12} {:>10} {:>10}\n", n, reports[n].boxes, reports[n].cells,
                          rounded(reports[n].values), rounded(reports[n].stored));
      if (plotfile_.levels[n].time != plotfile_.time) {
        text += fmt::format("remark: level {} is at time {}, which the database does not keep: it has {}\n", n,
                            plotfile_.levels[n].time, plotfile_.time);
      }
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
  std::vector<LevelReport> reports_;
};

}  // namespace

std::string import_amrex(Communicator& all, const ImportOptions& options, const std::function<bool()>& stop) {
  std::optional<AmrexImport> work;
  together(all, [&] { work.emplace(options); });
  return work->run(all, stop);
}

}  // namespace sidestream::importing
