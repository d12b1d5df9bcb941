#include "climate/cf/zarr_codecs.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <new>

#include "climate/cf/blosc_frame.hpp"
#include "climate/cf/crc32c.hpp"
#include "sidestream/kit/base/fail.hpp"

namespace sidestream {

namespace {

constexpr int gzip_window = 15 + 16, zlib_window = 15;
constexpr int memory_level = 8;

/// A stream of zlib, which counts bytes in 32 bits and so takes them in pieces. Returns the size, or 0 if it needs more
/// room.
std::size_t deflated(BytesView in, int level, int window, std::span<std::byte> room) {
  z_stream stream{};
  if (::deflateInit2(&stream, level, Z_DEFLATED, window, memory_level, Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::bad_alloc();
  }
  constexpr std::size_t most = std::size_t{1} << 30;
  std::size_t read = 0, written = 0;
  int status = Z_OK;
  while (status == Z_OK && written < room.size()) {
    const std::size_t now = std::min(most, in.size() - read);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(in.data() + read));  // zlib does not write there
    stream.next_out = reinterpret_cast<Bytef*>(room.data() + written);
    stream.avail_in = static_cast<uInt>(now);
    stream.avail_out = static_cast<uInt>(std::min(most, room.size() - written));
    const uInt room_now = stream.avail_out;
    status = ::deflate(&stream, read + now == in.size() ? Z_FINISH : Z_NO_FLUSH);
    read += now - stream.avail_in;
    written += room_now - stream.avail_out;
    if (status == Z_BUF_ERROR) status = Z_OK;  // another piece of the room is left, or none
  }
  ::deflateEnd(&stream);
  return status == Z_STREAM_END ? written : 0;
}

/// Room for a stream of zlib whatever the bytes are, with the header of gzip.
std::size_t deflate_room(std::size_t size) { return size + size / 1000 + 128; }

/// Appends what `pack` makes of the bytes, in at most `most` bytes.
template <class Pack>
void append_packed(Bytes& out, std::size_t most, const char* library, Pack&& pack) {
  const std::size_t begin = out.size();
  out.resize(begin + most);
  const std::size_t size = pack(std::span(out).subspan(begin));
  if (size == 0) fail(Code::file, "{} cannot compress a chunk; choose another `compression`", library);
  out.resize(begin + size);
}

const std::vector<std::pair<std::string, ZarrCodecs::Packer>>& packers() {
  static const std::vector<std::pair<std::string, ZarrCodecs::Packer>> names{
      {"none", ZarrCodecs::Packer::none}, {"gzip", ZarrCodecs::Packer::gzip}, {"zstd", ZarrCodecs::Packer::zstd}};
  return names;
}

/// Checks the options together.
void check_codecs(const OptionTable<ZarrCodecs>& options, const Settings& settings, const Metadata&,
                  ZarrCodecs& codecs) {
  if (codecs.by == ZarrCodecs::Packer::zstd && !has_zstd()) {
    options.fail(settings, &ZarrCodecs::by,
                 "found 'zstd', but this build of Sidestream has no zstd; choose 'gzip', or install libzstd-dev "
                 "(Debian) or zstd (Spack, conda) and build again");
  }
  if (codecs.by != ZarrCodecs::Packer::none) return;
  constexpr const char* without_use =
      "found '{}' without 'compression', which does nothing; choose a compression or remove it";
  if (options.given(settings, &ZarrCodecs::level)) {
    options.fail(settings, &ZarrCodecs::level, fmt::format(without_use, options.name(&ZarrCodecs::level)));
  }
  if (codecs.shuffle) options.fail(settings, &ZarrCodecs::shuffle, fmt::format(without_use, "shuffle"));
}

}  // namespace

JsonObject zarr_named(std::string_view name, const JsonObject& configuration) {
  JsonObject object = zarr_named(name);
  return object.add("configuration", configuration);
}

JsonObject zarr_named(std::string_view name) { return JsonObject().add("name", std::string(name)); }

JsonObject zarr_bytes_codec(Type type) {
  if (size_of(type) > 1) return zarr_named("bytes", JsonObject().add("endian", std::string("little")));
  return zarr_named("bytes");
}

std::vector<JsonObject> ZarrCodecs::described(Type type) const {
  std::vector<JsonObject> list{zarr_bytes_codec(type)};
  if (by != Packer::none && shuffle) {
    JsonObject blosc;
    blosc.add("typesize", size_of(type))
        .add("cname", std::string(by == Packer::gzip ? "zlib" : "zstd"))
        .add("clevel", level)
        .add("shuffle", std::string("shuffle"))
        .add("blocksize", blosc_block);
    list.push_back(zarr_named("blosc", blosc));
  } else if (by == Packer::gzip) {
    list.push_back(zarr_named("gzip", JsonObject().add("level", level)));
  } else if (by == Packer::zstd) {
    list.push_back(zarr_named("zstd", JsonObject().add("level", level).add("checksum", false)));
  }
  if (checksum) list.push_back(zarr_named("crc32c"));
  return list;
}

void ZarrCodecs::encode(BytesView chunk, std::size_t width, Bytes& out) const {
  const std::size_t begin = out.size();
  const bool is_gzip = by == Packer::gzip;
  if (by == Packer::none) {
    out.insert(out.end(), chunk.begin(), chunk.end());
  } else if (shuffle) {
    const auto pack = [&](BytesView in, std::span<std::byte> room) {
      return is_gzip ? deflated(in, level, zlib_window, room) : zstd_pack(in, level, room);
    };
    append_blosc_frame(chunk, width, is_gzip ? BloscFormat::zlib : BloscFormat::zstd, pack, out);
  } else if (is_gzip) {
    append_packed(out, deflate_room(chunk.size()), "zlib",
                  [&](std::span<std::byte> room) { return deflated(chunk, level, gzip_window, room); });
  } else {
    append_packed(out, zstd_room(chunk.size()), "zstd",
                  [&](std::span<std::byte> room) { return zstd_pack(chunk, level, room); });
  }
  if (!checksum) return;
  const std::uint32_t sum = crc32c({reinterpret_cast<const char*>(out.data()) + begin, out.size() - begin});
  const auto bytes = std::as_bytes(std::span(&sum, 1));
  out.insert(out.end(), bytes.begin(), bytes.end());
}

OptionTable<ZarrCodecs> zarr_codec_options() {
  return OptionTable<ZarrCodecs>{
      option<OptionType::choice>("compression", &ZarrCodecs::by,
                                 "The compression of chunks: `none`, `gzip`, or `zstd`, which is faster.",
                                 {.standard = "none", .choices = packers()}),
      option("level", &ZarrCodecs::level, "Level of the compression: 1 is fast, 9 is small.",
             {.standard = 1, .minimum = 1, .maximum = 9}),
      option("shuffle", &ZarrCodecs::shuffle,
             "With a compression: bytes of the same significance are next to each other, which makes reals smaller. "
             "Chunks are then frames of Blosc.",
             {.standard = false}),
      option("checksum", &ZarrCodecs::checksum, "A CRC-32C behind each chunk, which readers check.",
             {.standard = false})}
      .then(check_codecs);
}

}  // namespace sidestream
