// A stand-in for libcatalyst's copy of Conduit: nodes, and the C functions that an implementation of Catalyst calls.
// Written from Conduit's documentation; it has only what tests need.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace stand_in {

/// Conduit's numbers of types.
enum Id : std::int64_t {
  empty = 0,
  object = 1,
  list = 2,
  int8 = 3,
  int32 = 5,
  int64 = 6,
  uint8 = 7,
  float32 = 11,
  float64 = 12,
  text = 13
};

std::int64_t size_of(Id id);

struct Node {
  Id id = empty;
  std::string name;
  std::vector<std::unique_ptr<Node>> children;
  std::vector<std::byte> own;         ///< values that the node owns, or a text with its final 0
  const std::byte* values = nullptr;  ///< of the first element
  std::int64_t count = 0, stride = 0;
  bool foreign_order = false;  ///< another machine's byte order

  /// The node at a path; made with its parents if there is none.
  Node& at(const std::string& path);
  [[nodiscard]] Node* find(const std::string& path);
  Node& append();
  void remove(const std::string& child);
  void set(const std::string& value);
  void set(std::int64_t value);
  void set(double value);
  void set_list(Id of, const void* data, std::int64_t count);
  /// Refers to memory of the host; `stride` in bytes, 0: contiguous.
  void refer(Id of, const void* data, std::int64_t count, std::int64_t stride = 0);
};

}  // namespace stand_in
