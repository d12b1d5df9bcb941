// Length-limited canonical Huffman codes.
//
//   1. Depths of a Huffman tree by the two-queue method (van Leeuwen 1976): leaves ascend by count, and so do the
//      joined nodes. The two smallest counts are therefore always at the fronts of the queues.
//   2. Depths beyond 10 bits are cut. That overfills the code space: the sum of 2^-length must be at most 1 (Kraft).
//      The rarest symbols get longer codes until it fits; then the most frequent ones get shorter codes while there is
//      room. This is close to the optimum (package-merge) and simpler.
//   3. Only lengths are stored. Codes follow from them in canonical order (Schwartz and Kallick 1964). Their bits are
//      reversed, because streams are read from the lowest bit.
//   4. Decoding is one look-up in a table of 2^10 entries.
#include "amr_codec/values/code_table.hpp"

#include <algorithm>
#include <vector>

#include "amr_codec/values/stream_parts.hpp"

namespace sidestream::trees {

namespace {

/// The share of the code space that a code of length `bits` takes, in units of the share of a longest code (Kraft).
constexpr unsigned share_of(unsigned bits) noexcept { return 1u << (longest_code - bits); }

struct Node {
  std::uint64_t count;
  std::size_t parent;
};

/// Depths of the leaves of a Huffman tree for ascending counts, by the two-queue method.
std::vector<unsigned> depths_of(const std::vector<std::uint64_t>& counts) {
  const std::size_t leaves = counts.size();
  std::vector<Node> nodes;
  for (const std::uint64_t count : counts) nodes.push_back({count, 0});
  std::size_t leaf = 0, joined = leaves;
  const auto least = [&] {
    if (leaf < leaves && (joined == nodes.size() || nodes[leaf].count <= nodes[joined].count)) return leaf++;
    return joined++;
  };
  while (nodes.size() < 2 * leaves - 1) {
    const std::size_t a = least(), b = least();
    nodes[a].parent = nodes[b].parent = nodes.size();
    nodes.push_back({nodes[a].count + nodes[b].count, 0});
  }
  std::vector<unsigned> depths(nodes.size(), 0);
  for (std::size_t n = nodes.size() - 1; n-- > 0;) depths[n] = depths[nodes[n].parent] + 1;
  depths.resize(leaves);
  return depths;
}

/// Limits depths to the longest code. Rare kinds are lengthened to make room; then frequent ones are shortened again.
void limit(std::vector<unsigned>& depths) {
  unsigned taken = 0;
  for (unsigned& depth : depths) {
    depth = std::min(depth, longest_code);
    taken += share_of(depth);
  }
  const unsigned all = share_of(0);
  while (taken > all) {
    const auto one = std::find_if(depths.begin(), depths.end(), [](unsigned depth) { return depth < longest_code; });
    taken -= share_of(*one);
    taken += share_of(++*one);
  }
  for (auto one = depths.rbegin(); one != depths.rend() && taken < all; ++one) {
    while (*one > 1 && taken + share_of(*one) <= all) {
      taken += share_of(*one);
      --*one;
    }
  }
}

std::uint32_t reversed(std::uint32_t code, unsigned bits) noexcept {
  std::uint32_t out = 0;
  for (unsigned n = 0; n < bits; ++n) out |= (code >> n & 1) << (bits - 1 - n);
  return out;
}

}  // namespace

CodeTable code_for(const SymbolCounts& counts) {
  std::vector<std::size_t> used;
  for (std::size_t n = 0; n < counts.size(); ++n) {
    if (counts[n] > 0) used.push_back(n);
  }
  CodeTable table;
  if (used.empty()) return table;
  table.first = static_cast<std::uint8_t>(used.front());
  table.last = static_cast<std::uint8_t>(used.back());
  if (used.size() == 1) return table;
  std::stable_sort(used.begin(), used.end(), [&](std::size_t a, std::size_t b) { return counts[a] < counts[b]; });
  std::vector<std::uint64_t> ascending;
  for (const std::size_t symbol : used) ascending.push_back(counts[symbol]);
  std::vector<unsigned> depths = depths_of(ascending);
  limit(depths);
  for (std::size_t n = 0; n < used.size(); ++n) table.bits[used[n]] = static_cast<std::uint8_t>(depths[n]);
  return table;
}

std::uint64_t coded_bits(const CodeTable& table, const SymbolCounts& counts) noexcept {
  std::uint64_t bits = 0;
  for (std::size_t n = 0; n < counts.size(); ++n) bits += std::uint64_t{counts[n]} * table.bits[n];
  return bits;
}

void put_table(const CodeTable& table, Bytes& out) {
  put_byte(table.first, out);
  put_byte(table.last, out);
  if (table.empty() || table.single()) return;
  for (std::size_t n = table.first; n <= table.last; ++n) put_byte(table.bits[n], out);
}

CodeTable take_table(BytesView& stream) {
  CodeTable table;
  table.first = take_byte(stream);
  table.last = take_byte(stream);
  if (table.empty() || table.single()) {
    if (table.first >= code_symbols) fail_damaged("has a number beyond any type");
    return table;
  }
  if (table.last >= code_symbols) fail_damaged("has a number beyond any type");
  unsigned taken = 0;
  for (std::size_t n = table.first; n <= table.last; ++n) {
    table.bits[n] = take_byte(stream);
    if (table.bits[n] > longest_code) fail_damaged("has a code that is too long");
    if (table.bits[n] > 0) taken += share_of(table.bits[n]);
  }
  if (taken > share_of(0)) fail_damaged("has more codes than there are");
  return table;
}

namespace {

/// Calls f(kind, code with the first bit lowest, length) in the canonical order: by length, then by kind.
template <class F>
void each_code(const CodeTable& table, F&& f) noexcept {
  std::array<std::uint32_t, longest_code + 1> next{};
  for (std::size_t n = table.first; n <= table.last; ++n) ++next[table.bits[n]];
  std::uint32_t code = 0;
  for (unsigned bits = 1; bits <= longest_code; ++bits) {
    const std::uint32_t count = next[bits];
    next[bits] = code;
    code = (code + count) << 1;
  }
  for (std::size_t n = table.first; n <= table.last; ++n) {
    const unsigned bits = table.bits[n];
    if (bits > 0) f(n, reversed(next[bits]++, bits), bits);
  }
}

}  // namespace

CodeWords code_words(const CodeTable& table) noexcept {
  CodeWords words{};
  if (table.empty() || table.single()) return words;
  each_code(table, [&](std::size_t number, std::uint32_t code, unsigned bits) {
    words[number] = code | std::uint32_t{bits} << 16;
  });
  return words;
}

void fill_decoder(const CodeTable& table, std::span<std::uint16_t, decode_entries> entries) noexcept {
  const unsigned alone = table.single() ? 0 : longest_code;
  std::fill(entries.begin(), entries.end(), static_cast<std::uint16_t>(unsigned{table.first} << 4 | alone));
  if (table.empty() || table.single()) return;
  each_code(table, [&](std::size_t number, std::uint32_t code, unsigned bits) {
    const auto entry = static_cast<std::uint16_t>(number << 4 | bits);
    for (std::size_t n = code; n < entries.size(); n += std::size_t{1} << bits) entries[n] = entry;
  });
}

}  // namespace sidestream::trees
