#include "stand_in.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

namespace stand_in {

std::int64_t size_of(Id id) {
  switch (id) {
    case int8:
    case uint8:
    case text:
      return 1;
    case int32:
    case float32:
      return 4;
    default:
      return 8;
  }
}

namespace {

std::pair<std::string, std::string> split(const std::string& path) {
  const std::size_t slash = path.find('/');
  if (slash == std::string::npos) return {path, ""};
  return {path.substr(0, slash), path.substr(slash + 1)};
}

Node* child_named(Node& node, const std::string& name) {
  const auto found =
      std::find_if(node.children.begin(), node.children.end(), [&](const auto& c) { return c->name == name; });
  return found == node.children.end() ? nullptr : found->get();
}

}  // namespace

Node& Node::at(const std::string& path) {
  const auto [first, rest] = split(path);
  id = object;
  Node* child = child_named(*this, first);
  if (child == nullptr) {
    children.push_back(std::make_unique<Node>());
    child = children.back().get();
    child->name = first;
  }
  return rest.empty() ? *child : child->at(rest);
}

Node* Node::find(const std::string& path) {
  const auto [first, rest] = split(path);
  Node* const child = child_named(*this, first);
  return child == nullptr || rest.empty() ? child : child->find(rest);
}

Node& Node::append() {
  id = list;
  children.push_back(std::make_unique<Node>());
  return *children.back();
}

void Node::remove(const std::string& child) {
  std::erase_if(children, [&](const auto& c) { return c->name == child; });
}

void Node::set_list(Id of, const void* data, std::int64_t n) {
  const auto* const bytes = static_cast<const std::byte*>(data);
  children.clear();
  own.assign(bytes, bytes + n * size_of(of));
  refer(of, own.data(), n);
}

void Node::set(const std::string& value) { set_list(text, value.c_str(), static_cast<std::int64_t>(value.size()) + 1); }
void Node::set(std::int64_t value) { set_list(int64, &value, 1); }
void Node::set(double value) { set_list(float64, &value, 1); }

void Node::refer(Id of, const void* data, std::int64_t n, std::int64_t bytes) {
  id = of;
  values = static_cast<const std::byte*>(data);
  count = n;
  stride = bytes == 0 ? size_of(of) : bytes;
}

}  // namespace stand_in

using stand_in::Node;

namespace {

Node& node_of(const void* node) { return *static_cast<Node*>(const_cast<void*>(node)); }

}  // namespace

// Conduit's C functions, as libcatalyst exports them. A data type is the node itself here.
extern "C" {
#pragma GCC visibility push(default)

int catalyst_conduit_node_has_path(const void* node, const char* path) { return node_of(node).find(path) != nullptr; }

// Conduit throws a C++ exception through C if there is none; an implementation must not let it come to that.
void* catalyst_conduit_node_fetch_existing(void* node, const char* path) {
  Node* const found = node_of(node).find(path);
  if (found == nullptr) std::abort();
  return found;
}

void* catalyst_conduit_node_child(void* node, std::int64_t index) {
  return node_of(node).children.at(static_cast<std::size_t>(index)).get();
}

std::int64_t catalyst_conduit_node_number_of_children(const void* node) {
  return static_cast<std::int64_t>(node_of(node).children.size());
}

char* catalyst_conduit_node_name(const void* node) { return strdup(node_of(node).name.c_str()); }
const void* catalyst_conduit_node_dtype(const void* node) { return node; }
std::int64_t catalyst_conduit_datatype_id(const void* type) { return node_of(type).id; }
std::int64_t catalyst_conduit_datatype_number_of_elements(const void* type) { return node_of(type).count; }
std::int64_t catalyst_conduit_datatype_stride(const void* type) { return node_of(type).stride; }
int catalyst_conduit_datatype_endianness_matches_machine(const void* type) {
  return node_of(type).foreign_order ? 0 : 1;
}

void* catalyst_conduit_node_element_ptr(void* node, std::int64_t index) {
  return const_cast<std::byte*>(node_of(node).values + index * node_of(node).stride);
}

char* catalyst_conduit_node_as_char8_str(void* node) {
  if (node_of(node).id != stand_in::text) std::abort();
  return reinterpret_cast<char*>(const_cast<std::byte*>(node_of(node).values));
}

void catalyst_conduit_node_set_path_char8_str(void* node, const char* path, const char* value) {
  node_of(node).at(path).set(std::string(value));
}

void catalyst_conduit_node_set_path_int64(void* node, const char* path, std::int64_t value) {
  node_of(node).at(path).set(value);
}
void catalyst_conduit_node_set_path_float64(void* node, const char* path, double value) {
  node_of(node).at(path).set(value);
}

#pragma GCC visibility pop
}
