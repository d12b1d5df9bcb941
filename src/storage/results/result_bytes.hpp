// Serialisation of results for messages between processes of one program.
#pragma once

#include <string>

#include "sidestream/data/result.hpp"
#include "sidestream/kit/base/records.hpp"

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

// Check of texts in results, which come from analyses, plug-ins and functions of the program.

// Each function throws Error(analysis) if a name, a unit or a text is not UTF-8, since nobody could read the file.
// `file` names the result.
void check_texts(const std::string& file, const Table& table);
void check_texts(const std::string& file, const DataSet& data);
void check_texts(const std::string& file, const std::vector<Surface::Array>& arrays);

}  // namespace sidestream
