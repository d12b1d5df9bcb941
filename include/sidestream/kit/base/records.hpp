// Conversion of values to bytes in their memory layout and back, for processes that run the same build on machines of
// one kind. It is the only serialiser; all messages and raw records are written and read with it.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "sidestream/extend/communicator.hpp"
#include "sidestream/kit/base/fail.hpp"

namespace sidestream {

/// The bytes of a record, which must outlive the view.
template <class T>
requires std::is_trivially_copyable_v<T>
[[nodiscard]] BytesView bytes_of(const T& record) noexcept { return std::as_bytes(std::span(&record, 1)); }

/// The bytes of contiguous records.
template <class T>
requires std::is_trivially_copyable_v<T>
[[nodiscard]] Bytes bytes_of(const std::vector<T>& records) {
  const BytesView bytes = std::as_bytes(std::span(records));
  return {bytes.begin(), bytes.end()};
}

/// The record with these bytes. Throws Error(system) if they have another length.
template <class T>
requires std::is_trivially_copyable_v<T>
[[nodiscard]] T record_of(BytesView bytes) {
  if (bytes.size() != sizeof(T)) {
    fail(Code::system, "{} bytes came where a record of {} was expected; run the same build everywhere", bytes.size(),
         sizeof(T));
  }
  T record;
  std::memcpy(static_cast<void*>(&record), bytes.data(), sizeof record);
  return record;
}

/// The contiguous records with these bytes. Throws Error(system) if their length is no multiple of a record's.
template <class T>
requires std::is_trivially_copyable_v<T>
[[nodiscard]] std::vector<T> records_of(BytesView bytes) {
  if (bytes.size() % sizeof(T) != 0) {
    fail(Code::system, "{} bytes came where records of {} were expected; run the same build everywhere", bytes.size(),
         sizeof(T));
  }
  std::vector<T> records(bytes.size() / sizeof(T));
  if (!bytes.empty()) std::memcpy(static_cast<void*>(records.data()), bytes.data(), bytes.size());
  return records;
}

/// Writes values of several kinds in sequence. Texts and vectors are preceded by their length.
class ByteWriter {
 public:
  template <class T>
  requires std::is_trivially_copyable_v<T>
  void put(const T& value) { put_all(std::span(&value, 1)); }
  void put(const std::string& text) {
    put(text.size());
    put_all(std::span(text));
  }
  template <class T>
  void put(const std::vector<T>& values) {
    put(values.size());
    if constexpr (std::is_trivially_copyable_v<T>) {
      put_all(std::span(values));
    } else {
      for (const T& value : values) put(value);
    }
  }
  /// Writes values without a length: the reader knows it.
  template <class T, std::size_t N>
  void put_all(std::span<T, N> values) {
    const auto bytes = std::as_bytes(values);
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  /// Reserves memory for that many bytes in all.
  void reserve(std::size_t size) { bytes_.reserve(size); }
  [[nodiscard]] const Bytes& bytes() const noexcept { return bytes_; }
  [[nodiscard]] Bytes take() noexcept { return std::move(bytes_); }

 private:
  Bytes bytes_;
};

/// Reads in the order of writing. Reading beyond the end throws: Error(internal), or the error that the constructor was
/// given.
class ByteReader {
 public:
  explicit ByteReader(BytesView bytes) : bytes_(bytes) {}
  ByteReader(BytesView bytes, Code code, std::string sentence)
      : bytes_(bytes), code_(code), sentence_(std::move(sentence)) {}
  [[nodiscard]] bool at_end() const noexcept { return bytes_.empty(); }
  /// Number of bytes that are left.
  [[nodiscard]] std::size_t left() const noexcept { return bytes_.size(); }

  template <class T>
  requires std::is_trivially_copyable_v<T>
  void get(T& value) { std::memcpy(static_cast<void*>(&value), take(sizeof value).data(), sizeof value); }
  template <class T>
  [[nodiscard]] T get() {
    T value;
    get(value);
    return value;
  }
  void get(std::string& text) {
    const BytesView from = take(get<std::size_t>());
    text.assign(reinterpret_cast<const char*>(from.data()), from.size());
  }
  template <class T>
  void get(std::vector<T>& values) {
    const auto size = get<std::size_t>();
    if constexpr (std::is_trivially_copyable_v<T>) {
      get_all(values, size);
    } else {
      values.clear();
      for (std::size_t n = 0; n < size; ++n) get(values.emplace_back());
    }
  }
  /// Reads what `put_all` wrote.
  template <class T>
  void get_all(std::vector<T>& values, std::size_t count) {
    if (count > bytes_.size() / sizeof(T)) too_short(count);  // before memory is allocated
    values.resize(count);
    const BytesView from = take(count * sizeof(T));
    if (!from.empty()) std::memcpy(static_cast<void*>(values.data()), from.data(), from.size());
  }

 private:
  BytesView take(std::size_t size) {
    if (size > bytes_.size()) too_short(size);
    const BytesView taken = bytes_.first(size);
    bytes_ = bytes_.subspan(size);
    return taken;
  }
  [[noreturn]] void too_short(std::size_t wanted) const {
    if (!sentence_.empty()) throw Error(code_, sentence_);
    fail(code_, "{} values expected in a message of which {} bytes are left", wanted, bytes_.size());
  }

  BytesView bytes_;
  Code code_ = Code::internal;
  std::string sentence_;
};

}  // namespace sidestream
