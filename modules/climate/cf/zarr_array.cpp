#include "climate/cf/zarr_array.hpp"

#include <algorithm>
#include <variant>

#include "climate/cf/crc32c.hpp"

namespace sidestream {

namespace {

constexpr std::uint64_t inner_bytes = 1u << 20;  ///< inner chunks are not much larger

Index divided_up(Index number, Index by) { return (number + by - 1) / by; }

/// True if a chunk has the entries of many iterations.
bool is_time(const ZarrArray& array) { return array.over_time && array.in_chunk == 0; }

/// The shape of a shard without time: whole inner chunks, whose last rows may lie outside the array.
std::vector<Index> shape_of_shard(const ZarrArray& array) {
  std::vector<Index> shape = array.shape;
  shape.front() = divided_up(shape.front(), array.in_chunk) * array.in_chunk;
  return shape;
}

/// The codecs: inner chunks, whose places are stored at the end of the file.
JsonObject sharding(const ZarrArray& array) {
  std::vector<Index> inner = array.shape;
  inner.front() = array.in_chunk;
  inner.insert(inner.begin(), 1);
  JsonObject configuration;
  configuration.add("chunk_shape", inner)
      .add("codecs", array.codecs.described(array.type))
      .add("index_codecs", std::vector<JsonObject>{zarr_bytes_codec(Type::uint64), zarr_named("crc32c")})
      .add("index_location", std::string("end"));
  return zarr_named("sharding_indexed", configuration);
}

}  // namespace

bool is_real(Type type) noexcept { return type == Type::float32 || type == Type::float64; }

void choose_chunks(ZarrArray& array) {
  const Index rows = array.shape.front();
  const std::uint64_t row = bytes_of_shard(array) / static_cast<std::uint64_t>(rows);
  const Index chunks = divided_up(rows, std::max<Index>(1, static_cast<Index>(inner_bytes / row)));
  array.in_chunk = divided_up(rows, chunks);
}

JsonObject json_of(const Attributes& attributes) {
  JsonObject object;
  for (const Attribute& one : attributes) {
    std::visit([&](const auto& value) { object.add(one.name, value); }, one.value);
  }
  return object;
}

JsonObject json_of(const ZarrArray& array, std::size_t iterations) {
  const bool has_shards = array.over_time && !is_time(array);
  std::vector<Index> shape = array.shape, chunk = has_shards ? shape_of_shard(array) : array.shape;
  std::vector<std::string> dimensions = array.dimensions;
  if (array.over_time) {
    shape.insert(shape.begin(), static_cast<Index>(iterations));
    chunk.insert(chunk.begin(), is_time(array) ? times_of_chunk : 1);
    dimensions.insert(dimensions.begin(), "time");
  }
  JsonObject object;
  object.add("zarr_format", 3)
      .add("node_type", std::string("array"))
      .add("shape", shape)
      .add("data_type", std::string(name_of(array.type)))
      .add("chunk_grid", zarr_named("regular", JsonObject().add("chunk_shape", chunk)))
      .add("chunk_key_encoding", zarr_named("default", JsonObject().add("separator", std::string("."))));
  is_real(array.type) ? object.add("fill_value", std::string("NaN")) : object.add("fill_value", 0);
  object.add("codecs", std::vector<JsonObject>{has_shards ? sharding(array) : zarr_bytes_codec(array.type)})
      .add("attributes", json_of(array.attributes))
      .add("dimension_names", dimensions);
  return object;
}

std::uint64_t bytes_of_shard(const ZarrArray& array) {
  std::uint64_t bytes = size_of(array.type);
  for (const Index extent : shape_of_shard(array)) bytes *= static_cast<std::uint64_t>(extent);
  return bytes;
}

std::uint64_t chunks_of_shard(const ZarrArray& array) {
  return static_cast<std::uint64_t>(divided_up(array.shape.front(), array.in_chunk));
}

std::string index_of_shard(std::span<const std::uint64_t> lengths) {
  std::string index;
  std::uint64_t place = 0;
  for (const std::uint64_t length : lengths) {
    append_record(index, place);
    append_record(index, length);
    place += length;
  }
  append_record(index, crc32c(index));
  return index;
}

std::string index_of_shard(const ZarrArray& array) {
  const std::uint64_t chunks = chunks_of_shard(array);
  return index_of_shard(std::vector<std::uint64_t>(chunks, bytes_of_shard(array) / chunks));
}

}  // namespace sidestream
