#include "storage/codecs/packing.hpp"

#include <algorithm>

#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/waiting.hpp"

namespace sidestream {

namespace {

constexpr std::size_t slices = 4, slice_bytes = 4096;
/// Smallest saving that pays for the decoding in every reader.
constexpr double least_saving = 0.05;

/// Takes parts from all over the chunk. Each part consists of whole elements of any type.
Bytes sample_of(BytesView raw) {
  Bytes sample;
  sample.reserve(slices * slice_bytes);
  const std::size_t apart = raw.size() / slices / 8 * 8;
  for (std::size_t n = 0; n < slices; ++n) {
    const BytesView slice = raw.subspan(n * apart, slice_bytes);
    sample.insert(sample.end(), slice.begin(), slice.end());
  }
  return sample;
}

}  // namespace

Packing::Packing(std::vector<std::vector<std::string>> lists, Type type, const CodecKinds& kinds)
    : lists_(std::move(lists)), samples_(lists_.size() > 1) {
  for (const std::vector<std::string>& list : lists_) pipelines_.emplace_back(list, type, kinds);
}

Packing Packing::chosen(const std::vector<std::string>& names, Type type, const CodecKinds& kinds,
                        const std::string& precision) {
  std::vector<std::vector<std::string>> lists{names};
  if (std::find(names.begin(), names.end(), "auto") != names.end()) {
    if (names.size() > 1) {
      fail(Code::configuration,
           "found 'auto' beside other codecs, expected only 'auto': it chooses among them; remove one");
    }
    const std::string packer = kinds.contains("zstd") ? "zstd" : "gzip";
    lists = {{packer}, {"byte-shuffle", packer}};
  }
  if (!precision.empty()) {
    const bool packs = Pipeline({precision}, type, kinds).packs();
    for (std::vector<std::string>& list : lists) list.insert(list.begin(), precision);
    if (packs) lists = {{precision}};
  }
  return Packing(std::move(lists), type, kinds);
}

bool Packing::lossless() const {
  return std::all_of(pipelines_.begin(), pipelines_.end(), [](const Pipeline& one) { return one.lossless(); });
}

/// Returns the index of the list that makes a sample smallest or, if the server is late, minimises encoding and writing
/// time. Returns the number of lists if none pays.
std::size_t Packing::best(BytesView raw, const PackingPace& pace) const {
  const bool whole = raw.size() <= 2 * slices * slice_bytes;
  const Bytes sample = whole ? Bytes(raw.begin(), raw.end()) : sample_of(raw);
  const auto size = static_cast<double>(sample.size());
  std::size_t chosen = pipelines_.size();
  double least = pace.hurries ? pace.writing * size : (1 - least_saving) * size;
  Bytes out;
  for (std::size_t n = 0; n < pipelines_.size(); ++n) {
    const double start = now();
    const bool packed = pipelines_[n].encode(sample, out);
    const double took = (now() - start) / pace.threads;
    if (!packed) continue;
    const auto made = static_cast<double>(out.size());
    const double cost = pace.hurries ? took + pace.writing * made : made;
    if (cost >= least) continue;
    least = cost;
    chosen = n;
  }
  return chosen;
}

std::uint32_t Packing::encode(BytesView raw, Bytes& out, const PackingPace& pace, const ChunkPlace& place) const {
  const std::size_t list = samples_ ? best(raw, pace) : 0;
  if (list >= pipelines_.size() || !pipelines_[list].encode(raw, out, place)) return 0;
  return static_cast<std::uint32_t>(list) + 1;
}

void Packing::decode(std::uint32_t list, BytesView in, std::span<std::byte> raw) const {
  if (list == 0 || list > pipelines_.size()) {
    fail(Code::file, "a chunk that went through list {} of codecs where there are {}; it is damaged", list,
         pipelines_.size());
  }
  pipelines_[list - 1].decode(in, raw);
}

}  // namespace sidestream
