#include "conduit.hpp"

#include <dlfcn.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <sidestream/error.hpp>

namespace sidestream::catalyst {

namespace {

/// Numbers of Conduit's data types.
enum : std::int64_t {
  empty_id = 0,
  object_id = 1,
  list_id = 2,
  first_number_id = 3,
  last_number_id = 12,
  text_id = 13
};

/// The first place that has a function of Conduit, or null.
void* look_up(const std::string& name) {
  static const std::array<void*, 3> places = [] {
    return std::array<void*, 3>{RTLD_DEFAULT, dlopen("libcatalyst.so.3", RTLD_NOLOAD | RTLD_LAZY),
                                dlopen("libconduit.so", RTLD_NOLOAD | RTLD_LAZY)};
  }();
  for (const std::string& symbol : {"catalyst_" + name, name}) {
    for (void* const place : places) {
      if (place != RTLD_DEFAULT && place == nullptr) continue;
      if (void* const found = dlsym(place, symbol.c_str()); found != nullptr) return found;
    }
  }
  return nullptr;
}

template <class Function>
void need(Function& function, const char* name) {
  void* const found = look_up(name);
  if (found == nullptr) {
    throw Error(Code::system, std::string("no function ") + name + " (nor catalyst_" + name +
                                  ") in this process; libcatalyst 2 or Conduit must be loaded");
  }
  std::memcpy(&function, &found, sizeof found);
}

ConduitCalls find_all() {
  ConduitCalls calls;
  need(calls.has_path, "conduit_node_has_path");
  need(calls.fetch_existing, "conduit_node_fetch_existing");
  need(calls.child, "conduit_node_child");
  need(calls.number_of_children, "conduit_node_number_of_children");
  need(calls.name, "conduit_node_name");
  need(calls.dtype, "conduit_node_dtype");
  need(calls.id, "conduit_datatype_id");
  need(calls.number_of_elements, "conduit_datatype_number_of_elements");
  need(calls.stride, "conduit_datatype_stride");
  need(calls.endianness_matches_machine, "conduit_datatype_endianness_matches_machine");
  need(calls.element_ptr, "conduit_node_element_ptr");
  need(calls.as_char8_str, "conduit_node_as_char8_str");
  need(calls.set_path_char8_str, "conduit_node_set_path_char8_str");
  need(calls.set_path_int64, "conduit_node_set_path_int64");
  need(calls.set_path_float64, "conduit_node_set_path_float64");
  if (void* const stub = look_up("stub_about"); stub != nullptr) std::memcpy(&calls.stub_about, &stub, sizeof stub);
  return calls;
}

std::int64_t id_of(void* node) { return conduit().id(conduit().dtype(node)); }

constexpr bool is_number_id(std::int64_t id) { return id >= first_number_id && id <= last_number_id; }

/// Conduit counts int8 to int64, uint8 to uint64, float32, float64, as we do.
Type type_of(std::int64_t id) { return static_cast<Type>(id - first_number_id); }

template <class To>
To converted(Type type, const std::byte* at) noexcept {
  return with_type(type, [at](auto value) {
    std::memcpy(&value, at, sizeof value);
    return static_cast<To>(value);
  });
}

}  // namespace

const ConduitCalls& conduit() {
  static const ConduitCalls calls = find_all();
  return calls;
}

void fail_node(const Node& node, const std::string& what) { throw Error(Code::usage, node.path() + ": " + what); }

double Numbers::real(Index i) const noexcept { return converted<double>(type, data + i * stride); }

std::int64_t Numbers::integer(Index i) const noexcept {
  const std::byte* const at = data + i * stride;
  if (type != Type::float32 && type != Type::float64) return converted<std::int64_t>(type, at);
  const double value = converted<double>(type, at);
  // Values beyond the range, and NaN, become a number that no index is.
  return value > -9e18 && value < 9e18 ? static_cast<std::int64_t>(value) : INT64_MIN;
}

Node Node::find(const std::string& path) const {
  if (node_ == nullptr || id_of(node_) != object_id || conduit().has_path(node_, path.c_str()) == 0) return {};
  return {conduit().fetch_existing(node_, path.c_str()), path_ + "/" + path};
}

Node Node::need(const std::string& path) const {
  Node found = find(path);
  if (!found) fail_node(*this, "found no '" + path + "', which is required");
  return found;
}

bool Node::is_parent() const noexcept {
  if (node_ == nullptr) return false;
  const std::int64_t id = id_of(node_);
  return id == object_id || id == list_id || id == empty_id;
}

bool Node::has_children() const noexcept {
  if (node_ == nullptr) return false;
  const std::int64_t id = id_of(node_);
  return (id == object_id || id == list_id) && conduit().number_of_children(node_) > 0;
}

std::vector<std::pair<std::string, Node>> Node::children() const {
  std::vector<std::pair<std::string, Node>> all;
  if (!has_children()) return all;
  const bool named = id_of(node_) == object_id;
  for (std::int64_t n = 0; n < conduit().number_of_children(node_); ++n) {
    void* const child = conduit().child(node_, n);
    std::string name = std::to_string(n);
    if (named) {
      const std::unique_ptr<char, void (*)(void*)> given(conduit().name(child), std::free);
      if (given != nullptr) name = given.get();
    }
    all.emplace_back(name, Node(child, path_ + "/" + name));
  }
  return all;
}

bool Node::is_text() const noexcept { return node_ != nullptr && id_of(node_) == text_id; }

bool Node::is_number() const noexcept { return node_ != nullptr && is_number_id(id_of(node_)); }

std::string Node::text() const {
  if (!is_text()) fail_node(*this, "found no text, expected one");
  const char* const value = conduit().as_char8_str(node_);
  return value == nullptr ? std::string() : std::string(value);
}

std::int64_t Node::integer() const {
  const Numbers all = numbers();
  if (all.count != 1) fail_node(*this, "found " + std::to_string(all.count) + " numbers, expected one integer");
  if (all.integer(0) == INT64_MIN || static_cast<double>(all.integer(0)) != all.real(0)) {
    fail_node(*this, "found " + std::to_string(all.real(0)) + ", expected an integer");
  }
  return all.integer(0);
}

double Node::real() const {
  const Numbers all = numbers();
  if (all.count != 1) fail_node(*this, "found " + std::to_string(all.count) + " numbers, expected one");
  return all.real(0);
}

Numbers Node::numbers() const {
  if (!is_number()) fail_node(*this, "found no numbers, expected some");
  const void* const type = conduit().dtype(node_);
  if (conduit().endianness_matches_machine(type) == 0) {
    fail_node(*this, "found numbers in the byte order of another machine; convert them");
  }
  Numbers all;
  all.type = type_of(id_of(node_));
  all.count = conduit().number_of_elements(type);
  all.stride = conduit().stride(type);
  if (all.count > 0) all.data = static_cast<const std::byte*>(conduit().element_ptr(node_, 0));
  if (all.count > 0 && all.data == nullptr) fail_node(*this, "found numbers without memory");
  return all;
}

std::vector<Numbers> Node::components() const {
  std::vector<Numbers> all;
  if (!has_children()) return {numbers()};
  for (const auto& [name, child] : children()) {
    all.push_back(child.numbers());
    if (all.back().type != all.front().type || all.back().count != all.front().count) {
      fail_node(child, "found another type or number of values than its first component has, expected the same");
    }
  }
  return all;
}

}  // namespace sidestream::catalyst
