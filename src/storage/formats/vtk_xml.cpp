// Elements of VTK XML files.
//
// VtkArray writes an array as base64 text, in parts, without holding all values. Uncompressed: the size in bytes, then
// the values, as one text. Compressed: a header with the sizes of all blocks is reserved, blocks of 1 MiB are packed
// with zlib one after the other, and `finish` writes the header into its place.
#include "storage/formats/vtk_xml.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "sidestream/kit/base/fail.hpp"

namespace sidestream {

namespace {

/// Size of compressed blocks: readers can unpack a part, and the writer need not hold all values.
constexpr std::size_t block_size = 1u << 20;

/// XML comments must contain neither two hyphens in a row nor control characters.
std::string as_comment(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '-' && !out.empty() && out.back() == '-') {
      out += "&#45;";
    } else {
      out += code < 32 && c != '\n' && c != '\t' ? ' ' : c;
    }
  }
  return out;
}

}  // namespace

std::string_view vtk_type_name(Type type) noexcept {
  constexpr std::string_view names[type_count] = {"Int8",   "Int16",  "Int32",  "Int64",   "UInt8",
                                                  "UInt16", "UInt32", "UInt64", "Float32", "Float64"};
  return names[static_cast<int>(type)];
}

std::string xml_escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += static_cast<unsigned char>(c) < 32 ? ' ' : c;
    }
  }
  return out;
}

std::string vtk_extent(const Box& cells, int dimensions) {
  const auto last = [&](int a) { return a < dimensions ? cells.hi[a] : cells.lo[a]; };
  return fmt::format("{} {} {} {} {} {}", cells.lo[0], last(0), cells.lo[1], last(1), cells.lo[2], last(2));
}

void write_vtk_head(OutputFile& file, std::string_view kind, const std::string& provenance,
                    VtkCompression compression) {
  file.write("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
  if (!provenance.empty()) file.write(fmt::format("<!--\n{}\n-->\n", as_comment(provenance)));
  file.write(fmt::format("<VTKFile type=\"{}\" version=\"1.0\" byte_order=\"{}\" header_type=\"UInt64\"{}>\n", kind,
                         std::endian::native == std::endian::little ? "LittleEndian" : "BigEndian",
                         compression.level > 0 ? " compressor=\"vtkZLibDataCompressor\"" : ""));
}

void write_vtk_tail(OutputFile& file) { file.write("</VTKFile>\n"); }

void write_vtk_iteration(OutputFile& file, const Iteration& iteration, std::span<const double> level_times) {
  // Numbers are decimal, since people read them, in the shortest form that reads back to the same double.
  const auto field = [&](std::string_view name, std::string_view type, const std::string& values,
                         std::size_t count = 1) {
    file.write(fmt::format("<DataArray type=\"{}\" Name=\"{}\" NumberOfTuples=\"{}\" format=\"ascii\">{}</DataArray>\n",
                           type, name, count, values));
  };
  file.write("<FieldData>\n");
  field("TimeValue", "Float64", fmt::format("{}", iteration.time));
  field("CYCLE", "Int64", fmt::format("{}", iteration.cycle));
  field("ITERATION", "Int64", fmt::format("{}", iteration.index));
  if (!level_times.empty()) {
    field("level_times", "Float64", fmt::format("{}", fmt::join(level_times, " ")), level_times.size());
  }
  file.write("</FieldData>\n");
}

VtkArray::VtkArray(OutputFile& file, std::string_view name, Type type, int components, std::uint64_t bytes,
                   VtkCompression compression, std::string_view attributes)
    : file_(file), text_(file), compression_(compression) {
  file_.write(fmt::format("<DataArray type=\"{}\"{} Name=\"{}\" NumberOfComponents=\"{}\" format=\"binary\">\n",
                          vtk_type_name(type), attributes, xml_escaped(name), components));
  if (compression_.level == 0) {
    // Size and values form one base64 text.
    text_.append(std::as_bytes(std::span(&bytes, 1)));
    return;
  }
  // Compressed arrays store the sizes as a separate base64 text, whose length is known before the content.
  header_.assign(3 + (bytes + block_size - 1) / block_size, 0);
  header_[0] = header_.size() - 3;
  header_[1] = block_size;
  header_[2] = bytes % block_size;
  header_at_ = file_.position();
  file_.write(std::string(base64_size(header_.size() * sizeof(std::uint64_t)), 'A'));
  plain_.reserve(std::min<std::uint64_t>(bytes, block_size));
}

void VtkArray::append(std::span<const std::byte> bytes) {
  if (compression_.level == 0) return text_.append(bytes);
  while (!bytes.empty()) {
    const auto part = bytes.first(std::min(bytes.size(), block_size - plain_.size()));
    plain_.insert(plain_.end(), part.begin(), part.end());
    bytes = bytes.subspan(part.size());
    if (plain_.size() == block_size) compress_block();
  }
}

void VtkArray::compress_block() {
  packed_.resize(::compressBound(plain_.size()));
  uLongf size = packed_.size();
  const int status = ::compress2(reinterpret_cast<Bytef*>(packed_.data()), &size,
                                 reinterpret_cast<const Bytef*>(plain_.data()), plain_.size(), compression_.level);
  if (status != Z_OK) fail(Code::system, "zlib could not compress {} bytes (status {})", plain_.size(), status);
  if (3 + block_ >= header_.size()) fail(Code::internal, "a VTK array got more values than announced");
  header_[3 + block_++] = size;
  text_.append(std::span(packed_).first(size));
  plain_.clear();
}

void VtkArray::finish() {
  if (!plain_.empty()) compress_block();
  text_.finish();
  if (compression_.level > 0) {
    const auto bytes = std::as_bytes(std::span(header_));
    std::string text(base64_size(bytes.size()), 'A');
    base64_encode(bytes, text.data());
    file_.patch(header_at_, text);
  }
  file_.write("\n</DataArray>\n");
}

void write_vtk_counting(OutputFile& file, std::string_view name, Index first, Index step, Index count,
                        VtkCompression compression) {
  VtkArray out(file, name, Type::int64, 1, static_cast<std::uint64_t>(count) * sizeof(std::int64_t), compression);
  std::vector<std::int64_t> part;
  for (Index n = 0; n < count; n += static_cast<Index>(part.size())) {
    part.resize(static_cast<std::size_t>(std::min<Index>(4096, count - n)));
    for (std::size_t i = 0; i < part.size(); ++i) part[i] = first + step * (n + static_cast<Index>(i));
    out.append(std::as_bytes(std::span(part)));
  }
  out.finish();
}

namespace {

constexpr char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Two characters for each 12-bit value, so that three bytes need two look-ups.
constexpr auto pairs = [] {
  std::array<std::array<char, 2>, 4096> table{};
  for (std::size_t n = 0; n < table.size(); ++n) table[n] = {alphabet[n >> 6], alphabet[n & 63]};
  return table;
}();

constexpr std::size_t part_size = 3u << 16;  ///< bytes encoded at a time; a multiple of three

}  // namespace

void base64_encode(std::span<const std::byte> bytes, char* out) noexcept {
  const auto* in = reinterpret_cast<const unsigned char*>(bytes.data());
  std::size_t left = bytes.size();
  for (; left >= 3; left -= 3, in += 3, out += 4) {
    const unsigned value = unsigned{in[0]} << 16 | unsigned{in[1]} << 8 | in[2];
    std::memcpy(out, pairs[value >> 12].data(), 2);
    std::memcpy(out + 2, pairs[value & 4095].data(), 2);
  }
  if (left == 0) return;
  const unsigned value = unsigned{in[0]} << 16 | (left == 2 ? unsigned{in[1]} << 8 : 0u);
  std::memcpy(out, pairs[value >> 12].data(), 2);
  out[2] = left == 2 ? alphabet[value >> 6 & 63] : '=';
  out[3] = '=';
}

void Base64Stream::append(std::span<const std::byte> bytes) {
  if (rest_size_ > 0) {
    const std::size_t taken = std::min(3 - rest_size_, bytes.size());
    std::copy_n(bytes.begin(), taken, rest_.begin() + static_cast<std::ptrdiff_t>(rest_size_));
    rest_size_ += taken;
    bytes = bytes.subspan(taken);
    if (rest_size_ < 3) return;
    encode(rest_);
  }
  while (bytes.size() >= 3) {
    const std::size_t size = std::min(part_size, bytes.size() / 3 * 3);
    encode(bytes.first(size));
    bytes = bytes.subspan(size);
  }
  rest_size_ = bytes.size();
  std::copy(bytes.begin(), bytes.end(), rest_.begin());
}

void Base64Stream::finish() {
  encode(std::span(rest_).first(rest_size_));
  rest_size_ = 0;
}

void Base64Stream::encode(std::span<const std::byte> bytes) {
  text_.resize(base64_size(bytes.size()));
  base64_encode(bytes, text_.data());
  file_.write(text_);
}

}  // namespace sidestream
