#include "climate/cf/zarr_chunks.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <numeric>

#include "sidestream/kit/base/files.hpp"
#include "sidestream/kit/base/records.hpp"
#include "sidestream/kit/storage/files/output_file.hpp"

namespace sidestream {

namespace {

/// Values on a server in a batch, unless one array has more.
constexpr std::uint64_t bytes_of_batch = std::uint64_t{64} << 20;

/// The first of a batch's chunks that belongs to a server; each has neighbouring ones.
std::uint64_t first_chunk(std::uint64_t chunks, std::uint64_t server, std::uint64_t servers) {
  return (chunks * server + servers - 1) / servers;
}

/// The values of what nobody writes.
void fill_unwritten(std::span<std::byte> values, Type type) {
  const auto fill_with = [&](auto value) {
    for (std::size_t at = 0; at < values.size(); at += sizeof value) {
      std::memcpy(values.data() + at, &value, sizeof value);
    }
  };
  if (type == Type::float64) fill_with(std::numeric_limits<double>::quiet_NaN());
  if (type == Type::float32) fill_with(std::numeric_limits<float>::quiet_NaN());
}

/// Appends the rows from `from` to `to` of a part, on the axis that is its slowest, to a message.
void put_rows(ByteWriter& message, std::size_t array, Box part, BytesView values, std::size_t axis, Index from,
              Index to) {
  const auto rows = static_cast<std::size_t>(part.hi[axis] - part.lo[axis]);
  const Index begin = std::max(part.lo[axis], from), end = std::min(part.hi[axis], to);
  if (begin >= end) return;
  const std::size_t row = values.size() / rows;
  values = values.subspan(row * static_cast<std::size_t>(begin - part.lo[axis]),
                          row * static_cast<std::size_t>(end - begin));
  part.lo[axis] = begin;
  part.hi[axis] = end;
  message.put(array);
  message.put(part);
  message.put(values.size());
  message.put_all(values);
}

}  // namespace

ZarrChunks::Batch ZarrChunks::next_batch(const CombineInput& input, const CfAgreement& agreement,
                                         std::size_t begin) const {
  Batch batch;
  batch.servers = static_cast<std::uint64_t>(input.communicator.size());
  std::uint64_t bytes = 0;
  for (batch.end = begin; batch.end < agreement.targets.size(); ++batch.end) {
    if (!agreement.has(batch.end)) continue;
    const ZarrArray& array = arrays_[batch.end];
    const std::uint64_t size = bytes_of_shard(array);
    if (bytes > 0 && bytes + size > bytes_of_batch * batch.servers) break;
    bytes += size;
    const CfArray& layout = output_.layout().arrays[batch.end];
    const Variable& variable = input.metadata.variables[static_cast<std::size_t>(layout.variable)];
    Part part{batch.end, output_.place(batch.end, input.metadata, agreement.lists)};
    const int axes = input.metadata.mesh_of(variable).dimensions;
    part.slow = part.place.order == Order::column ? static_cast<std::size_t>(axes - 1) : 0;
    part.first = batch.chunks;
    part.chunks = chunks_of_shard(array);
    part.chunk_bytes = size / part.chunks;
    batch.chunks += part.chunks;
    batch.parts.push_back(part);
  }
  return batch;
}

std::vector<Bytes> ZarrChunks::divide(const CombineInput& input, const CfAgreement& agreement,
                                      const Batch& batch) const {
  std::vector<ByteWriter> messages(batch.servers);
  std::vector<const Part*> parts(batch.end, nullptr);
  for (const Part& part : batch.parts) parts[part.array] = &part;
  output_.put(input, agreement, batch.parts.front().array, batch.end,
              [&](std::size_t n, BytesView values, const Box& box) {
                const Part& part = *parts[n];
                const Index rows = arrays_[n].in_chunk, lowest = part.place.whole.lo[part.slow];
                for (std::uint64_t server = 0; server < batch.servers; ++server) {
                  const auto chunk = [&](std::uint64_t of) {
                    const std::uint64_t number = first_chunk(batch.chunks, of, batch.servers);
                    return static_cast<Index>(std::clamp(number, part.first, part.first + part.chunks) - part.first);
                  };
                  put_rows(messages[server], n, box, values, part.slow, lowest + chunk(server) * rows,
                           lowest + chunk(server + 1) * rows);
                }
              });
  std::vector<Bytes> taken;
  for (ByteWriter& message : messages) taken.push_back(message.take());
  return taken;
}

ZarrChunks::Encoded ZarrChunks::encode(std::vector<Bytes> messages, const Batch& batch, std::uint64_t server) const {
  const std::uint64_t begin = first_chunk(batch.chunks, server, batch.servers);
  const std::uint64_t end = first_chunk(batch.chunks, server + 1, batch.servers);
  struct Chunks {
    const Part* part = nullptr;
    std::uint64_t first = 0;  ///< in the array
    Bytes values{};
  };
  std::vector<Chunks> mine(batch.parts.empty() ? 0 : batch.parts.back().array + 1);  // by array
  for (const Part& part : batch.parts) {
    const std::uint64_t from = std::clamp(begin, part.first, part.first + part.chunks);
    const std::uint64_t to = std::clamp(end, part.first, part.first + part.chunks);
    Chunks& chunks = mine[part.array];
    chunks = {&part, from - part.first, Bytes((to - from) * part.chunk_bytes)};
    fill_unwritten(chunks.values, arrays_[part.array].type);
  }
  for (Bytes& message : messages) {
    for (BytesView left = message; !left.empty();) {
      ByteReader in(left);
      const auto array = in.get<std::size_t>();
      const auto box = in.get<Box>();
      const auto size = in.get<std::size_t>();
      Chunks& chunks = mine.at(array);
      const std::uint64_t before = chunks.first * chunks.part->chunk_bytes;
      const std::size_t head = left.size() - in.left();
      for_each_run(chunks.part->place, left.subspan(head, size), box, [&](std::uint64_t at, BytesView run) {
        std::copy(run.begin(), run.end(), chunks.values.begin() + static_cast<std::ptrdiff_t>(at - before));
      });
      left = left.subspan(head + size);
    }
    message = {};
  }
  Encoded encoded;
  for (Chunks& chunks : mine) {
    if (chunks.part == nullptr) continue;
    const ZarrArray& array = arrays_[chunks.part->array];
    for (BytesView left = chunks.values; !left.empty(); left = left.subspan(chunks.part->chunk_bytes)) {
      const std::size_t before = encoded.bytes.size();
      array.codecs.encode(left.first(chunks.part->chunk_bytes), size_of(array.type), encoded.bytes);
      encoded.lengths.push_back(encoded.bytes.size() - before);
    }
    chunks.values = {};
  }
  return encoded;
}

void ZarrChunks::write_mine(const Encoded& mine, const std::vector<std::uint64_t>& lengths,
                            const CfAgreement& agreement, const Batch& batch, std::uint64_t server) const {
  const std::uint64_t begin = first_chunk(batch.chunks, server, batch.servers);
  const std::uint64_t end = first_chunk(batch.chunks, server + 1, batch.servers);
  const auto sum = [&](std::uint64_t from, std::uint64_t to) {
    return std::accumulate(lengths.begin() + static_cast<std::ptrdiff_t>(from),
                           lengths.begin() + static_cast<std::ptrdiff_t>(to), std::uint64_t{0});
  };
  std::string_view left(reinterpret_cast<const char*>(mine.bytes.data()), mine.bytes.size());
  for (const Part& part : batch.parts) {
    const std::uint64_t last = part.first + part.chunks;
    const std::uint64_t from = std::clamp(begin, part.first, last), to = std::clamp(end, part.first, last);
    if (from == to) continue;
    const std::string& path = agreement.targets[part.array].path;
    const Descriptor file(open_existing(path, O_WRONLY));
    if (file.get() < 0) fail_file("open", path, errno);
    const std::uint64_t size = sum(from, to);
    write_at(file.get(), path, sum(part.first, from), left.substr(0, size));
    left.remove_prefix(size);
    if (to != last) continue;
    const auto of_array = std::span(lengths).subspan(part.first, part.chunks);
    write_at(file.get(), path, sum(part.first, last), index_of_shard(of_array));
  }
}

std::string ZarrChunks::write(const CombineInput& input, const CfAgreement& agreement) const {
  const auto server = static_cast<std::uint64_t>(input.communicator.rank());
  std::string failure;
  for (std::size_t next = 0; next < agreement.targets.size();) {
    const Batch batch = next_batch(input, agreement, next);
    next = batch.end;
    if (batch.parts.empty()) continue;
    std::vector<Bytes> messages(batch.servers);
    if (failure.empty()) failure = failure_of([&] { messages = divide(input, agreement, batch); });
    messages = input.communicator.all_to_all(messages);
    Encoded mine;
    if (failure.empty()) failure = failure_of([&] { mine = encode(std::move(messages), batch, server); });
    if (!failure.empty()) mine.lengths.clear();
    // A server that failed has told no lengths. Then nobody writes, and the iteration ends here.
    std::vector<std::uint64_t> lengths;
    for (const Bytes& of_server : input.communicator.all_gather(bytes_of(mine.lengths))) {
      const auto more = records_of<std::uint64_t>(of_server);
      lengths.insert(lengths.end(), more.begin(), more.end());
    }
    if (lengths.size() < batch.chunks) return failure;
    take_turns(input.communicator, writers_, [&] {
      if (failure.empty()) failure = failure_of([&] { write_mine(mine, lengths, agreement, batch, server); });
    });
  }
  return failure;
}

}  // namespace sidestream
