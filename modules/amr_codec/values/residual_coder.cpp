// Entropy coder for residuals (modules/amr_codec/stream-format.md, "Predicted", has the bytes).
//
//   1. Context. A residual is expected to be about as long as the residuals of its siblings, and as the change between
//      the parents around it suggests (expected_lengths.hpp). The expected length divides the residuals of each child
//      into up to four classes, with limits at the quantiles of a sample. Each other source (means, shared faces,
//      divergence, closures) has one class.
//   2. Kinds. Each class has its own canonical Huffman code (code_table.hpp) for the kinds, which give the length and
//      the second bit. A class with nearly constant kinds stores them as a packed list instead.
//   3. Low bits look random and are stored as they are.
//
// The writer first collects all kinds and expected lengths of the chunk, because limits and codes depend on all of
// them. Then it writes low bits, lanes of codes, head and lists. The reader is fed tile by tile and computes the same
// expected lengths as it goes. Elias-gamma codes and JPEG's coefficients split numbers into length and mantissa bits in
// the same way.
#include "amr_codec/values/residual_coder.hpp"

#include <algorithm>
#include <cstring>

#include "amr_codec/values/length_loops.hpp"
#include "amr_codec/values/stream_parts.hpp"

namespace sidestream::trees {

using namespace length_loops;

namespace {

/// Least numbers of residuals for four classes per child, two, or one; below, their codes take more than they save.
constexpr std::size_t four_classes_from = 16384, two_classes_from = 4096, one_class_from = 512;
/// Every eighth expected length is looked at to choose the limits of classes.
constexpr std::size_t looked_at = 8;
/// Mark in the head: the code is not used, and its kinds are in a list.
constexpr std::uint8_t unused = 254, in_list = 255;
/// Mean bits of a code below which a compressor may find repetitions.
constexpr double worth_a_list = 1.25;
constexpr int list_level = 3;

unsigned digits_of(std::size_t size) noexcept { return size == 4 ? 24 : 53; }

void pack_part(const Bytes& part, int level, Packer& packer, Bytes& out) {
  Bytes packed;
  packer.pack({as_bytes(part), part.size()}, level, packed);
  put_number(part.size(), out);
  put_number(packed.size(), out);
  out.insert(out.end(), packed.begin(), packed.end());
}

/// Unpacks a part to at most `most` bytes.
std::vector<std::uint8_t> unpack_part(BytesView& stream, std::size_t most) {
  const std::uint64_t size = take_number(stream), packed = take_number(stream);
  if (size > most) fail_damaged("has a list of too many numbers");
  std::vector<std::uint8_t> part(static_cast<std::size_t>(size));
  unpack(take_bytes(stream, packed), part);
  return part;
}

/// True if residuals may have this code.
bool has_code(std::size_t code, std::size_t classes) noexcept {
  if (code >= slope_codes) return true;
  return classes == 0 ? code == 0 : code % most_classes < classes;
}

template <class T>
void put_plain(T value, Bytes& out) {
  const std::size_t at = out.size();
  out.resize(at + sizeof value);
  std::memcpy(out.data() + at, &value, sizeof value);
}

template <class T>
T take_plain(BytesView& stream) {
  T value;
  std::memcpy(&value, take_bytes(stream, sizeof value).data(), sizeof value);
  return value;
}

}  // namespace

ResidualWriter::ResidualWriter(std::size_t numbers, std::size_t size)
    : digits_(digits_of(size)),
      size_(size),
      numbers_(new std::byte[numbers * size]),
      kinds_(new std::uint8_t[numbers]),
      marks_(new std::uint16_t[numbers]) {}

void ResidualWriter::begin_tile(const double* change, const double* parent, std::size_t count) {
  expected_.begin(change, parent, count, digits_);
}

template <class W>
void ResidualWriter::put(std::size_t step, const TileSources& tile) {
  std::uint8_t* const kinds = kinds_.get() + count_;
  std::uint16_t* const marks = marks_.get() + count_;
  find_kinds(reinterpret_cast<const W*>(next_residuals()), tile.count, kinds);
  const auto mark = [](Source from) { return static_cast<std::uint16_t>(first_mark + static_cast<unsigned>(from)); };
  if (tile.uniform && tile.from[0] != Source::slope) {
    std::fill_n(marks, tile.count, mark(tile.from[0]));
  } else {
    const LengthEstimates& estimates = expected_.next();
    std::copy_n(estimates.data(), tile.count, marks);
    for (std::size_t g = 0; !tile.uniform && g < tile.count; ++g) {
      marks[g] = tile.from[g] == Source::slope ? marks[g] : mark(tile.from[g]);
    }
  }
  expected_.add(tile, kinds);
  rows_.push_back({static_cast<std::uint8_t>(step), static_cast<std::uint16_t>(tile.count)});
  count_ += tile.count;
}

template void ResidualWriter::put<std::uint32_t>(std::size_t, const TileSources&);
template void ResidualWriter::put<std::uint64_t>(std::size_t, const TileSources&);

// Classes get about as many residuals each.
void ResidualWriter::choose_classes() {
  for (auto& limits : limits_) limits.fill(first_mark);
  classes_ = count_ >= four_classes_from ? 4 : count_ >= two_classes_from ? 2 : count_ >= one_class_from ? 1 : 0;
  if (classes_ > 1) choose_limits();
}

void ResidualWriter::choose_limits() {
  constexpr std::size_t width = 4;
  std::array<std::array<std::uint32_t, first_mark / width / 16>, 8> found{};
  const std::uint16_t* marks = marks_.get();
  for (const Row& row : rows_) {
    for (std::size_t g = 0; g < row.count; g += looked_at) {
      if (marks[g] < first_mark) ++found[row.step][std::min(marks[g] / width, found[0].size() - 1)];
    }
    marks += row.count;
  }
  for (std::size_t step = 0; step < found.size(); ++step) {
    std::size_t all = 0, below = 0, next = 0;
    for (const std::uint32_t count : found[step]) all += count;
    for (std::size_t n = 0; n < found[step].size() && all > 0; ++n) {
      below += found[step][n];
      while (next + 1 < classes_ && below * classes_ >= all * (next + 1)) {
        limits_[step][next++] = static_cast<std::uint16_t>(width * (n + 1));
      }
    }
  }
}

void ResidualWriter::count_kinds() {
  for (SymbolCounts& counts : counts_) counts.fill(0);
  LengthRow codes;
  std::size_t first = 0;
  for (const Row& row : rows_) {
    std::uint16_t* const marks = marks_.get() + first;
    choose_codes(marks, row.count, classes_ == 0 ? 0 : row.step, limits_[row.step], codes.data());
    join_symbols(codes.data(), kinds_.get() + first, row.count, marks);
    first += row.count;
  }
  count_symbols(marks_.get(), count_, counts_[0].data());
}

void ResidualWriter::find_codes() {
  choose_classes();
  count_kinds();
  for (std::size_t n = 0; n < length_codes; ++n) {
    tables_[n] = code_for(counts_[n]);
    words_[n] = code_words(tables_[n]);
  }
}

// If nearly all residuals have the same kind, a packed list may take less than the one bit that a code needs.
void ResidualWriter::put_head(Packer& packer, Bytes& out) {
  Bytes head, lists;
  put_byte(static_cast<std::uint8_t>(classes_), head);
  for (const auto& limits : limits_) {
    for (std::size_t n = 1; n < classes_; ++n) put_plain(limits[n - 1], head);
  }
  for (std::size_t n = 0; n < length_codes; ++n) {
    if (!has_code(n, classes_)) continue;
    std::uint64_t count = 0;
    for (const std::uint32_t one : counts_[n]) count += one;
    const std::uint64_t bits = coded_bits(tables_[n], counts_[n]);
    if (tables_[n].empty()) {
      put_byte(unused, head);
      continue;
    }
    if (!tables_[n].single() && static_cast<double>(bits) < worth_a_list * static_cast<double>(count)) {
      Bytes list, packed;
      for (std::size_t k = 0; k < count_; ++k) {
        if (marks_[k] / code_symbols == n) put_byte(kinds_[k], list);
      }
      pack_part(list, list_level, packer, packed);
      if (8 * packed.size() < bits) {
        lists.insert(lists.end(), packed.begin(), packed.end());
        put_byte(in_list, head);
        words_[n] = {};
        continue;
      }
    }
    put_table(tables_[n], head);
  }
  pack_part(head, 0, packer, out);
  out.insert(out.end(), lists.begin(), lists.end());
}

std::size_t ResidualWriter::put_lane(std::size_t lane, std::uint8_t* to) const noexcept {
  BitWriter writer(to);
  std::size_t first = 0;
  for (const Row& row : rows_) {
    if (row.count > lane) {
      write_lane(marks_.get() + first + lane, row.count - lane, words_[0].data(), writer);
    }
    first += row.count;
  }
  return writer.finish();
}

void ResidualWriter::put_codes(Bytes& out) const {
  const std::size_t lane_bytes = (count_ / lanes + rows_.size() + 1) * longest_code / 8 + 1 + bit_slack;
  const std::unique_ptr<std::uint8_t[]> bytes(new std::uint8_t[lanes * lane_bytes]);
  std::array<std::uint32_t, lanes> sizes{};
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    sizes[lane] = static_cast<std::uint32_t>(put_lane(lane, bytes.get() + lane * lane_bytes));
    put_number(sizes[lane], out);
  }
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    const auto* from = reinterpret_cast<const std::byte*>(bytes.get() + lane * lane_bytes);
    out.insert(out.end(), from, from + sizes[lane]);
  }
}

template <class W>
void ResidualWriter::put_low_bits(Bytes& out) const {
  const std::unique_ptr<std::uint8_t[]> low(new std::uint8_t[count_]);
  const std::uint64_t bits = find_low_bits(kinds_.get(), count_, low.get());
  put_number((bits + 7) / 8, out);
  const std::size_t at = out.size(), bytes = static_cast<std::size_t>((bits + 7) / 8);
  out.resize(at + bytes + bit_slack);
  write_low_bits(reinterpret_cast<const W*>(numbers_.get()), low.get(), count_,
                 reinterpret_cast<std::uint8_t*>(out.data()) + at);
  out.resize(at + bytes);
}

template <class W>
void ResidualWriter::finish(Packer& packer, Bytes& out) {
  find_codes();
  Bytes head;
  put_head(packer, head);
  put_low_bits<W>(out);
  put_codes(out);
  out.insert(out.end(), head.begin(), head.end());
}

template void ResidualWriter::finish<std::uint32_t>(Packer&, Bytes&);
template void ResidualWriter::finish<std::uint64_t>(Packer&, Bytes&);

ResidualReader::ResidualReader(BytesView stream, std::size_t numbers, std::size_t size)
    : digits_(digits_of(size)), greatest_(static_cast<unsigned>(16 * size - 1)) {
  const std::uint64_t bytes = take_number(stream);
  const BytesView bits = take_bytes(stream, bytes);
  if (stream.size() < bit_slack) fail_damaged("ends early");  // readers touch bytes behind the bits
  bits_ = as_bytes(bits);
  bit_count_ = 8 * bytes;
  std::array<std::uint64_t, lanes> sizes;
  std::uint64_t all = 0;
  for (std::uint64_t& one : sizes) {
    one = take_number(stream);
    if (one > stream.size()) fail_damaged("ends early");
    all += one;
  }
  const BytesView codes = take_bytes(stream, all);
  code_bytes_.resize(codes.size() + code_slack);
  if (!codes.empty()) std::memcpy(code_bytes_.data(), codes.data(), codes.size());
  std::uint64_t at = 0;
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    lanes_[lane] = {code_bytes_.data() + at, 0};
    lane_ends_[lane] = 8 * sizes[lane];
    at += sizes[lane];
  }
  take_lists(stream, numbers);
}

void ResidualReader::take_limits(BytesView& head) {
  classes_ = take_byte(head);
  if (classes_ > most_classes) fail_damaged("has too many classes of lengths");
  for (auto& limits : limits_) {
    limits.fill(first_mark);
    for (std::size_t n = 1; n < classes_; ++n) limits[n - 1] = take_plain<std::uint16_t>(head);
    // Ascending limits keep choose_codes() within the classes.
    if (!std::is_sorted(limits.begin(), limits.end())) fail_damaged("has classes of lengths in disorder");
  }
}

void ResidualReader::take_code(std::size_t number, BytesView& head, BytesView& lists, std::size_t numbers) {
  CodeTable table;
  table.first = table.last = 0;
  const bool there = has_code(number, classes_);
  if (there && head.empty()) fail_damaged("ends early");
  const std::uint8_t first = there ? std::to_integer<std::uint8_t>(head[0]) : unused;
  if (there && first >= unused) head = head.subspan(1);
  if (first == in_list) {
    lists_[number] = unpack_part(lists, numbers);
    const std::vector<std::uint8_t>& list = lists_[number];
    if (list.empty() || *std::max_element(list.begin(), list.end()) > greatest_) {
      fail_damaged("has a length beyond its type");
    }
    any_listed_ = true;
  } else if (first != unused) {
    table = take_table(head);
    if (table.empty() || table.last > greatest_) fail_damaged("has a length beyond its type");
  }
  const std::span all(decoders_.get() + number * decode_entries, decode_entries);
  fill_decoder(table, std::span<std::uint16_t, decode_entries>(all));
}

void ResidualReader::take_lists(BytesView stream, std::size_t numbers) {
  constexpr std::size_t most = 1 + sizeof(ClassLimits) + length_codes * (2 + code_symbols);
  const std::vector<std::uint8_t> bytes = unpack_part(stream, most);
  BytesView head = std::as_bytes(std::span(bytes));
  take_limits(head);
  decoders_.reset(new std::uint16_t[length_codes * decode_entries]);
  for (std::size_t n = 0; n < length_codes; ++n) take_code(n, head, stream, numbers);
  if (!head.empty() || !stream.empty()) fail_damaged("has more bytes than its lists");
}

void ResidualReader::begin_tile(const double* change, const double* parent, std::size_t count) {
  expected_.begin(change, parent, count, digits_);
}

void ResidualReader::take_listed(const LengthRow& codes, std::size_t count, LengthRow& kinds) {
  for (std::size_t g = 0; g < count; ++g) {
    const std::vector<std::uint8_t>& list = lists_[codes[g]];
    if (list.empty()) continue;
    std::size_t& next = listed_[codes[g]];
    if (next == list.size()) fail_damaged("has fewer lengths than values");
    kinds[g] = list[next++];
  }
}

template <class W>
void ResidualReader::take(std::size_t step, const TileSources& tile, W* numbers) {
  LengthRow codes, kinds;
  const auto code_of = [](Source from) {
    return static_cast<std::uint8_t>(slope_codes - 1 + static_cast<std::size_t>(from));
  };
  if (tile.uniform && tile.from[0] != Source::slope) {
    std::fill_n(codes.begin(), tile.count, code_of(tile.from[0]));
  } else {
    choose_codes(expected_.next().data(), tile.count, classes_ == 0 ? 0 : step, limits_[step], codes.data());
    for (std::size_t g = 0; !tile.uniform && g < tile.count; ++g) {
      codes[g] = tile.from[g] == Source::slope ? codes[g] : code_of(tile.from[g]);
    }
  }
  read_codes(lanes_, decoders_.get(), codes.data(), tile.count, kinds.data());
  if (any_listed_) take_listed(codes, tile.count, kinds);
  std::uint64_t needed = 0;
  bool enough = true;
  for (std::size_t g = 0; g < tile.count; ++g) needed += low_bits_of(kinds[g]);
  for (std::size_t lane = 0; lane < lanes; ++lane) enough = enough && lanes_[lane].place <= lane_ends_[lane];
  if (!enough || needed > bit_count_ - place_) fail_damaged("has fewer bits than its lengths say");
  place_ = read_numbers(bits_, place_, kinds.data(), tile.count, numbers);
  expected_.add(tile, kinds.data());
}

template void ResidualReader::take(std::size_t, const TileSources&, std::uint32_t*);
template void ResidualReader::take(std::size_t, const TileSources&, std::uint64_t*);

void ResidualReader::finish() const {
  bool all = bit_count_ - place_ < 8;
  for (std::size_t lane = 0; lane < lanes; ++lane) all = all && lane_ends_[lane] - lanes_[lane].place < 8;
  for (std::size_t n = 0; n < length_codes; ++n) all = all && listed_[n] == lists_[n].size();
  if (!all) fail_damaged("has more bits than its values");
}

}  // namespace sidestream::trees
