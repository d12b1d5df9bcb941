// Serialisation of results for messages between processes of one program.
#pragma once

#include <string>

#include "sidestream/data/result.hpp"
#include "sidestream/kit/base/fields.hpp"

namespace sidestream {

template <>
inline constexpr std::size_t field_count<Column> = 2;
template <>
inline constexpr std::size_t field_count<Surface::Array> = 4;
template <>
inline constexpr std::size_t field_count<Surface> = 5;
template <>
inline constexpr std::size_t field_count<CellSet> = 8;
template <>
inline constexpr std::size_t field_count<DataSet::Attribute> = 2;
template <>
inline constexpr std::size_t field_count<DataSet::Array> = 9;
template <>
inline constexpr std::size_t field_count<DataSet> = 2;

/// Serialises a result, which `unpacked` reads.
template <class Result>
[[nodiscard]] Bytes packed(const Result& result) {
  return packed_fields(result);
}
[[nodiscard]] inline Bytes packed(const Table& table) { return packed_fields(table.columns()); }

template <class Result>
[[nodiscard]] Result unpacked(BytesView bytes) {
  return unpacked_fields<Result>(ByteReader(bytes));
}
template <>
[[nodiscard]] inline Table unpacked<Table>(BytesView bytes) {
  return Table(unpacked_fields<std::vector<Column>>(ByteReader(bytes)));
}

// Check of texts in results, which come from analyses, plug-ins and functions of the program.

// Throws Error(analysis) if a name, a unit or a text is not UTF-8, since the file would be unreadable. `file` names the
// result.
void check_texts(const std::string& file, const Table& table);
void check_texts(const std::string& file, const DataSet& data);
void check_texts(const std::string& file, const std::vector<Surface::Array>& arrays);

}  // namespace sidestream
