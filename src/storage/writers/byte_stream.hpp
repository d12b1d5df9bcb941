// Plain values into bytes and back, for what servers tell rank 0. Both ends run the same program on the same
// machine.
#pragma once

#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "base/fail.hpp"
#include "sidestream/extend/communicator.hpp"

namespace sidestream {

class ByteSink {
 public:
  template <class T>
  requires std::is_trivially_copyable_v<T>
  void put(const T& value) { append(&value, sizeof value); }
  void put(const std::string& text) {
    put(text.size());
    append(text.data(), text.size());
  }
  template <class T>
  void put(const std::vector<T>& values) {
    put(values.size());
    if constexpr (std::is_trivially_copyable_v<T>) {
      append(values.data(), values.size() * sizeof(T));
    } else {
      for (const T& value : values) put(value);
    }
  }
  [[nodiscard]] Bytes take() noexcept { return std::move(bytes_); }

 private:
  void append(const void* data, std::size_t size) {
    const auto* first = static_cast<const std::byte*>(data);
    bytes_.insert(bytes_.end(), first, first + size);
  }
  Bytes bytes_;
};

/// Reads in the order of putting. Reading beyond the end throws Error(internal).
class ByteSource {
 public:
  explicit ByteSource(BytesView bytes) : bytes_(bytes) {}
  [[nodiscard]] bool at_end() const noexcept { return bytes_.empty(); }

  template <class T>
  requires std::is_trivially_copyable_v<T>
  void get(T& value) { std::memcpy(&value, take(sizeof value).data(), sizeof value); }
  void get(std::string& text) {
    std::size_t size = 0;
    get(size);
    const BytesView from = take(size);
    text.assign(reinterpret_cast<const char*>(from.data()), from.size());
  }
  template <class T>
  void get(std::vector<T>& values) {
    std::size_t size = 0;
    get(size);
    values.clear();
    if constexpr (std::is_trivially_copyable_v<T>) {
      if (size > bytes_.size() / sizeof(T)) take(bytes_.size() + 1);  // throws before memory is asked for
      values.resize(size);
      const BytesView from = take(size * sizeof(T));
      if (!from.empty()) std::memcpy(values.data(), from.data(), from.size());
    } else {
      for (std::size_t n = 0; n < size; ++n) get(values.emplace_back());
    }
  }

 private:
  BytesView take(std::size_t size) {
    if (size > bytes_.size())
      fail(Code::internal, "{} bytes expected in a message of which {} are left", size, bytes_.size());
    const BytesView taken = bytes_.first(size);
    bytes_ = bytes_.subspan(size);
    return taken;
  }
  BytesView bytes_;
};

}  // namespace sidestream
