// Nodes of Conduit, through the C functions that the host's process has. No header of Catalyst or Conduit is needed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <sidestream/data/box.hpp>
#include <sidestream/data/type.hpp>
#include <string>
#include <utility>
#include <vector>

namespace sidestream::catalyst {

/// Conduit's C functions that are used here, and Catalyst's for a stub's part of `about`. Nodes and data types are
/// opaque; Conduit's index type has 64 bits. All stay valid as long as the process.
struct ConduitCalls {
  int (*has_path)(const void* node, const char* path) = nullptr;
  void* (*fetch_existing)(void* node, const char* path) = nullptr;
  void* (*child)(void* node, std::int64_t index) = nullptr;
  std::int64_t (*number_of_children)(const void* node) = nullptr;
  char* (*name)(const void* node) = nullptr;  ///< the caller frees it
  const void* (*dtype)(const void* node) = nullptr;
  std::int64_t (*id)(const void* type) = nullptr;
  std::int64_t (*number_of_elements)(const void* type) = nullptr;
  std::int64_t (*stride)(const void* type) = nullptr;  ///< in bytes
  int (*endianness_matches_machine)(const void* type) = nullptr;
  void* (*element_ptr)(void* node, std::int64_t index) = nullptr;  ///< includes the offset of the first element
  char* (*as_char8_str)(void* node) = nullptr;                     ///< no copy
  void (*set_path_char8_str)(void* node, const char* path, const char* value) = nullptr;
  void (*set_path_int64)(void* node, const char* path, std::int64_t value) = nullptr;
  void (*set_path_float64)(void* node, const char* path, double value) = nullptr;
  int (*stub_about)(void* node) = nullptr;  ///< null if the host has none
};

/// Finds the functions: Catalyst's own copies (catalyst_conduit_X), else those of a Conduit beside it (conduit_X); in
/// the whole process, else in the libraries themselves, which a host may have loaded for itself only. Throws
/// Error(system).
[[nodiscard]] const ConduitCalls& conduit();

/// An array of numbers in a node, `stride` bytes apart. Refers to the host's memory.
struct Numbers {
  Type type = Type::float64;
  const std::byte* data = nullptr;
  Index count = 0;
  Index stride = 0;

  [[nodiscard]] double real(Index i) const noexcept;
  /// A value as an integer; floating-point values are cut.
  [[nodiscard]] std::int64_t integer(Index i) const noexcept;
};

/// A node and its path. It refers to the host's node. Nothing here lets Conduit throw: what is read is looked up first.
class Node {
 public:
  Node() = default;
  Node(void* node, std::string path) : node_(node), path_(std::move(path)) {}
  [[nodiscard]] explicit operator bool() const noexcept { return node_ != nullptr; }
  [[nodiscard]] void* get() const noexcept { return node_; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

  /// The node at a path below this one; false if there is none.
  [[nodiscard]] Node find(const std::string& path) const;
  /// The node at a path; throws Error(usage) if there is none.
  [[nodiscard]] Node need(const std::string& path) const;
  /// Children of an object, or of a list, whose names are their numbers.
  [[nodiscard]] std::vector<std::pair<std::string, Node>> children() const;
  [[nodiscard]] bool has_children() const noexcept;
  /// True for an object, a list, and a node without anything.
  [[nodiscard]] bool is_parent() const noexcept;
  [[nodiscard]] bool is_text() const noexcept;
  [[nodiscard]] bool is_number() const noexcept;
  /// The text, integer or real number of a node. Any type of number will do. Throw Error(usage).
  [[nodiscard]] std::string text() const;
  [[nodiscard]] std::int64_t integer() const;
  [[nodiscard]] double real() const;
  /// The numbers of a leaf, in the machine's byte order. Throws Error(usage).
  [[nodiscard]] Numbers numbers() const;
  /// The same for a leaf, or for an object with one leaf for each component. All have one type and length.
  [[nodiscard]] std::vector<Numbers> components() const;

 private:
  void* node_ = nullptr;
  std::string path_;
};

/// Throws Error(usage): "catalyst/channels/grid: found ..., expected ...; do ...".
[[noreturn]] void fail_node(const Node& node, const std::string& what);

}  // namespace sidestream::catalyst
