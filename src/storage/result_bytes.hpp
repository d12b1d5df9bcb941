// Results as bytes and back, for messages among processes of one program.
#pragma once

#include "sidestream/data/result.hpp"
#include "storage/writers/byte_stream.hpp"

namespace sidestream {

void put(ByteSink& sink, const Table& table);
void put(ByteSink& sink, const Surface& surface);
void put(ByteSink& sink, const DataSet& data);
void get(ByteSource& source, Table& table);
void get(ByteSource& source, Surface& surface);
void get(ByteSource& source, DataSet& data);

[[nodiscard]] Bytes packed(const DataSet& data);
[[nodiscard]] DataSet unpacked_data(BytesView bytes);

}  // namespace sidestream
