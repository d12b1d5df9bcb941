#include "storage/formats/kinds.hpp"

#include <png.h>

#include <csetjmp>
#include <cstddef>
#include <exception>
#include <memory>
#include <span>
#include <vector>

#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/storage/files/output_file.hpp"

namespace sidestream {

namespace {

using Encoded = std::vector<std::byte>;

/// State shared by libpng's callbacks and the encoder. The callbacks are C functions, so no exception may leave them.
struct Sink {
  Encoded bytes;
  std::string message;
};

void take(png_structp png, png_bytep data, std::size_t size) {
  auto* sink = static_cast<Sink*>(png_get_io_ptr(png));
  try {
    const auto* first = reinterpret_cast<const std::byte*>(data);
    sink->bytes.insert(sink->bytes.end(), first, first + size);
  } catch (const std::exception&) {
    png_error(png, "out of memory");
  }
}

[[noreturn]] void stop(png_structp png, png_const_charp text) {
  try {
    static_cast<Sink*>(png_get_error_ptr(png))->message = text;
  } catch (const std::exception&) {  // only the message is lost
  }
  png_longjmp(png, 1);
}

void ignore(png_structp, png_const_charp) {}

/// Makes the calls that may longjmp. Locals are trivial and unchanged after setjmp, so that the jump is defined.
bool encode(png_structp png, png_infop info, const Image& image, bool alpha, const std::string& provenance) {
  if (setjmp(png_jmpbuf(png)) != 0) return false;
  const auto width = static_cast<png_uint_32>(image.width), height = static_cast<png_uint_32>(image.height);
  // libpng limits rows and columns to a million to protect readers, but this file only writes.
  png_set_user_limits(png, 0x7fffffff, 0x7fffffff);
  png_set_IHDR(png, info, width, height, 8, alpha ? PNG_COLOR_TYPE_RGB_ALPHA : PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_set_sRGB(png, info, PNG_sRGB_INTENT_PERCEPTUAL);
  // A render is written every few steps: level 4 takes a third of the default's time for a few percent more bytes.
  png_set_compression_level(png, 4);
  if (!provenance.empty()) {
    char key[] = "Description";
    png_text text{};
    text.compression = PNG_ITXT_COMPRESSION_zTXt;
    text.key = key;
    text.text = const_cast<char*>(provenance.c_str());
    text.itxt_length = provenance.size();
    png_set_text(png, info, &text, 1);
  }
  png_write_info(png, info);
  if (!alpha) png_set_filler(png, 0, PNG_FILLER_AFTER);
  for (png_uint_32 y = 0; y < height; ++y) {
    png_write_row(png, image.rgba.data() + std::size_t{y} * width * 4);
  }
  png_write_end(png, info);
  return true;
}

void check(const std::string& path, const Image& image) {
  const bool positive = image.width > 0 && image.height > 0;
  if (!positive || image.rgba.size() != std::size_t(image.width) * std::size_t(image.height) * 4) {
    fail(Code::analysis,
         "the image for '{}' is {} x {} pixels with {} bytes; expected at least one pixel and four bytes for "
         "each",
         path, image.width, image.height, image.rgba.size());
  }
}

bool says_anything(std::span<const std::uint8_t> rgba) {
  for (std::size_t i = 3; i < rgba.size(); i += 4) {
    if (rgba[i] != 255) return true;
  }
  return false;
}

void write_image(const std::string& path, const Image& image, const std::string& provenance) {
  check(path, image);
  Sink sink;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &sink, stop, ignore);
  png_infop info = png != nullptr ? png_create_info_struct(png) : nullptr;
  bool done = false;
  if (info != nullptr) {
    png_set_write_fn(png, &sink, take, nullptr);
    done = encode(png, info, image, says_anything(image.rgba), provenance);
  }
  png_destroy_write_struct(&png, &info);
  if (!done) fail(Code::file, "cannot write '{}': libpng says '{}'; free some memory", path, sink.message);
  OutputFile file(path);
  file.write(sink.bytes);
  file.close();
}

}  // namespace

ResultFormat png_format() {
  ResultFormat format;
  format.ending = ".png";
  format.text = "Images, 8 bits per channel.";
  format.image = write_image;
  return format;
}

}  // namespace sidestream
