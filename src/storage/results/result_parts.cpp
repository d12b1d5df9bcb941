// Results of several servers as one: gathered on rank 0 and joined, or written in pieces when they are large.
//
// 1. in_pieces: decides by the sum of bytes, which is collective; the limit is the same for all kinds.
// 2. gather and joined: parts in the order of servers. Points and links of later parts are shifted; arrays of data sets
//    are copied to their place.
// 3. check_parts: columns and arrays must agree, and parts of a data set must cover it without overlap. A difference is
//    an Error(analysis) that names the servers.
// add_parts is collective; rank 0 adds the result, and an error reaches all.
#include "storage/results/result_parts.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>

#include "base/mpi/agree.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "storage/results/result_bytes.hpp"

namespace sidestream {

namespace {

constexpr std::int64_t most_in_one_file = std::int64_t{64} << 20;

template <class Result>
std::vector<Result> gather(const Result& mine, Communicator& servers) {
  std::vector<Bytes> gathered = servers.gather(servers.rank() != 0 ? packed(mine) : Bytes(), 0);
  std::vector<Result> parts;
  if (servers.rank() != 0) return parts;
  parts.reserve(gathered.size());
  parts.push_back(mine);  // not sent
  for (std::size_t n = 1; n < gathered.size(); ++n) {
    parts.push_back(unpacked<Result>(gathered[n]));
    Bytes().swap(gathered[n]);
  }
  return parts;
}

template <class Result>
void add_gathered(Results& results, const std::string& file, const Result& mine, Communicator& servers) {
  std::vector<Result> parts = gather(mine, servers);
  run_collectively(servers, [&] {
    if (servers.rank() == 0) results.add(file, joined(std::move(parts)));
  });
}

template <class T>
void append(std::vector<T>& to, const std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

/// Appends the cells of a part whose points follow those already in the whole.
void append_cells(const CellSet& part, CellSet& whole) {
  const auto points = static_cast<std::int64_t>(whole.points.size());
  const auto links = static_cast<std::int64_t>(whole.links.size());
  const auto faces = static_cast<std::int64_t>(whole.faces.size());
  if (!part.face_ends.empty()) whole.face_ends.resize(whole.types.size(), -1);
  append(whole.types, part.types);
  for (const std::int64_t end : part.ends) whole.ends.push_back(links + end);
  for (const std::int64_t point : part.links) whole.links.push_back(points + point);
  for (const std::int64_t end : part.face_ends) whole.face_ends.push_back(end < 0 ? -1 : faces + end);
  if (!whole.face_ends.empty()) whole.face_ends.resize(whole.types.size(), -1);
  std::size_t at = 0;
  while (at < part.faces.size()) {
    const std::int64_t count = part.faces[at++];
    whole.faces.push_back(count);
    for (std::int64_t f = 0; f < count && at < part.faces.size(); ++f) {
      const std::int64_t corners = part.faces[at++];
      whole.faces.push_back(corners);
      for (std::int64_t c = 0; c < corners && at < part.faces.size(); ++c) {
        whole.faces.push_back(points + part.faces[at++]);
      }
    }
  }
}

bool same_columns(const Table& a, const Table& b) {
  return std::equal(a.columns().begin(), a.columns().end(), b.columns().begin(), b.columns().end(),
                    [&](const Column& x, const Column& y) {
                      // Columns without rows have no type yet.
                      return x.name == y.name && (x.values.index() == y.values.index() || a.rows() == 0);
                    });
}

bool same_arrays(const DataSet& a, const DataSet& b) {
  return std::equal(a.arrays.begin(), a.arrays.end(), b.arrays.begin(), b.arrays.end(),
                    [](const auto& x, const auto& y) {
                      return x.name == y.name && x.type == y.type && x.extents == y.extents && x.axes == y.axes;
                    });
}

Index product(const std::vector<Index>& extents) {
  return std::accumulate(extents.begin(), extents.end(), Index{1}, std::multiplies<>());
}

bool overlap(const DataSet::Array& a, const DataSet::Array& b) {
  const auto a_start = start_of(a), b_start = start_of(b);
  const auto &a_size = size_of_part(a), &b_size = size_of_part(b);
  for (std::size_t n = 0; n < a.extents.size(); ++n) {
    if (std::max(a_start[n], b_start[n]) >= std::min(a_start[n] + a_size[n], b_start[n] + b_size[n])) return false;
  }
  return true;
}

/// Copies a part to its place, line by line.
void place(const DataSet::Array& part, DataSet::Array& whole) {
  const auto start = start_of(part);
  const auto& size = size_of_part(part);
  if (part.values.empty()) return;
  const std::size_t axes = size.size(), element = size_of(part.type);
  const std::size_t line = element * static_cast<std::size_t>(axes > 0 ? size.back() : 1);
  std::vector<Index> at(axes, 0);
  for (std::size_t from = 0; from < part.values.size(); from += line) {
    Index to = 0;
    for (std::size_t a = 0; a < axes; ++a) to = to * whole.extents[a] + start[a] + at[a];
    std::memcpy(&whole.values[static_cast<std::size_t>(to) * element], &part.values[from], line);
    for (std::size_t a = axes - (axes > 0 ? 1 : 0); a-- > 0;) {
      if (++at[a] < size[a]) break;
      at[a] = 0;
    }
  }
}

}  // namespace

std::vector<Table> gather_parts(const Table& mine, Communicator& servers) { return gather(mine, servers); }
std::vector<Surface> gather_parts(const Surface& mine, Communicator& servers) { return gather(mine, servers); }
std::vector<DataSet> gather_parts(const DataSet& mine, Communicator& servers) { return gather(mine, servers); }

Table joined(std::vector<Table> parts) {
  if (parts.empty()) return {};
  const auto typed = std::find_if(parts.begin(), parts.end(), [](const Table& part) { return part.rows() > 0; });
  if (typed == parts.end()) return std::move(parts.front());
  std::vector<Column> columns = typed->columns();
  for (auto part = parts.begin(); part != parts.end(); ++part) {
    if (!same_columns(*part, *typed)) {
      fail(Code::analysis,
           "the parts of a table have other columns on server {} than on server {}; give the same on all",
           part - parts.begin(), typed - parts.begin());
    }
    if (part <= typed) continue;
    for (std::size_t c = 0; part->rows() > 0 && c < columns.size(); ++c) {
      std::visit([&](auto& all) { append(all, std::get<std::decay_t<decltype(all)>>(part->columns()[c].values)); },
                 columns[c].values);
    }
    *part = {};
  }
  return Table(std::move(columns));
}

Surface joined(std::vector<Surface> parts) {
  if (parts.empty()) return {};
  Surface whole = std::move(parts.front());
  for (std::size_t n = 1; n < parts.size(); ++n) {
    Surface part = std::move(parts[n]);
    const auto first = static_cast<std::int64_t>(whole.points.size());
    append(whole.points, part.points);
    for (auto& triangle : part.triangles) {
      for (std::int64_t& point : triangle) point += first;
    }
    for (auto& line : part.lines) {
      for (std::int64_t& point : line) point += first;
    }
    append(whole.triangles, part.triangles);
    append(whole.lines, part.lines);
    if (part.point_data.size() != whole.point_data.size()) {
      fail(Code::analysis, "the parts of a surface have {} arrays on server {}, {} on server 0; give the same on all",
           part.point_data.size(), n, whole.point_data.size());
    }
    for (std::size_t a = 0; a < part.point_data.size(); ++a) {
      append(whole.point_data[a].values, part.point_data[a].values);
    }
  }
  return whole;
}

CellSet joined(std::vector<CellSet> parts) {
  if (parts.empty()) return {};
  CellSet whole = std::move(parts.front());
  for (std::size_t n = 1; n < parts.size(); ++n) {
    CellSet part = std::move(parts[n]);
    if (part.point_data.size() != whole.point_data.size() || part.cell_data.size() != whole.cell_data.size()) {
      fail(Code::analysis,
           "the parts of a set of cells have {} arrays at points and {} in cells on server {}, {} and {} on server 0; "
           "give the same on all",
           part.point_data.size(), part.cell_data.size(), n, whole.point_data.size(), whole.cell_data.size());
    }
    append_cells(part, whole);
    append(whole.points, part.points);
    for (std::size_t a = 0; a < part.point_data.size(); ++a) {
      append(whole.point_data[a].values, part.point_data[a].values);
    }
    for (std::size_t a = 0; a < part.cell_data.size(); ++a) {
      append(whole.cell_data[a].values, part.cell_data[a].values);
    }
  }
  return whole;
}

DataSet joined(const std::vector<DataSet>& parts) {
  if (parts.empty()) return {};
  for (const DataSet& part : parts) {
    for (const DataSet::Array& array : part.arrays) check_array(array);
  }
  check_parts(parts);
  DataSet whole = without_values(parts.front());
  for (std::size_t a = 0; a < whole.arrays.size(); ++a) {
    DataSet::Array& array = whole.arrays[a];
    array.start.clear();
    array.size.clear();
    array.values.resize(static_cast<std::size_t>(product(array.extents)) * size_of(array.type));
    for (const DataSet& part : parts) place(part.arrays[a], array);
  }
  return whole;
}

std::vector<Index> start_of(const DataSet::Array& array) {
  return array.start.empty() ? std::vector<Index>(array.extents.size(), 0) : array.start;
}

const std::vector<Index>& size_of_part(const DataSet::Array& array) {
  return array.size.empty() ? array.extents : array.size;
}

void check_array(const DataSet::Array& array) {
  const auto start = start_of(array);
  const auto& size = size_of_part(array);
  const std::size_t axes = array.extents.size();
  if (axes == 0) fail(Code::analysis, "the array '{}' has no axes; give one at least, of one entry", array.name);
  if (array.axes.size() != axes || start.size() != axes || size.size() != axes) {
    fail(Code::analysis, "the array '{}' has {} extents, {} names of axes, and a part of {} to {} axes; give as many",
         array.name, axes, array.axes.size(), start.size(), size.size());
  }
  for (std::size_t a = 0; a < axes; ++a) {
    if (start[a] >= 0 && size[a] >= 0 && start[a] <= array.extents[a] - size[a]) continue;
    fail(Code::analysis, "the part of the array '{}' begins at {} on the axis '{}' and has {} of its {} entries",
         array.name, start[a], array.axes[a], size[a], array.extents[a]);
  }
  const auto expected = static_cast<std::uint64_t>(product(size)) * size_of(array.type);
  if (array.values.size() != expected) {
    fail(Code::analysis, "the array '{}' has {} bytes, expected {} for the part that it gives", array.name,
         array.values.size(), expected);
  }
}

void check_parts(std::span<const DataSet> parts) {
  for (std::size_t n = 1; n < parts.size(); ++n) {
    if (same_arrays(parts[n], parts[0])) continue;
    fail(Code::analysis,
         "the parts of a data set have other arrays on server {} than on server 0; give the same on all", n);
  }
  for (std::size_t a = 0; !parts.empty() && a < parts[0].arrays.size(); ++a) {
    Index covered = 0;
    for (std::size_t n = 0; n < parts.size(); ++n) {
      const DataSet::Array& part = parts[n].arrays[a];
      covered += product(size_of_part(part));
      for (std::size_t m = 0; m < n; ++m) {
        if (!overlap(part, parts[m].arrays[a])) continue;
        fail(Code::analysis, "the parts of the array '{}' on servers {} and {} overlap; give each value once",
             part.name, m, n);
      }
    }
    if (const Index all = product(parts[0].arrays[a].extents); covered != all) {
      fail(Code::analysis, "the parts of the array '{}' have {} of its {} values; give all", parts[0].arrays[a].name,
           covered, all);
    }
  }
}

DataSet without_values(const DataSet& data) {
  DataSet bare{{}, data.attributes};
  for (const DataSet::Array& array : data.arrays) {
    bare.arrays.push_back(
        {array.name, array.type, array.axes, array.extents, array.start, array.size, array.unit, array.attributes, {}});
  }
  return bare;
}

std::uint64_t bytes_of(const Table& table) {
  std::uint64_t bytes = 0;
  for (const Column& column : table.columns()) {
    if (const auto* texts = std::get_if<std::vector<std::string>>(&column.values)) {
      for (const std::string& text : *texts) bytes += text.size() + sizeof text;
    } else {
      bytes += table.rows() * sizeof(double);
    }
  }
  return bytes;
}

std::uint64_t bytes_of(const SurfaceStream& surface) {
  std::uint64_t bytes = 24 * (surface.points() + surface.triangles()) + 16 * surface.lines();
  for (const Surface::Array& array : surface.outline().point_data) {
    bytes += surface.points() * static_cast<std::uint64_t>(array.components) * sizeof(double);
  }
  return bytes;
}

std::uint64_t bytes_of(const CellSet& cells) {
  std::uint64_t bytes = 24 * cells.points.size() + cells.types.size();
  for (const auto* numbers : {&cells.ends, &cells.links, &cells.faces, &cells.face_ends}) bytes += 8 * numbers->size();
  for (const auto* arrays : {&cells.point_data, &cells.cell_data}) {
    for (const Surface::Array& array : *arrays) bytes += array.values.size() * sizeof(double);
  }
  return bytes;
}

std::uint64_t bytes_of(const DataSet& data) {
  std::uint64_t bytes = 0;
  for (const DataSet::Array& array : data.arrays) bytes += array.values.size();
  return bytes;
}

bool in_pieces(Pieces how, std::uint64_t bytes, Communicator& servers) {
  if (how != Pieces::automatic) return how == Pieces::always;
  std::int64_t all = static_cast<std::int64_t>(bytes);
  servers.sum({&all, 1});
  return all > most_in_one_file;
}

void Results::add_parts(const std::string& file, const Table& mine, Communicator& servers, Pieces) {
  add_gathered(*this, file, mine, servers);
}

void Results::add_parts(const std::string& file, const Surface& mine, Communicator& servers, Pieces) {
  add_gathered(*this, file, mine, servers);
}

void Results::add_parts(const std::string& file, const CellSet& mine, Communicator& servers, Pieces) {
  add_gathered(*this, file, mine, servers);
}

void Results::add_parts(const std::string& file, const DataSet& mine, Communicator& servers, Pieces) {
  add_gathered(*this, file, mine, servers);
}

void Results::add_stream(const std::string& file, const SurfaceStream& surface) { add(file, collected(surface)); }

void Results::add_stream_parts(const std::string& file, const SurfaceStream& mine, Communicator& servers, Pieces how) {
  add_parts(file, collected(mine), servers, how);
}

void check_surface(const std::string& file, const Surface& surface) {
  check_texts(file, surface.point_data);
  for (const Surface::Array& array : surface.point_data) {
    const std::size_t expected = surface.points.size() * static_cast<std::size_t>(std::max(array.components, 0));
    if (array.components >= 1 && array.values.size() == expected) continue;
    fail(Code::analysis,
         "the surface for '{}' has {} points, but its array '{}' of {} components has {} values; the analysis that "
         "made it must give one tuple a point",
         file, surface.points.size(), array.name, array.components, array.values.size());
  }
}

}  // namespace sidestream
