#include "storage/codecs/zfp_array.hpp"

#include <zfp.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <new>

#include "sidestream/kit/base/fail.hpp"

namespace sidestream {

namespace {

constexpr std::size_t most_header_bytes = 32;  ///< bytes; a header has 148 bits

zfp_type type_of(Type type) { return type == Type::float32 ? zfp_type_float : zfp_type_double; }

/// The objects of zfp for one array.
class Stream {
 public:
  Stream(void* bytes, std::size_t size)
      : bits_(stream_open(bytes, size)), stream_(zfp_stream_open(bits_)), field_(zfp_field_alloc()) {
    if (bits_ != nullptr && stream_ != nullptr && field_ != nullptr) {
      zfp_stream_rewind(stream_);
      return;
    }
    free();
    throw std::bad_alloc();
  }
  ~Stream() { free(); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  /// Axes of one point are omitted, since zfp would pad them to four.
  void set(const void* values, Type type, const ZfpExtents& extents, double bound) {
    ZfpExtents used{1, 1, 1};
    std::size_t axes = 0;
    for (const std::size_t extent : extents) {
      if (extent > 1) used[axes++] = extent;
    }
    zfp_field_set_pointer(field_, const_cast<void*>(values));  // zfp does not write there when it packs
    zfp_field_set_type(field_, type_of(type));
    if (axes < 2) zfp_field_set_size_1d(field_, used[0]);
    if (axes == 2) zfp_field_set_size_2d(field_, used[0], used[1]);
    if (axes == 3) zfp_field_set_size_3d(field_, used[0], used[1], used[2]);
    zfp_stream_set_accuracy(stream_, bound);
  }
  [[nodiscard]] zfp_stream* get() const noexcept { return stream_; }
  [[nodiscard]] zfp_field* field() const noexcept { return field_; }
  [[nodiscard]] std::size_t most() const noexcept { return zfp_stream_maximum_size(stream_, field_); }

 private:
  void free() noexcept {
    if (field_ != nullptr) zfp_field_free(field_);
    if (stream_ != nullptr) zfp_stream_close(stream_);
    if (bits_ != nullptr) stream_close(bits_);
  }
  bitstream* bits_;
  zfp_stream* stream_;
  zfp_field* field_;
};

template <class Real>
Real real_at(BytesView values, std::size_t n) {
  Real value;
  std::memcpy(&value, values.data() + n * sizeof value, sizeof value);
  return value;
}

template <class Real>
bool all_finite(BytesView values) {
  for (std::size_t n = 0; n < values.size() / sizeof(Real); ++n) {
    if (!std::isfinite(real_at<Real>(values, n))) return false;
  }
  return true;
}

template <class Real>
bool within(BytesView a, BytesView b, double bound) {
  for (std::size_t n = 0; n < a.size() / sizeof(Real); ++n) {
    if (!(std::fabs(static_cast<double>(real_at<Real>(a, n)) - static_cast<double>(real_at<Real>(b, n))) <= bound)) {
      return false;
    }
  }
  return true;
}

std::size_t values_of(const zfp_field* field) { return zfp_field_size(field, nullptr); }

/// Unpacks without a header into an array that `stream` describes.
bool unpack(const Stream& stream, void* out) {
  zfp_field_set_pointer(stream.field(), out);
  return zfp_decompress(stream.get(), stream.field()) != 0;
}

[[noreturn]] void fail_damaged(std::size_t bytes) {
  fail(Code::file, "bytes that zfp cannot have made of {}; they are damaged", bytes);
}

}  // namespace

bool has_zfp() noexcept { return true; }

std::optional<Bytes> zfp_packed(BytesView values, Type type, const ZfpExtents& extents, double bound, bool header) {
  const bool single = type == Type::float32;
  if (values.empty() || !(single ? all_finite<float>(values) : all_finite<double>(values))) return std::nullopt;
  Stream probe(nullptr, 0);
  probe.set(values.data(), type, extents, bound);
  if (header && zfp_field_metadata(probe.field()) == ZFP_META_NULL) return std::nullopt;  // too long for a header
  // Behind its input zfp may read a whole word.
  Bytes out(probe.most() + sizeof(std::uint64_t), std::byte{0});
  Stream stream(out.data(), out.size());
  stream.set(values.data(), type, extents, bound);
  if (header && zfp_write_header(stream.get(), stream.field(), ZFP_HEADER_FULL) == 0) return std::nullopt;
  const std::size_t size = zfp_compress(stream.get(), stream.field());
  if (size == 0) return std::nullopt;
  // zfp keeps its bound for most numbers, but not beyond its own precision, so each number is checked.
  Bytes back(values.size());
  Stream again(out.data(), out.size());
  again.set(back.data(), type, extents, bound);
  if (header && zfp_read_header(again.get(), again.field(), ZFP_HEADER_FULL) == 0) return std::nullopt;
  if (!unpack(again, back.data())) return std::nullopt;
  if (!(single ? within<float>(values, back, bound) : within<double>(values, back, bound))) return std::nullopt;
  out.resize(size);
  return out;
}

std::vector<std::uint32_t> zfp_header(Type type, const ZfpExtents& extents, double bound) {
  std::vector<std::uint32_t> words(most_header_bytes / sizeof(std::uint32_t));
  Stream stream(words.data(), most_header_bytes);
  stream.set(nullptr, type, extents, bound);
  const std::size_t bits = zfp_write_header(stream.get(), stream.field(), ZFP_HEADER_FULL);
  zfp_stream_flush(stream.get());
  words.resize((bits + 31) / 32);
  return words;
}

std::uint32_t zfp_filter_version() noexcept {
  constexpr std::uint32_t layout = 0x111;  // of the filter whose parameters these are
  return zfp_library_version << 16 | zfp_codec_version << 12 | layout;
}

ZfpUnpacked zfp_unpacked(BytesView packed, Type type, double bound, std::span<std::byte> out) {
  // The header decides how much is read, so it is checked before memory is allocated.
  Bytes head(most_header_bytes + sizeof(std::uint64_t));
  std::copy_n(packed.begin(), std::min(packed.size(), most_header_bytes), head.begin());
  Stream found(head.data(), head.size()), probe(nullptr, 0);
  if (zfp_read_header(found.get(), found.field(), ZFP_HEADER_FULL) == 0) fail_damaged(out.size());
  const zfp_field* const field = found.field();
  // A factor that is too large cannot hide behind an overflow: a header has 52 bits for all axes.
  const std::size_t values = values_of(field);
  if (field->type != type_of(type) || field->nw != 0 || values == 0 || values > out.size() / size_of(type)) {
    fail_damaged(out.size());
  }
  probe.set(nullptr, type, {field->nx, std::max<std::size_t>(field->ny, 1), std::max<std::size_t>(field->nz, 1)},
            bound);
  if (zfp_stream_compression_mode(found.get()) != zfp_mode_fixed_accuracy ||
      zfp_stream_accuracy(found.get()) != zfp_stream_accuracy(probe.get())) {
    fail_damaged(out.size());
  }
  // zfp reads whole words without a bounds check, so the bytes are padded with as many zeros as it could ever read.
  zfp_field_set_size_3d(probe.field(), field->nx, std::max<std::size_t>(field->ny, 1),
                        std::max<std::size_t>(field->nz, 1));
  const std::size_t most = probe.most() + sizeof(std::uint64_t);
  Bytes padded(most + sizeof(std::uint64_t));
  std::copy_n(packed.begin(), std::min(packed.size(), most), padded.begin());
  Stream stream(padded.data(), padded.size());
  if (zfp_read_header(stream.get(), stream.field(), ZFP_HEADER_FULL) == 0) fail_damaged(out.size());
  zfp_field_set_pointer(stream.field(), out.data());
  const std::size_t bytes = zfp_decompress(stream.get(), stream.field());
  if (bytes == 0 || bytes > packed.size()) fail_damaged(out.size());
  return {values, bytes};
}

}  // namespace sidestream
