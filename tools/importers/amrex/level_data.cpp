// Values of a level of a plotfile, and the extremes of its boxes.
// Extremes are in Cell_H: two tables, each with BOXES,COMPONENTS and a line of numbers per box.
#include "importers/amrex/level_data.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstring>
#include <string_view>

#include "importers/amrex/text_reader.hpp"
#include "sidestream/data/array.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "storage/database/segment.hpp"

namespace sidestream::amrex {

namespace {

constexpr std::uint64_t header_bytes = 4096;
constexpr std::int64_t most_components = 100'000;

/// Parses ((8, (64 11 52 0 1 12 0 1023)),(8, (8 7 6 5 4 3 2 1)))
NumberFormat read_format(TextReader& in) {
  constexpr std::array<std::int64_t, 8> single{32, 8, 23, 0, 1, 9, 0, 127}, full{64, 11, 52, 0, 1, 12, 0, 1023};
  const char* what = "format of numbers";
  std::array<std::int64_t, 8> bits{};
  in.expect('(', what);
  in.expect('(', what);
  static_cast<void>(in.whole(what, 8, 8));
  in.expect(',', what);
  in.expect('(', what);
  for (std::int64_t& one : bits) one = in.whole(what, 0, 1 << 20);
  in.expect(')', what);
  in.expect(')', what);
  if (bits != single && bits != full) in.complain(what, "numbers that are not IEEE 754 of 32 or 64 bits");
  NumberFormat found;
  found.type = bits == full ? Type::float64 : Type::float32;
  in.expect(',', what);
  in.expect('(', what);
  const auto width = static_cast<std::int64_t>(size_of(found.type));
  static_cast<void>(in.whole(what, width, width));
  in.expect(',', what);
  in.expect('(', what);
  unsigned seen = 0;
  for (std::int64_t n = 0; n < width; ++n) {
    found.order[static_cast<std::size_t>(n)] = static_cast<std::uint8_t>(in.whole(what, 1, width));
    seen |= 1u << found.order[static_cast<std::size_t>(n)];
  }
  if (seen != (1u << (width + 1)) - 2) in.complain(what, "an order of bytes in which one is there twice");
  in.expect(')', what);
  in.expect(')', what);
  in.expect(')', what);
  return found;
}

/// Converts bytes from the file's order to this machine's.
void reorder(std::span<std::byte> bytes, const NumberFormat& format) {
  const std::size_t width = size_of(format.type);
  // This machine is little-endian: byte `order` of the file, from the highest, goes to width - order.
  bool same = true;
  for (std::size_t n = 0; n < width; ++n) same = same && width - format.order[n] == n;
  if (same) return;
  std::array<std::byte, 8> number;
  for (std::size_t at = 0; at + width <= bytes.size(); at += width) {
    for (std::size_t n = 0; n < width; ++n) number[width - format.order[n]] = bytes[at + n];
    std::memcpy(bytes.data() + at, number.data(), width);
  }
}

struct FabHeader {
  NumberFormat format;
  Box box;  ///< including ghosts
  std::uint64_t begin = 0;
};

/// Parses FAB FORMAT BOX COMPONENTS, and a new line.
FabHeader read_header(const LevelData& level, const FabPlace& fab, const database::PlacedFile& file) {
  const std::uint64_t size = file.size();
  if (fab.offset >= size)
    fail(Code::file, "'{}' ends before byte {}, where a box begins; it was cut off", file.path(), fab.offset);
  std::string text(std::min(header_bytes, size - fab.offset), '\0');
  file.read(fab.offset, std::as_writable_bytes(std::span(text.data(), text.size())));
  text.resize(std::min(text.find('\n'), text.size() - 1) + 1);
  TextReader in(text, fmt::format("{} at byte {}", file.path(), fab.offset));
  const std::string first = text.substr(0, 3);
  if (first != "FAB" || text.size() < 5 || text[3] != ' ') {
    in.complain("FAB", fmt::format("found '{}', expected FAB with numbers in binary form", text.substr(0, 20)));
  }
  static_cast<void>(in.word("FAB"));
  FabHeader found;
  found.format = read_format(in);
  Centering centering{};
  found.box = in.points("box", level.dimensions, centering);
  if (centering != level.centering) in.complain("box", "its values lie elsewhere than those of other boxes");
  static_cast<void>(in.whole("components", level.components, level.components));
  found.begin = fab.offset + text.size();
  return found;
}

Box with_ghosts(const FabPlace& fab, const LevelData& level) {
  Box box = points_of(level.centering, fab.cells);
  for (int a = 0; a < level.dimensions; ++a) {
    box.lo[static_cast<std::size_t>(a)] -= level.ghosts[static_cast<std::size_t>(a)];
    box.hi[static_cast<std::size_t>(a)] += level.ghosts[static_cast<std::size_t>(a)];
  }
  return box;
}

FabHeader header_of(const LevelData& level, const FabPlace& fab, const database::PlacedFile& file) {
  if (level.bare) return {level.format, with_ghosts(fab, level), fab.offset};
  FabHeader header = read_header(level, fab, file);
  if (!(header.box == with_ghosts(fab, level))) {
    fail(Code::file, "'{}' at byte {}: the box is not the one that {}_H lists", file.path(), fab.offset, level.name);
  }
  return header;
}

void read_list(TextReader& in, LevelData& level) {
  constexpr std::int64_t most_boxes = std::int64_t{1} << 32;
  in.expect('(', "boxes");
  const std::int64_t count = in.whole("number of boxes", 0, most_boxes);
  static_cast<void>(in.whole("boxes", 0, INT64_MAX));
  for (std::int64_t n = 0; n < count; ++n) {
    Centering centering{};
    Box cells = in.points("box", level.dimensions, centering);
    if (n > 0 && centering != level.centering) in.complain("box", "its values lie elsewhere than those of other boxes");
    level.centering = centering;
    for (int a = 0; a < level.dimensions; ++a) cells.hi[static_cast<std::size_t>(a)] -= at_nodes(centering, a) ? 1 : 0;
    if (cells.empty()) in.complain("box", "there is no cell between its nodes");
    level.fabs.push_back({cells, {}, 0});
  }
  in.expect(')', "boxes");
}

void read_places(TextReader& in, LevelData& level) {
  const auto count = static_cast<std::int64_t>(level.fabs.size());
  static_cast<void>(in.whole("number of FabOnDisk", count, count));
  for (FabPlace& fab : level.fabs) {
    if (in.word("FabOnDisk:") != "FabOnDisk:") in.complain("FabOnDisk:", "found something else");
    fab.file = in.word("name of a file");
    if (fab.file.find('/') != std::string::npos) {
      in.complain("name of a file", fmt::format("found '{}', expected one beside {}_H", fab.file, level.name));
    }
    fab.offset = static_cast<std::uint64_t>(in.whole("offset", 0, INT64_MAX));
  }
}

}  // namespace

LevelData read_boxes(const std::string& base, int dimensions) {
  const std::string path = base + "_H", text = read_text(path, most_text);
  TextReader in(text, path);
  LevelData level;
  const std::size_t slash = base.rfind('/');
  level.folder = base.substr(0, slash);
  level.name = base.substr(slash + 1);
  level.dimensions = dimensions;
  const std::int64_t version = in.whole("version", 1, 4);
  level.bare = version > 1;
  static_cast<void>(in.whole("how", 0, 1000));
  level.components = static_cast<int>(in.whole("components", 1, most_components));
  if (in.next_is('(')) {
    level.ghosts = in.indices("ghosts", level.dimensions);
  } else {
    const Index all = in.whole("ghosts", 0, 1 << 20);
    for (int a = 0; a < level.dimensions; ++a) level.ghosts[static_cast<std::size_t>(a)] = all;
  }
  for (const Index one : level.ghosts) {
    if (one < 0 || one > 1 << 20) in.complain("ghosts", fmt::format("found {}", one));
  }
  read_list(in, level);
  read_places(in, level);
  if (version == 1 || version == 3) level.extremes = in.offset();
  if (level.bare) {
    const std::size_t format = text.find("((", in.offset());
    if (format == std::string::npos) in.complain("format of numbers", "there is none, and boxes have no headers");
    const std::string rest = text.substr(format);
    TextReader end(rest, path + ", the format of numbers");
    level.format = read_format(end);
  }
  return level;
}

LevelData read_level_data(const Plotfile& plotfile, std::size_t number) {
  const PlotLevel& about = plotfile.levels.at(number);
  const std::string base = plotfile.path(about.data);
  LevelData level = read_boxes(base, plotfile.dimensions);
  const auto expect = [&](const char* what, std::size_t found, std::size_t expected) {
    if (found == expected) return;
    fail(Code::file, "'{}_H' has {} {}, but the Header says {}; the file is damaged", base, found, what, expected);
  };
  expect("components", static_cast<std::size_t>(level.components), plotfile.variables.size());
  expect("boxes", level.fabs.size(), about.boxes);
  if (level.centering != Centering::cell)
    fail(Code::file, "'{}_H' has values at nodes or faces, but those that the Header lists are in cells", base);
  for (const FabPlace& fab : level.fabs) {
    if (!about.domain.contains(fab.cells))
      fail(Code::file, "'{}_H' lists a box that reaches out of the level's domain", base);
  }
  return level;
}

Type type_of(const LevelData& level, std::size_t fab) {
  if (level.bare) return level.format.type;
  const FabPlace& place = level.fabs.at(fab);
  return read_header(level, place, database::PlacedFile(level.folder + "/" + place.file)).format.type;
}

namespace {

/// The values of a box in its file.
class FabValues {
 public:
  FabValues(const LevelData& level, const FabPlace& place, Type type)
      : file_(level.folder + "/" + place.file), header_(header_of(level, place, file_)), type_(type) {
    if (header_.format.type != type) {
      fail(Code::file, "'{}' at byte {}: numbers of type {}, but other boxes have {}", file_.path(), place.offset,
           name_of(header_.format.type), name_of(type));
    }
    const std::uint64_t bytes = packed_bytes(header_.box, 1, type), size = file_.size();
    if (header_.begin > size || (size - header_.begin) / static_cast<std::uint64_t>(level.components) < bytes) {
      fail(Code::file, "'{}' ends within the box that begins at byte {}; it was cut off", file_.path(), place.offset);
    }
  }

  /// Reads the planes that contain `points`, which are contiguous, then selects the points.
  void read(int component, const Box& points, std::span<std::byte> out) {
    Box planes = header_.box;
    planes.lo[2] = points.lo[2];
    planes.hi[2] = points.hi[2];
    raw_.resize(packed_bytes(planes, 1, type_));
    const std::uint64_t plane = raw_.size() / static_cast<std::uint64_t>(planes.extent(2)),
                        first = static_cast<std::uint64_t>(component) * packed_bytes(header_.box, 1, type_) +
                                static_cast<std::uint64_t>(points.lo[2] - header_.box.lo[2]) * plane;
    file_.read(header_.begin + first, raw_);
    reorder(raw_, header_.format);
    ArrayView all;
    all.data = raw_.data();
    all.type = type_;
    all.box = planes;
    all.strides = packed_strides(planes, 1, Order::column);
    pack(all, points, Order::column, out);
  }

 private:
  database::PlacedFile file_;
  FabHeader header_;
  Type type_;
  Bytes raw_;
};

}  // namespace

std::vector<Bytes> read_fab(const LevelData& level, std::size_t fab, Type type) {
  const FabPlace& place = level.fabs.at(fab);
  FabValues values(level, place, type);
  std::vector<Bytes> components;
  const Box points = points_of(level.centering, place.cells);
  for (int c = 0; c < level.components; ++c) {
    Bytes own(packed_bytes(points, 1, type));
    values.read(c, points, own);
    components.push_back(std::move(own));
  }
  return components;
}

void read_component(const LevelData& level, std::size_t fab, int component, const Box& cells, Type type,
                    std::span<std::byte> out) {
  FabValues(level, level.fabs.at(fab), type).read(component, cells, out);
}

namespace {

/// A printed number and the unit of its last digit, since it was rounded there.
struct Written {
  double number = 0, last_digit = 0;
};

Written read_written(std::string_view text, double number) {
  if (!std::isfinite(number)) return {number, 0};
  const std::size_t e = text.find_first_of("eE"), point = text.find('.');
  const std::string_view mantissa = text.substr(0, e);
  const auto behind = point == std::string_view::npos ? 0 : static_cast<int>(mantissa.size() - point - 1);
  int exponent = 0;
  if (e != std::string_view::npos) {
    const std::string_view digits = text.substr(text[e + 1] == '+' ? e + 2 : e + 1);
    std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
  }
  return {number, std::pow(10.0, exponent - behind)};
}

/// Reads numbers followed by commas, independent of line ends, up to the first that is invalid.
class Table {
 public:
  explicit Table(std::string_view text) : text_(text) {}

  /// Returns the table if it has the expected numbers of rows and columns; empty otherwise.
  std::vector<std::vector<Written>> take(std::size_t rows, std::size_t columns) {
    const auto first = next(','), second = next('\n');
    if (!first || first->number != static_cast<double>(rows)) return {};
    if (!second || second->number != static_cast<double>(columns)) return {};
    std::vector<std::vector<Written>> found(rows);
    for (auto& row : found) {
      for (std::size_t c = 0; c < columns; ++c) {
        const auto number = next(',');
        if (!number) return {};
        row.push_back(*number);
      }
    }
    return found;
  }

 private:
  std::optional<Written> next(char behind) {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\r')) ++at_;
    if (at_ < text_.size() && text_[at_] == '+') ++at_;
    double number = 0;
    const auto [end, problem] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), number);
    if (problem != std::errc()) return std::nullopt;
    const std::size_t begin = at_;
    at_ = static_cast<std::size_t>(end - text_.data());
    const Written written = read_written(text_.substr(begin, at_ - begin), number);
    while (behind == '\n' && at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\r')) ++at_;
    if (at_ >= text_.size() || text_[at_++] != behind) return std::nullopt;
    return written;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

double beyond(const Written& x, double sign, Type type) {
  const double part = type == Type::float32 ? 1e-6 : 1e-14, least = type == Type::float32 ? 1e-44 : 1e-322;
  return std::isinf(x.number) ? x.number : x.number + sign * (std::fabs(x.number) * part + x.last_digit + least);
}

}  // namespace

std::vector<std::vector<Range>> read_ranges(const LevelData& level) {
  if (!level.extremes || level.fabs.empty()) return {};
  const std::string text = read_text(level.folder + "/" + level.name + "_H", most_text);
  if (*level.extremes > text.size()) return {};
  Table table(std::string_view(text).substr(*level.extremes));
  const auto components = static_cast<std::size_t>(level.components);
  const auto least = table.take(level.fabs.size(), components);
  const auto greatest = least.empty() ? least : table.take(level.fabs.size(), components);
  if (greatest.empty()) return {};
  const Type type = type_of(level, 0);
  std::vector<std::vector<Range>> ranges(level.fabs.size(), std::vector<Range>(components));
  for (std::size_t box = 0; box < ranges.size(); ++box) {
    for (std::size_t c = 0; c < components; ++c) {
      const Written &low = least[box][c], &high = greatest[box][c];
      if (!(low.number <= high.number)) return {};
      ranges[box][c] = {beyond(low, -1, type), beyond(high, 1, type)};
    }
  }
  return ranges;
}

}  // namespace sidestream::amrex
