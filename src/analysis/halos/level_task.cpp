#include "analysis/halos/level_task.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <optional>

#include "analysis/common_options.hpp"
#include "analysis/halos/halo_options.hpp"
#include "analysis/halos/level_parts.hpp"
#include "analysis/halos/mass_function.hpp"

namespace sidestream::halos {
namespace {

struct LevelQuery {
  std::int32_t variable = -1;
  int component = 0, connectivity = 14;
  std::string name, file;
  Thresholds thresholds;
  Pieces pieces = Pieces::automatic;
  std::optional<MassFunction> mass_function;
};

/// The exact sums over all finite values of value times volume, and of the volumes.
struct MeanSums {
  ExactSum mass, volume;
  [[nodiscard]] Bytes to_bytes() const {
    ByteWriter out;
    for (const ExactSum* sum : {&mass, &volume}) {
      for (const std::int64_t word : sum->serialise()) out.put(word);
    }
    return out.take();
  }
  void add(BytesView bytes) {
    const auto words = records_of<std::int64_t>(bytes);
    const std::span all(words);
    mass.add(ExactSum::deserialise(all.first<ExactSum::words>()));
    volume.add(ExactSum::deserialise(all.subspan(ExactSum::words).first<ExactSum::words>()));
  }
  [[nodiscard]] double mean() const { return mass.value() / volume.value(); }  ///< NaN of nothing
};

class LevelHalos final : public Task {
 public:
  LevelHalos(LevelQuery query, const Mesh& mesh)
      : query_(std::move(query)), mesh_(mesh), levels_(mesh_, query_.connectivity) {}

  Selection selection() const override {
    Selected selected(query_.variable);
    selected.covered = false;
    Selection selection{{selected}};
    selection.geometry = false;
    return selection;
  }
  int passes() const override { return query_.thresholds.of_mean ? 2 : 1; }

  Bytes local(const LocalInput& input) override {
    if (input.pass + 1 < passes()) return sum_up(input);
    const double unit = query_.thresholds.of_mean ? record_of<double>(input.feedback) : 1;
    ByteWriter out;
    find_level_parts(input, query_.variable, query_.component, levels_, query_.thresholds.boundary * unit, rule(unit))
        .write(out);
    return out.take();
  }

  Bytes combine(const CombineInput& input) override {
    if (input.pass + 1 < passes()) {
      MeanSums sums;
      for (const Bytes& partial : input.partials) sums.add(partial);
      MeanSums all;
      for (const Bytes& bytes : input.communicator.all_gather(sums.to_bytes())) all.add(bytes);
      mean_ = all.mean();
      const BytesView bytes = bytes_of(mean_);
      return {bytes.begin(), bytes.end()};
    }
    LevelParts found;
    for (const Bytes& partial : input.partials) {
      ByteReader in(partial);
      found.append(LevelParts::read(in));
    }
    const double unit = query_.thresholds.of_mean ? mean_ : 1;
    write(gather_level_halos(std::move(found), levels_, rule(unit), input.communicator), input);
    return {};
  }

 private:
  [[nodiscard]] HaloRule rule(double unit) const {
    return {query_.thresholds.peak * unit, query_.thresholds.least_cells};
  }

  [[nodiscard]] Bytes sum_up(const LocalInput& input) const {
    MeanSums sums;
    for (const BlockView& view : input.of(query_.variable)) {
      const std::unique_ptr<LevelBlock> block = level_block(levels_, input, view, query_.component);
      if (!block) continue;
      block->for_each([&](const LevelCell& cell, double value) {
        if (!std::isfinite(value)) return;
        sums.mass.add_product(value, levels_.volume(cell.level));
        sums.volume.add(levels_.volume(cell.level));
      });
    }
    return sums.to_bytes();
  }

  void write(const std::vector<LevelHalo>& halos, const CombineInput& input) const {
    const std::int64_t first = input.communicator.exclusive_sum(static_cast<std::int64_t>(halos.size()));
    input.results.add_parts(query_.file, table_of(halos, first), input.communicator, query_.pieces);
    if (!query_.mass_function) return;
    std::vector<double> masses;
    for (const LevelHalo& halo : halos) masses.push_back(halo.mass);
    write_mass_function(*query_.mass_function, masses, levels_.whole_volume(), query_.name, input);
  }

  /// A column for each axis of the mesh; `value_of(halo, axis)`.
  template <class ValueOf>
  void add_columns(std::vector<Column>& columns, const std::string& name, const char* axes,
                   const std::vector<LevelHalo>& halos, ValueOf value_of) const {
    for (std::size_t a = 0; a < static_cast<std::size_t>(levels_.dimensions()); ++a) {
      std::vector<decltype(value_of(halos.front(), a))> values;
      for (const LevelHalo& halo : halos) values.push_back(value_of(halo, a));
      columns.push_back({name + axes[a], std::move(values)});
    }
  }

  [[nodiscard]] Table table_of(const std::vector<LevelHalo>& halos, std::int64_t first) const {
    std::vector<std::int64_t> numbers, peak_levels, cells;
    std::vector<double> peaks, masses, volumes;
    for (const LevelHalo& halo : halos) {
      numbers.push_back(first++);
      peak_levels.push_back(halo.peak.cell.level);
      peaks.push_back(halo.peak.value);
      cells.push_back(halo.cells);
      masses.push_back(halo.mass);
      volumes.push_back(halo.volume);
    }
    const auto place = [&](const LevelHalo& halo, std::size_t a, double away, bool back = true) {
      return levels_.position(a, halo.peak.cell, away, back);
    };
    std::vector<Column> columns{{"halo", numbers}, {"peak_level", peak_levels}};
    add_columns(columns, "peak_", "ijk", halos, [&](const LevelHalo& halo, std::size_t a) -> std::int64_t {
      return levels_.in_mesh(halo.peak.cell).index[a];
    });
    add_columns(columns, "peak_", "xyz", halos,
                [&](const LevelHalo& halo, std::size_t a) { return place(halo, a, 0); });
    columns.push_back({"peak_value", peaks});
    columns.push_back({"cells", cells});
    columns.push_back({"mass", masses});
    columns.push_back({"volume", volumes});
    add_columns(columns, "mass_", "xyz", halos,
                [&](const LevelHalo& halo, std::size_t a) { return place(halo, a, halo.weighted[a]); });
    add_columns(columns, "centre_", "xyz", halos,
                [&](const LevelHalo& halo, std::size_t a) { return place(halo, a, halo.plain[a]); });
    add_columns(columns, "low_", "xyz", halos, [&](const LevelHalo& halo, std::size_t a) {
      return place(halo, a, static_cast<double>(halo.low[a]), false);
    });
    add_columns(columns, "high_", "xyz", halos, [&](const LevelHalo& halo, std::size_t a) {
      return place(halo, a, static_cast<double>(halo.high[a]), false);
    });
    return Table(std::move(columns));
  }

  LevelQuery query_;
  Mesh mesh_;
  Levels levels_;
  double mean_ = std::numeric_limits<double>::quiet_NaN();  ///< between the passes of one iteration
};

}  // namespace

std::unique_ptr<Task> level_halos(const Settings& settings, const Metadata& metadata) {
  const Variable& variable = read_variable(settings, metadata);
  const Mesh& mesh = metadata.mesh_of(variable);
  if (mesh.kind() != MeshKind::octree && mesh.kind() != MeshKind::uniform) {
    settings.fail("variable", fmt::format("'{}' lies on mesh '{}' of type '{}' with refinement levels; `halos` takes "
                                          "octrees, and uniform meshes with and without levels",
                                          variable.name, mesh.name, mesh.geometry ? mesh.geometry->kind() : "none"));
  }
  if (variable.centering != Centering::cell) {
    settings.fail("variable", fmt::format("'{}' lies at {}s; `halos` needs values in cells", variable.name,
                                          name_of(variable.centering, mesh.dimensions)));
  }
  for (const char* option : {"history", "profile", "labels"}) {
    if (!settings.has(option)) continue;
    settings.fail(option, fmt::format("mesh '{}' has cells of several levels, of which there is none yet: publish the "
                                      "values on a uniform mesh of one level, or `resample` them",
                                      mesh.name));
  }
  LevelQuery query;
  query.variable = variable.id;
  query.component = read_one_component(settings, variable);
  query.connectivity = std::stoi(settings.text("connectivity"));
  query.name = variable.name;
  query.file = settings.text("file");
  query.thresholds = read_thresholds(settings);
  query.pieces = read_pieces(settings);
  query.mass_function = read_mass_function(settings);
  return std::make_unique<LevelHalos>(std::move(query), mesh);
}

}  // namespace sidestream::halos
