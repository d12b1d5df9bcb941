#include "speed.hpp"

#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>

#include "../measure.hpp"
#include "amr_codec/values/packer.hpp"

namespace benchmark {

using namespace sidestream;

namespace {

constexpr int repetitions = 9;

struct Pace {
  std::string name;
  std::function<void()> write, read;
  std::vector<double> writing{}, reading{};
};

void print(const std::string& name, const std::vector<Pace>& paces, std::size_t bytes) {
  fmt::print("  {:16}", name);
  for (const Pace& pace : paces) {
    const auto speed = [&](const std::vector<double>& times) {
      return static_cast<double>(bytes) / median(times) / 1e3;
    };
    fmt::print(" {} {:.2f}/{:.2f} ", pace.name, speed(pace.writing), speed(pace.reading));
  }
  fmt::print("\n");
}

class Coded {
 public:
  Coded(const Chunk& chunk, const Relations& relations, TreeCoding coding)
      : chunk_(chunk), relations_(relations), coding_(std::move(coding)), back_(chunk.values.size()) {}
  void write() { stream_ = encode_tree_values(chunk_.values, chunk_.chunk, relations_, coding_); }
  void read() { decode_tree_values(stream_, chunk_.chunk, relations_, back_); }

 private:
  const Chunk& chunk_;
  const Relations& relations_;
  TreeCoding coding_;
  Bytes stream_{}, back_;
};

class ByZstd {
 public:
  ByZstd(BytesView values, bool shuffled) : values_(values), shuffled_(shuffled), back_(values.size()) {}
  void write() {
    if (shuffled_) trees::shuffle(values_, sizeof(double), moved_);
    const BytesView from = shuffled_ ? BytesView(moved_) : values_;
    packed_.resize(ZSTD_compressBound(from.size()));
    size_ = ZSTD_compress(packed_.data(), packed_.size(), from.data(), from.size(), 3);
  }
  void read() {
    moved_.resize(values_.size());
    Bytes& to = shuffled_ ? moved_ : back_;
    if (ZSTD_decompress(to.data(), to.size(), packed_.data(), size_) != to.size())
      throw std::runtime_error("zstd failed");
    if (shuffled_) trees::unshuffle(moved_, sizeof(double), back_);
  }

 private:
  BytesView values_;
  bool shuffled_;
  Bytes moved_{}, packed_{}, back_;
  std::size_t size_ = 0;
};

void measure(const Chunk& chunk) {
  const Relations& relations = chunk.variable->relations;
  TreeCoding paper, wide, predicted;
  paper.method = wide.method = TreeMethod::parent_xor;
  paper.header_bits = 4;
  predicted.method = TreeMethod::predicted;
  Coded by_paper(chunk, relations, paper), by_xor(chunk, relations, wide), by_prediction(chunk, relations, predicted),
      by_trial(chunk, relations, {});
  ByZstd plain(chunk.values, false), shuffled(chunk.values, true);
  Bytes copy(chunk.values.size()), again(chunk.values.size());
  const auto pace = [](const char* name, auto& coder) {
    return Pace{name, [&coder] { coder.write(); }, [&coder] { coder.read(); }};
  };
  std::vector<Pace> paces{{"memcpy", [&] { std::memcpy(copy.data(), chunk.values.data(), copy.size()); },
                           [&] { std::memcpy(again.data(), copy.data(), copy.size()); }}};
  paces.push_back(pace("xor-4", by_paper));
  paces.push_back(pace("xor-6", by_xor));
  paces.push_back(pace("predicted", by_prediction));
  paces.push_back(pace("by-trial", by_trial));
  paces.push_back(pace("zstd-3", plain));
  paces.push_back(pace("shuffle+zstd-3", shuffled));
  for (int n = 0; n < repetitions; ++n) {
    for (Pace& one : paces) {
      one.writing.push_back(processor_microseconds(one.write));
      one.reading.push_back(processor_microseconds(one.read));
    }
  }
  print(chunk.variable->name, paces, chunk.values.size());
}

}  // namespace

void compare_speed(const std::string& name, const TreeData& tree, std::size_t chunk_cells) {
  fmt::print("{}: GB/s writing/reading, one core, a chunk of at most {} cells\n", name, chunk_cells);
  std::size_t largest = 0;
  for (const auto& level : tree.variables.front().levels)
    largest = std::max(largest, std::min(level.size(), chunk_cells));
  std::vector<std::string> done;
  each_chunk(tree, chunk_cells, [&](const Chunk& chunk) {
    if (chunk.values.size() != largest * sizeof(double)) return;
    if (std::find(done.begin(), done.end(), chunk.variable->name) != done.end()) return;
    done.push_back(chunk.variable->name);
    measure(chunk);
  });
}

}  // namespace benchmark
