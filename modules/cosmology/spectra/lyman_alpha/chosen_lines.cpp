// Output of every n-th line of sight.
//
// 1. Rows of lines are divided evenly among servers. own_rows (collective) sends lines to the owners of their rows, 16
//    MiB at a time, so that no server holds more than its own rows and what is under way.
// 2. write_lines adds flux, depth and positions as arrays of one data set, of which each server gives its rows.
#include "cosmology/spectra/lyman_alpha/chosen_lines.hpp"

#include <algorithm>
#include <cstring>

#include "cosmology/spectra/lyman_alpha/row_functions.hpp"
#include "cosmology/spectra/pencils.hpp"
#include "sidestream/kit/base/records.hpp"

namespace sidestream::lyman_alpha {
namespace {

constexpr Index values_under_way = Index{1} << 21;  // 16 MiB

/// Contiguous lines of one row.
struct RunHeader {
  Index row = 0, first = 0, lines = 0;
};

double* reals_in(Bytes& bytes) noexcept { return reinterpret_cast<double*>(bytes.data()); }

/// Collects this server's rows of the lines along one axis from all servers: reals, as a data set needs them.
Bytes own_rows(const LineGrid& lines, const GridShape& grid, const std::vector<ChosenLines>& mine,
               Communicator& servers) {
  const Index length = lines.cells.extent(lines.along), width = lines.lines(lines.fast);
  const Index begin = grid.first_row(servers.rank(), servers.size());
  const Index end = grid.first_row(servers.rank() + 1, servers.size());
  Bytes rows(static_cast<std::size_t>((end - begin) * width * length) * sizeof(double));
  const Index together = std::max<Index>(1, values_under_way / (width * length));
  for (Index first = 0; first < grid.rows(); first += together) {
    std::vector<MemberMessage> messages;
    for (const ChosenLines& part : mine) {
      const Index some = part.high[0] - part.low[0];
      if (some <= 0) continue;
      for (Index row = std::max(first, part.low[1]); row < std::min(first + together, part.high[1]); ++row) {
        ByteWriter out;
        out.put(RunHeader{row, part.low[0], some});
        out.put_all(std::span(part.depths.data() + (row - part.low[1]) * some * length,
                              static_cast<std::size_t>(some * length)));
        messages.push_back({grid.owner(row, servers.size()), out.take()});
      }
    }
    for (const MemberMessage& message : servers.exchange(std::move(messages))) {
      const auto header = record_of<RunHeader>(BytesView(message.bytes).first(sizeof(RunHeader)));
      std::memcpy(reals_in(rows) + ((header.row - begin) * width + header.first) * length,
                  message.bytes.data() + sizeof(RunHeader),
                  static_cast<std::size_t>(header.lines * length) * sizeof(double));
    }
  }
  return rows;
}

/// Arrays of one axis: values by line and pixel, and their positions.
class AxisArrays {
 public:
  AxisArrays(const LineGrid& lines, const Mesh& mesh, Communicator& servers) : lines_(lines), mesh_(mesh) {
    const std::string axis(1, "xyz"[lines.along]);
    mine_ = servers.rank() == 0;
    for (const int across : {lines.slow, lines.fast}) {
      if (across < mesh.dimensions) names_.push_back(axis + "_line_" + "xyz"[across]);
    }
    names_.push_back(axis + "_velocity");
  }

  void add_values(DataSet& data, const std::string& name, const GridShape& grid, Bytes rows,
                  Communicator& servers) const {
    const std::array<Index, 3> extents{grid.rows(), lines_.lines(lines_.fast), lines_.cells.extent(lines_.along)};
    const Index begin = grid.first_row(servers.rank(), servers.size());
    const Index end = grid.first_row(servers.rank() + 1, servers.size());
    DataSet::Array array;
    array.name = name;
    array.axes = names_;
    const std::size_t skipped = 3 - names_.size();
    array.extents.assign(extents.begin() + static_cast<Index>(skipped), extents.end());
    array.start.assign(names_.size(), 0);
    array.size = array.extents;
    // On meshes with fewer axes all lines are one row, which one server owns.
    array.start[0] = skipped == 0 ? begin : 0;
    array.size[0] = skipped == 0 ? end - begin : begin < end ? array.extents[0] : 0;
    array.values = std::move(rows);
    data.arrays.push_back(std::move(array));
  }

  void add_places(DataSet& data, double step) const {
    std::size_t name = 0;
    for (const int across : {lines_.slow, lines_.fast}) {
      if (across >= mesh_.dimensions) continue;
      std::vector<double> places;
      for (Index n = 0; n < lines_.lines(across); ++n) {
        const Index index = lines_.cells.lo[static_cast<std::size_t>(across)] + n * lines_.every;
        places.push_back(mesh_.geometry->axes()->position(Centering::cell, across, index));
      }
      add(data, names_[name++], places, {});
    }
    std::vector<double> velocities;
    for (Index n = 0; n < lines_.cells.extent(lines_.along); ++n) {
      velocities.push_back((static_cast<double>(n) + 0.5) * step * 1e-5);
    }
    add(data, names_.back(), velocities, "km/s");
  }

 private:
  void add(DataSet& data, const std::string& name, const std::vector<double>& values, const std::string& unit) const {
    const auto all = static_cast<Index>(values.size());
    data.arrays.push_back({name, Type::float64, {name}, {all}, {0}, {mine_ ? all : 0}, unit, {}, {}});
    if (mine_) data.arrays.back().values = bytes_of(values);
  }

  const LineGrid& lines_;
  const Mesh& mesh_;
  bool mine_ = false;  ///< true if this server provides the positions
  std::vector<std::string> names_;
};

}  // namespace

LineGrid::LineGrid(const Mesh& mesh, int axis, Index number)
    : along(axis), fast(axis == 0 ? 1 : 0), slow(axis == 2 ? 1 : 2), every(number), cells(mesh.cells) {}

Bytes ChosenLines::bytes() const {
  ByteWriter out;
  out.put(axis);
  out.put(low);
  out.put(high);
  out.put(depths);
  return out.take();
}

ChosenLines ChosenLines::from(BytesView bytes) {
  ChosenLines lines;
  ByteReader in(bytes);
  in.get(lines.axis);
  in.get(lines.low);
  in.get(lines.high);
  in.get(lines.depths);
  return lines;
}

void write_lines(const LineOutput& how, std::vector<ChosenLines> mine, const Query& query, const Mesh& mesh,
                 const Cosmology& cosmology, const std::vector<double>& factors, Communicator& servers,
                 Results& results) {
  DataSet data;
  data.attributes.push_back({"redshift", cosmology.redshift});
  for (std::size_t a = 0; a < query.axes.size(); ++a) {
    const std::string axis(1, "xyz"[query.axes[a]]);
    const LineGrid lines(mesh, query.axes[a], how.every);
    const GridShape grid({lines.lines(lines.slow), lines.lines(lines.fast)});
    std::vector<ChosenLines> parts;
    for (ChosenLines& part : mine) {
      if (part.axis == static_cast<std::int64_t>(a)) parts.push_back(std::move(part));
    }
    Bytes depths = own_rows(lines, grid, parts, servers);
    parts.clear();
    const auto count = static_cast<Index>(depths.size() / sizeof(double));
    const AxisArrays arrays(lines, mesh, servers);
    if (how.has("flux")) {
      Bytes flux(depths.size());
      transmit(reals_in(depths), factors[a], count, reals_in(flux));
      arrays.add_values(data, "flux_" + axis, grid, std::move(flux), servers);
    }
    if (how.has("depth")) {
      for (Index n = 0; n < count; ++n) reals_in(depths)[n] *= factors[a];
      arrays.add_values(data, "depth_" + axis, grid, std::move(depths), servers);
    }
    const double side = query.setup.box.lengths[static_cast<std::size_t>(query.axes[a])] * query.length_unit;
    arrays.add_places(data, cosmology.velocity(side) / static_cast<double>(lines.cells.extent(query.axes[a])));
    data.attributes.push_back({"factor_" + axis, factors[a]});
  }
  results.add_parts(how.file, data, servers, how.pieces);
}

}  // namespace sidestream::lyman_alpha
