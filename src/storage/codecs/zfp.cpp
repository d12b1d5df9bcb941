#include <fmt/format.h>
#include <zfp.h>

#include <charconv>
#include <cmath>
#include <cstring>

#include "sidestream/kit/base/fail.hpp"
#include "storage/codecs/codecs.hpp"

namespace sidestream {

namespace {

zfp_type type_of(Type type) { return type == Type::float32 ? zfp_type_float : zfp_type_double; }

/// The objects of zfp for one chunk, which it sees as a one-dimensional array.
class Stream {
 public:
  Stream(void* bytes, std::size_t size)
      : bits_(stream_open(bytes, size)), stream_(zfp_stream_open(bits_)), field_(zfp_field_alloc()) {
    if (bits_ != nullptr && stream_ != nullptr && field_ != nullptr) return;
    free();
    throw std::bad_alloc();
  }
  ~Stream() { free(); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  void set(void* values, Type type, std::size_t count) {
    zfp_field_set_pointer(field_, values);
    zfp_field_set_type(field_, type_of(type));
    zfp_field_set_size_1d(field_, count);
  }
  [[nodiscard]] zfp_stream* get() const noexcept { return stream_; }
  [[nodiscard]] zfp_field* field() const noexcept { return field_; }

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
bool all_finite(BytesView in) {
  for (std::size_t at = 0; at + sizeof(Real) <= in.size(); at += sizeof(Real)) {
    Real value;
    std::memcpy(&value, in.data() + at, sizeof value);
    if (!std::isfinite(value)) return false;
  }
  return true;
}

template <class Real>
bool within(BytesView a, std::span<const std::byte> b, double bound) {
  for (std::size_t at = 0; at + sizeof(Real) <= a.size(); at += sizeof(Real)) {
    Real x, y;
    std::memcpy(&x, a.data() + at, sizeof x);
    std::memcpy(&y, b.data() + at, sizeof y);
    if (!(std::fabs(static_cast<double>(x) - static_cast<double>(y)) <= bound)) return false;
  }
  return true;
}

class Zfp final : public Codec {
 public:
  explicit Zfp(double bound) : bound_(bound) {}
  std::string name() const override { return "zfp"; }
  bool lossless() const override { return false; }
  bool packs() const override { return true; }
  bool takes(Type type) const override { return type == Type::float32 || type == Type::float64; }

  bool encode(BytesView in, Type type, Bytes& out) const override {
    const bool single = type == Type::float32;
    if (!(single ? all_finite<float>(in) : all_finite<double>(in))) return false;
    const std::size_t count = in.size() / size_of(type);
    if (count == 0) return false;  // zfp has no room for a header then, but writes it nevertheless
    if (!compress(in, type, count, out)) return false;
    // zfp keeps its bound for most numbers, but not beyond its own precision, so each number is checked.
    Bytes back(in.size());
    decode(out, type, back);
    return single ? within<float>(in, back, bound_) : within<double>(in, back, bound_);
  }

  void decode(BytesView in, Type type, std::span<std::byte> out) const override {
    const auto damaged = [&] {
      fail(Code::file, "bytes that zfp cannot have made of {}; they are damaged", out.size());
    };
    // zfp reads whole words without a bounds check, so the bytes are padded with as many zeros as it could ever read.
    const std::size_t count = out.size() / size_of(type);
    if (count == 0) damaged();
    Stream probe(nullptr, 0);
    probe.set(nullptr, type, count);
    zfp_stream_set_accuracy(probe.get(), bound_);
    const std::size_t most = zfp_stream_maximum_size(probe.get(), probe.field()) + sizeof(std::uint64_t);
    if (in.size() > most) damaged();
    Bytes padded(most + sizeof(std::uint64_t));
    std::memcpy(padded.data(), in.data(), in.size());
    Stream stream(padded.data(), padded.size());
    zfp_stream_rewind(stream.get());
    if (zfp_read_header(stream.get(), stream.field(), ZFP_HEADER_FULL) == 0) damaged();
    const zfp_field* found = stream.field();
    const bool right = found->type == type_of(type) && found->nx == count && found->ny == 0 && found->nz == 0 &&
                       found->nw == 0 && zfp_stream_compression_mode(stream.get()) == zfp_mode_fixed_accuracy &&
                       zfp_stream_accuracy(stream.get()) == zfp_stream_accuracy(probe.get());
    if (!right) damaged();
    zfp_field_set_pointer(stream.field(), out.data());
    if (zfp_decompress(stream.get(), stream.field()) == 0) damaged();
  }

 private:
  bool compress(BytesView in, Type type, std::size_t count, Bytes& out) const {
    Stream probe(nullptr, 0);
    probe.set(const_cast<std::byte*>(in.data()), type, count);  // zfp does not write there
    zfp_stream_set_accuracy(probe.get(), bound_);
    out.assign(zfp_stream_maximum_size(probe.get(), probe.field()), std::byte{0});
    Stream stream(out.data(), out.size());
    stream.set(const_cast<std::byte*>(in.data()), type, count);
    zfp_stream_set_accuracy(stream.get(), bound_);
    zfp_stream_rewind(stream.get());
    if (zfp_write_header(stream.get(), stream.field(), ZFP_HEADER_FULL) == 0) return false;
    const std::size_t size = zfp_compress(stream.get(), stream.field());
    out.resize(size);
    return size > 0;
  }

  double bound_;
};

}  // namespace

std::optional<CodecKind> zfp_codec() {
  CodecKind kind;
  kind.name = "zfp";
  kind.argument = "BOUND";
  kind.text =
      "packs reals with an error of at most BOUND (`zfp:1e-3`), checked for each value; chunks with NaN or "
      "infinities stay unchanged. Only if the build has the library zfp.";
  kind.create = [](const std::string& argument) {
    double bound = 0;
    const char* const end = argument.data() + argument.size();
    const auto [stop, error] = std::from_chars(argument.data(), end, bound);
    if (error != std::errc() || stop != end || !std::isfinite(bound) || bound <= 0) {
      fail(Code::configuration,
           "found 'zfp:{}', expected the largest error that is allowed behind the colon, a number above 0, as in "
           "'zfp:1e-3'; write such a number",
           argument);
    }
    return std::make_shared<Zfp>(bound);
  };
  return kind;
}

}  // namespace sidestream
