#include "compare.hpp"

#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <map>
#include <stdexcept>

#include "amr_codec/values/packer.hpp"

namespace benchmark {

using namespace sidestream;

namespace {

struct Sizes {
  double raw = 0, paper = 0, zstd = 0, shuffled = 0, zstd_3 = 0, shuffled_3 = 0, ours = 0, plain = 0;
  std::array<int, 7> methods{};
  void add(const Sizes& other) {
    raw += other.raw;
    paper += other.paper;
    zstd += other.zstd;
    shuffled += other.shuffled;
    zstd_3 += other.zstd_3;
    shuffled_3 += other.shuffled_3;
    ours += other.ours;
    plain += other.plain;
    for (std::size_t n = 0; n < methods.size(); ++n) methods[n] += other.methods[n];
  }
};

double zstd_size(BytesView bytes, int level) {
  std::vector<std::byte> out(ZSTD_compressBound(bytes.size()));
  return static_cast<double>(ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), level));
}

double coded_size(const Chunk& one, const Relations& relations, const TreeCoding& coding, Sizes* sizes) {
  const Bytes stream = encode_tree_values(one.values, one.chunk, relations, coding);
  Bytes back(one.values.size());
  decode_tree_values(stream, one.chunk, relations, back);
  if (!std::equal(back.begin(), back.end(), one.values.begin())) throw std::runtime_error("bits were lost");
  if (sizes != nullptr) ++sizes->methods[static_cast<std::size_t>(tree_stream_method(stream))];
  return static_cast<double>(stream.size());
}

Sizes sizes_of(const Chunk& one) {
  Sizes sizes;
  sizes.raw = static_cast<double>(one.values.size());
  sizes.ours = coded_size(one, one.variable->relations, {}, &sizes);
  sizes.plain = coded_size(one, {}, {}, nullptr);
  TreeCoding paper;
  paper.method = TreeMethod::parent_xor;
  paper.header_bits = 4;
  sizes.paper = coded_size(one, {}, paper, nullptr);
  Bytes shuffled;
  trees::shuffle(one.values, size_of(one.chunk.type), shuffled);
  sizes.zstd = zstd_size(one.values, 19);
  sizes.zstd_3 = zstd_size(one.values, 3);
  sizes.shuffled = zstd_size(shuffled, 19);
  sizes.shuffled_3 = zstd_size(shuffled, 3);
  return sizes;
}

double best_of_others(const Sizes& s) { return std::min({s.paper, s.zstd, s.shuffled}); }

void print(const std::string& name, const Sizes& s) {
  const auto saved = [&](double size) { return 100 * (1 - size / s.raw); };
  const double best = best_of_others(s);
  fmt::print("  {:14} {:8.2f} {:8.2f} {:8.2f} {:8.2f} {:8.2f} {:8.2f} {:8.2f} {:9.2f} {:8.3f}  ", name, s.raw / 1e6,
             saved(s.paper), saved(s.zstd_3), saved(s.zstd), saved(s.shuffled_3), saved(s.shuffled), saved(s.plain),
             saved(s.ours), s.ours / best);
  for (std::size_t n = 0; n < s.methods.size(); ++n) {
    if (s.methods[n] > 0) fmt::print(" {} {}", s.methods[n], name_of(static_cast<TreeMethod>(n)));
  }
  fmt::print("\n");
}

}  // namespace

void compare_kinds(const std::vector<MagnetisedKind>& kinds, std::size_t chunk_cells) {
  fmt::print("magnetised gas of several kinds: per cent saved, chunks of {} cells\n", chunk_cells);
  fmt::print("  {:20} {:>8} {:>8} {:>8} {:>8} {:>9}   worst variable to best of others\n", "", "MB", "paper", "sh+z-19",
             "undecl.", "relations");
  for (const MagnetisedKind& kind : kinds) {
    const TreeData tree = make_magnetised(kind);
    std::map<std::string, Sizes> by_variable;
    Sizes all;
    each_chunk(tree, chunk_cells, [&](const Chunk& one) {
      const Sizes sizes = sizes_of(one);
      by_variable[one.variable->name].add(sizes);
      all.add(sizes);
    });
    const auto worst = std::max_element(by_variable.begin(), by_variable.end(), [](const auto& a, const auto& b) {
      return a.second.ours / best_of_others(a.second) < b.second.ours / best_of_others(b.second);
    });
    const auto saved = [&](double size) { return 100 * (1 - size / all.raw); };
    fmt::print("  {:20} {:8.2f} {:8.2f} {:8.2f} {:8.2f} {:9.2f}   {} {:.3f}\n", kind.name, all.raw / 1e6,
               saved(all.paper), saved(all.shuffled), saved(all.plain), saved(all.ours), worst->first,
               worst->second.ours / best_of_others(worst->second));
    std::fflush(stdout);
  }
}

void compare_sizes(const std::string& name, const std::vector<TreeData>& trees, std::size_t chunk_cells) {
  std::map<std::string, Sizes> by_variable;
  Sizes all;
  for (const TreeData& tree : trees) {
    each_chunk(tree, chunk_cells, [&](const Chunk& one) {
      const Sizes sizes = sizes_of(one);
      by_variable[one.variable->name].add(sizes);
      all.add(sizes);
    });
  }
  fmt::print("{}: per cent saved, chunks of {} cells\n", name, chunk_cells);
  fmt::print("  {:14} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>9} {:>8}   chunks\n", "", "MB", "paper", "zstd-3",
             "zstd-19", "sh+z-3", "sh+z-19", "undecl.", "relations", "to best");
  for (const TreeVariable& variable : trees.front().variables) print(variable.name, by_variable[variable.name]);
  print("all", all);
}

}  // namespace benchmark
