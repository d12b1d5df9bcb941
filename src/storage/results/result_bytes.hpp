// Results as bytes and back, for messages among processes of one program.
#pragma once

#include "base/records.hpp"
#include "sidestream/data/result.hpp"

namespace sidestream {

void put(ByteWriter& sink, const Table& table);
void put(ByteWriter& sink, const Surface& surface);
void put(ByteWriter& sink, const CellSet& cells);
void put(ByteWriter& sink, const DataSet& data);
void get(ByteReader& source, Table& table);
void get(ByteReader& source, Surface& surface);
void get(ByteReader& source, CellSet& cells);
void get(ByteReader& source, DataSet& data);

[[nodiscard]] Bytes packed(const DataSet& data);
[[nodiscard]] DataSet unpacked_data(BytesView bytes);

}  // namespace sidestream
