// The C++ interface: forwards to the implementation.

#include <algorithm>
#include <exception>

#include "session/c/as_error.hpp"
#include "session/implementation.hpp"
#include "session/session_access.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/log.hpp"

namespace sidestream {

namespace {

/// Publishes each array, since an array that is not even tried would not be accounted for. Returns refused if any is;
/// throws the first exception.
template <class Publish>
Taken publish_each(std::size_t count, Publish&& publish) {
  Taken taken = Taken::yes;
  std::exception_ptr first;
  for (std::size_t n = 0; n < count; ++n) {
    try {
      if (publish(n) == Taken::refused) taken = Taken::refused;
    } catch (...) {
      if (!first) first = std::current_exception();
    }
  }
  if (first) std::rethrow_exception(first);
  return taken;
}

template <class Array>
Taken publish_all(Publisher& publisher, const std::vector<Handle>& handles, const std::vector<Array>& arrays) {
  if (handles.size() != arrays.size()) {
    fail(Code::usage, "publish: {} handles and {} arrays; give as many of each", handles.size(), arrays.size());
  }
  return publish_each(handles.size(), [&](std::size_t n) {
    return publisher.publish(static_cast<std::int64_t>(handles[n]), arrays[n]);
  });
}

}  // namespace

Session::Session(std::unique_ptr<Implementation> implementation) : implementation_(std::move(implementation)) {}
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&& other) noexcept {
  // Closes the session that this object held, as its destructor does.
  if (this != &other) {
    const Session before(std::move(*this));
    implementation_ = std::move(other.implementation_);
  }
  return *this;
}

Session::~Session() {
  if (!implementation_) return;
  const LogScope logging = implementation_->logging();
  try {
    implementation_->close();
  } catch (const std::exception& e) {
    if (implementation_->closed_by_finalize()) return;  // it has logged that
    log::error("closing a session: {}", e.what());
  }
}

Session Session::open(MPI_Comm comm, const std::string& file) try {
  return Session(Implementation::open(comm, file, std::nullopt));
} catch (...) {
  rethrow_as_error("open");
}

Session Session::open_text(MPI_Comm comm, const std::string& text) try {
  return Session(Implementation::open(comm, "", text));
} catch (...) {
  rethrow_as_error("open");
}

bool Session::is_server() const { return alive(implementation_, "is_server").is_server(); }
void Session::serve() try { alive(implementation_, "serve").serve(); } catch (...) {
  rethrow_as_error("serve");
}
MPI_Comm Session::comm() const { return alive(implementation_, "comm").comm(); }
Account Session::account() const { return alive(implementation_, "account").account(); }
Registry& Session::registry() { return alive(implementation_, "registry").registry(); }

Account Session::close() try {
  if (!implementation_) fail(Code::usage, "close: the session is closed already");
  const std::unique_ptr<Implementation> ending = std::move(implementation_);
  return ending->close();
} catch (...) {
  rethrow_as_error("close");
}

void Session::set(const std::string& name, std::int64_t value) try {
  declaring(implementation_, "set").set(name, value);
} catch (...) {
  rethrow_as_error("set");
}
void Session::set(const std::string& name, double value) try {
  declaring(implementation_, "set").set(name, value);
} catch (...) {
  rethrow_as_error("set");
}

namespace {

Box cells_of(const std::string& name, const std::vector<Index>& size) {
  if (size.empty() || size.size() > 3) {
    fail(Code::usage, "the mesh '{}' has {} sizes, expected 1 to 3", name, size.size());
  }
  Box cells{{0, 0, 0}, {1, 1, 1}};
  for (std::size_t a = 0; a < size.size(); ++a) {
    if (size[a] < 1) fail(Code::usage, "the mesh '{}' has {} cells on axis {}, expected at least 1", name, size[a], a);
    cells.hi[a] = size[a];
  }
  return cells;
}

}  // namespace

void Session::add_uniform_mesh(const std::string& name, const std::vector<Index>& size,
                               const std::vector<double>& origin, const std::vector<double>& spacing) try {
  Mesh mesh{-1, name, cells_of(name, size), static_cast<int>(size.size()), nullptr};
  if (origin.size() != size.size() || spacing.size() != size.size()) {
    fail(Code::usage, "the mesh '{}' has {} sizes, {} origins and {} spacings; give as many of each", name, size.size(),
         origin.size(), spacing.size());
  }
  std::array<double, 3> at{0, 0, 0}, step{1, 1, 1};
  for (std::size_t a = 0; a < size.size(); ++a) {
    if (!(spacing[a] > 0))
      fail(Code::usage, "the mesh '{}' has spacing {} on axis {}, expected more than 0", name, spacing[a], a);
    at[a] = origin[a];
    step[a] = spacing[a];
  }
  mesh.geometry = std::make_shared<UniformGeometry>(at, step);
  declaring(implementation_, "add_uniform_mesh").add_mesh(std::move(mesh));
} catch (...) {
  rethrow_as_error("add_uniform_mesh");
}

void Session::add_rectilinear_mesh(const std::string& name, const std::vector<std::vector<double>>& nodes) try {
  std::vector<Index> size;
  for (const auto& axis : nodes) size.push_back(static_cast<Index>(axis.size()) - 1);
  Mesh mesh{-1, name, cells_of(name, size), static_cast<int>(size.size()), nullptr};
  std::array<std::vector<double>, 3> all{std::vector<double>{0, 1}, {0, 1}, {0, 1}};
  for (std::size_t a = 0; a < nodes.size(); ++a) {
    for (std::size_t i = 1; i < nodes[a].size(); ++i) {
      if (!(nodes[a][i] > nodes[a][i - 1])) {
        fail(Code::usage, "the mesh '{}' has coordinates {} and {} on axis {} at {}; expected increasing ones", name,
             nodes[a][i - 1], nodes[a][i], a, i);
      }
    }
    all[a] = nodes[a];
  }
  mesh.geometry = std::make_shared<RectilinearGeometry>(Index3{0, 0, 0}, std::move(all));
  declaring(implementation_, "add_rectilinear_mesh").add_mesh(std::move(mesh));
} catch (...) {
  rethrow_as_error("add_rectilinear_mesh");
}

void Session::add_variable(const std::string& mesh, Variable variable) try {
  if (variable.components < 1) {
    fail(Code::usage, "the variable '{}' has {} components, expected at least 1", variable.name, variable.components);
  }
  declaring(implementation_, "add_variable").add_variable(mesh, std::move(variable));
} catch (...) {
  rethrow_as_error("add_variable");
}

void Session::set_attribute(const std::string& variable, const std::string& attribute, const std::string& value) try {
  declaring(implementation_, "set_attribute").set_attribute(variable, attribute, value);
} catch (...) {
  rethrow_as_error("set_attribute");
}

void Session::remove_block(const std::string& mesh, std::int64_t block) try {
  alive(implementation_, "remove_block").remove_block(mesh, block);
} catch (...) {
  rethrow_as_error("remove_block");
}
void Session::set_allocated(const std::string& variable, std::int64_t block, const Box& box) try {
  alive(implementation_, "set_allocated").set_allocated(variable, block, box);
} catch (...) {
  rethrow_as_error("set_allocated");
}
void Session::start() try { alive(implementation_, "start").start(); } catch (...) {
  rethrow_as_error("start");
}

StridedValues::StridedValues(Type type, const void* data, const std::vector<Index>& extents,
                             const std::vector<Index>& strides, int component_axis)
    : type_(type), data_(data), rank_(static_cast<int>(extents.size())), component_axis_(component_axis) {
  if (strides.size() != extents.size() || extents.size() > extents_.size()) {
    fail(Code::usage, "publish: an array of {} extents and {} strides, expected as many of each, at most {}",
         extents.size(), strides.size(), extents_.size());
  }
  std::copy(extents.begin(), extents.end(), extents_.begin());
  std::copy(strides.begin(), strides.end(), strides_.begin());
}

[[gnu::hot]] Taken Session::publish(std::string_view variable, std::int64_t block, const Values& values) try {
  return publishing(implementation_, "publish").publish(variable, block, values);
} catch (...) {
  rethrow_as_error("publish");
}
Taken Session::publish(std::string_view variable, std::int64_t block, const StridedValues& values) try {
  return publishing(implementation_, "publish")
      .publish(variable, block,
               ProgramArray{values.type(), values.data(), values.rank(), values.extents(), values.strides(),
                            values.component_axis()});
} catch (...) {
  rethrow_as_error("publish");
}
[[gnu::hot]] Taken Session::publish(std::string_view variable, std::int64_t block, const void* data) try {
  return publishing(implementation_, "publish").publish(variable, block, data, nullptr);
} catch (...) {
  rethrow_as_error("publish");
}
Taken Session::publish(std::string_view variable, std::int64_t block, const void* data,
                       const std::array<Index, 4>& strides) try {
  return publishing(implementation_, "publish").publish(variable, block, data, &strides);
} catch (...) {
  rethrow_as_error("publish");
}
Taken Session::publish_array(std::string_view variable, std::int64_t block, const ProgramArray& array) try {
  return publishing(implementation_, "publish").publish(variable, block, array);
} catch (...) {
  rethrow_as_error("publish");
}
Taken Session::publish_components(std::string_view variable, std::int64_t block,
                                  const std::vector<const void*>& components) try {
  return publishing(implementation_, "publish_components").publish(variable, block, components, nullptr);
} catch (...) {
  rethrow_as_error("publish_components");
}
Taken Session::publish_components(std::string_view variable, std::int64_t block,
                                  const std::vector<const void*>& components, const ProgramArray& of_each) try {
  return publishing(implementation_, "publish_components").publish(variable, block, components, &of_each);
} catch (...) {
  rethrow_as_error("publish_components");
}
Taken Session::publish_components(std::string_view variable, std::int64_t block, const ValuesList& components) try {
  return publishing(implementation_, "publish_components").publish_components(variable, block, components.all);
} catch (...) {
  rethrow_as_error("publish_components");
}
Handle Session::handle(std::string_view variable, std::int64_t block) try {
  return Handle{publishing(implementation_, "handle").handle(variable, block)};
} catch (...) {
  rethrow_as_error("handle");
}
[[gnu::hot]] Taken Session::publish(Handle handle, const void* data) try {
  return publishing(implementation_, "publish").publish(static_cast<std::int64_t>(handle), data);
} catch (...) {
  rethrow_as_error("publish");
}
[[gnu::hot]] Taken Session::publish(Handle handle, const Values& values) try {
  return publishing(implementation_, "publish").publish(static_cast<std::int64_t>(handle), values);
} catch (...) {
  rethrow_as_error("publish");
}
Taken Session::publish(const std::vector<Handle>& handles, const ValuesList& values) try {
  return publish_all(publishing(implementation_, "publish"), handles, values.all);
} catch (...) {
  rethrow_as_error("publish");
}
Taken Session::publish(const std::vector<Handle>& handles, const std::vector<const void*>& data) try {
  return publish_all(publishing(implementation_, "publish"), handles, data);
} catch (...) {
  rethrow_as_error("publish");
}
Taken Session::publish_block(std::int64_t block, const std::vector<NamedValues>& arrays) try {
  Publisher& publisher = publishing(implementation_, "publish_block");
  return publish_each(arrays.size(),
                      [&](std::size_t n) { return publisher.publish(arrays[n].variable, block, arrays[n].values); });
} catch (...) {
  rethrow_as_error("publish_block");
}
Taken Session::publish_block(std::int64_t block,
                             const std::vector<std::pair<std::string_view, const void*>>& arrays) try {
  Publisher& publisher = publishing(implementation_, "publish_block");
  return publish_each(arrays.size(), [&](std::size_t n) {
    return publisher.publish(arrays[n].first, block, arrays[n].second, nullptr);
  });
} catch (...) {
  rethrow_as_error("publish_block");
}
std::string Session::refusal() const try { return alive(implementation_, "refusal").refusal(); } catch (...) {
  rethrow_as_error("refusal");
}
void* Session::alloc(std::string_view variable, std::int64_t block) try {
  return publishing(implementation_, "alloc").alloc(variable, block);
} catch (...) {
  rethrow_as_error("alloc");
}
void* Session::alloc_values(std::string_view variable, std::int64_t block, Type type, std::size_t count) try {
  return publishing(implementation_, "alloc").alloc_values(variable, block, type, count);
} catch (...) {
  rethrow_as_error("alloc");
}
ArrayView Session::alloc(std::string_view variable, std::int64_t block, Type type, int rank) try {
  return publishing(implementation_, "alloc").alloc(variable, block, type, rank);
} catch (...) {
  rethrow_as_error("alloc");
}
void Session::commit(std::string_view variable, std::int64_t block) try {
  publishing(implementation_, "commit").commit(variable, block);
} catch (...) {
  rethrow_as_error("commit");
}
void Session::clear(std::string_view variable, std::int64_t block) try {
  publishing(implementation_, "clear").clear(variable, block);
} catch (...) {
  rethrow_as_error("clear");
}
std::shared_ptr<const void> Session::memory() try {
  return publishing(implementation_, "keep_memory").memory();
} catch (...) {
  rethrow_as_error("keep_memory");
}
const Variable& Session::declared(std::string_view variable) try {
  return publishing(implementation_, "describe_variable").declared(variable, "describe_variable");
} catch (...) {
  rethrow_as_error("describe_variable");
}
int Session::array_axes(const Variable& variable) try {
  return publishing(implementation_, "describe_variable").array_axes(variable);
} catch (...) {
  rethrow_as_error("describe_variable");
}
void Session::signal(std::string_view event, EventScope scope, Type type, const void* values, std::size_t count) try {
  publishing(implementation_, "signal").signal(event, scope, type, values, count);
} catch (...) {
  rethrow_as_error("signal");
}
void Session::signal_barrier(std::string_view event) try {
  publishing(implementation_, "signal_barrier").signal_barrier(event);
} catch (...) {
  rethrow_as_error("signal_barrier");
}
void Session::signal(std::string_view event) try { publishing(implementation_, "signal").signal(event); } catch (...) {
  rethrow_as_error("signal");
}
std::int64_t Session::steered_integer(std::string_view name) const try {
  return alive(implementation_, "get_int").steered("get_int").integer(name);
} catch (...) {
  rethrow_as_error("get_int");
}
double Session::steered_real(std::string_view name) const try {
  return alive(implementation_, "get_real").steered("get_real").real(name);
} catch (...) {
  rethrow_as_error("get_real");
}
std::vector<std::pair<std::string, Type>> Session::steered_parameters() const try {
  return alive(implementation_, "steered_parameters").steered("steered_parameters").parameters();
} catch (...) {
  rethrow_as_error("steered_parameters");
}
bool Session::is_needed(std::string_view variable, std::optional<std::int64_t> cycle) try {
  return alive(implementation_, "is_needed").publisher("is_needed").is_needed(variable, cycle);
} catch (...) {
  rethrow_as_error("is_needed");
}
bool Session::should_end() const { return alive(implementation_, "should_end").should_end(); }
Taken Session::end_iteration(std::int64_t cycle, double time) try {
  return alive(implementation_, "end_iteration").end_iteration(cycle, time);
} catch (...) {
  rethrow_as_error("end_iteration");
}

Session SessionAccess::open(MPI_Comm comm, const std::string& file, const EditDocument& edit) try {
  return Session(Session::Implementation::open(comm, file, std::nullopt, edit));
} catch (...) {
  rethrow_as_error("open");
}

void SessionAccess::expect_gaps(Session& session) { session.implementation_->expect_gaps(); }

}  // namespace sidestream
