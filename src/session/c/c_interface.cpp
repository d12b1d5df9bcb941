// The C interface: every function forwards to the C++ session.
#include <algorithm>
#include <optional>

#include "session/c/c_session.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/waiting.hpp"

// These calls take no C++ types, which the C++ interface marks as deprecated.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace sidestream {

std::string& message_without_session() {
  // Per thread, like errno: a failed open leaves no session that could hold it.
  thread_local std::string message;
  return message;
}

void need(const void* argument, const char* call, const char* name) {
  if (!argument) fail(Code::usage, "{}: {} is NULL; expected a valid pointer", call, name);
}

namespace {

/// Opens a session. `given`: a file name or a text; null for none.
int open_with(Session (*open)(MPI_Comm, const std::string&), MPI_Comm comm, const char* given,
              sidestream_session** session) noexcept {
  return shielded(&message_without_session(), [&] {
    need(session, "open", "the address for the session");
    *session = nullptr;
    // The other ranks, in this collective call, then have an open session, so this rank needs one, too.
    std::string what;
    retry_while_out_of_memory([&] { what = given ? given : ""; });
    Session opened = open(comm, what);
    retry_while_out_of_memory([&] { *session = new sidestream_session{std::move(opened), {}}; });
    return static_cast<int>(SIDESTREAM_OK);
  });
}

/// Describes an array in the client's memory.
sidestream_block block_of(const ArrayView& view, std::int64_t block) {
  sidestream_block whole{};
  whole.block = block;
  whole.type = static_cast<sidestream_type>(view.type);
  whole.components = view.components;
  std::copy(view.box.lo.begin(), view.box.lo.end(), whole.lo);
  std::copy(view.box.hi.begin(), view.box.hi.end(), whole.hi);
  std::copy(view.strides.begin(), view.strides.end(), whole.strides);
  whole.data = view.data;
  return whole;
}

sidestream_account account_of(const Account& from) {
  sidestream_account whole{};
  whole.iterations = from.iterations;
  whole.delivered = from.delivered;
  whole.refused = from.refused;
  whole.failed = from.failed;
  whole.unknown = from.unknown;
  whole.absent_blocks = from.absent_blocks;
  whole.bytes_published = from.bytes_published;
  whole.dropped = from.dropped;
  whole.spilled = from.spilled;
  whole.bytes_spilled = from.bytes_spilled;
  return whole;
}

}  // namespace
}  // namespace sidestream

using sidestream::guarded;
using sidestream::need;
using sidestream::Session;

extern "C" {

int sidestream_open(MPI_Comm comm, const char* file, sidestream_session** session) {
  return sidestream::open_with(Session::open, comm, file, session);
}

int sidestream_open_text(MPI_Comm comm, const char* text, sidestream_session** session) {
  return sidestream::open_with(Session::open_text, comm, text, session);
}

int sidestream_is_server(const sidestream_session* session) { return session && session->session.is_server() ? 1 : 0; }

int sidestream_should_end(const sidestream_session* session) {
  return session && session->session.should_end() ? 1 : 0;
}

int sidestream_serve(sidestream_session* session) {
  return guarded(session, "serve", {}, [](Session& s) { s.serve(); });
}

MPI_Comm sidestream_comm(const sidestream_session* session) {
  return session ? session->session.comm() : MPI_COMM_NULL;
}

int sidestream_close(sidestream_session** session) { return sidestream_close_with_account(session, nullptr); }

int sidestream_close_with_account(sidestream_session** session, sidestream_account* account) {
  if (!session || !*session) return guarded(nullptr, "close", {}, [](Session&) {});
  const std::unique_ptr<sidestream_session> ending(*session);
  *session = nullptr;
  return sidestream::shielded(&sidestream::message_without_session(), [&] {
    const sidestream::Account result = ending->session.close();
    if (account) sidestream::fill(*account, sidestream::account_of(result));
    if (result.dropped == 0) return static_cast<int>(SIDESTREAM_OK);
    sidestream::message_without_session() =
        "close: " + std::to_string(result.dropped) +
        " iterations were dropped, which the servers had not begun when drain_limit was over; raise drain_limit";
    return static_cast<int>(SIDESTREAM_REFUSED);
  });
}

int sidestream_account_so_far(const sidestream_session* session, sidestream_account* account) {
  return guarded(const_cast<sidestream_session*>(session), "account_so_far", {{account, "account"}},
                 [&](Session& s) { sidestream::fill(*account, sidestream::account_of(s.account())); });
}

const char* sidestream_message(const sidestream_session* session) {
  return session ? session->message.c_str() : sidestream::message_without_session().c_str();
}

int sidestream_set_int(sidestream_session* session, const char* name, int64_t value) {
  return guarded(session, "set_int", {{name, "name"}}, [&](Session& s) { s.set(name, value); });
}

int sidestream_set_real(sidestream_session* session, const char* name, double value) {
  return guarded(session, "set_real", {{name, "name"}}, [&](Session& s) { s.set(name, value); });
}

int sidestream_add_uniform_mesh(sidestream_session* session, const char* name, int dimensions, const int64_t* size,
                                const double* origin, const double* spacing) {
  return guarded(session, "add_uniform_mesh", {}, [&](Session& s) {
    for (const void* p : {static_cast<const void*>(name), static_cast<const void*>(size),
                          static_cast<const void*>(origin), static_cast<const void*>(spacing)}) {
      need(p, "add_uniform_mesh", "an argument");
    }
    if (dimensions < 1 || dimensions > 3) {
      sidestream::fail(sidestream::Code::usage, "add_uniform_mesh: dimensions is {}, expected 1, 2 or 3", dimensions);
    }
    s.add_uniform_mesh(name, {size, size + dimensions}, {origin, origin + dimensions}, {spacing, spacing + dimensions});
  });
}

int sidestream_add_rectilinear_mesh(sidestream_session* session, const char* name, int dimensions, const int64_t* size,
                                    const double* const* coordinates) {
  return guarded(session, "add_rectilinear_mesh", {{name, "name"}, {size, "size"}, {coordinates, "coordinates"}},
                 [&](Session& s) {
                   if (dimensions < 1 || dimensions > 3) {
                     sidestream::fail(sidestream::Code::usage,
                                      "add_rectilinear_mesh: dimensions is {}, expected 1, 2 or 3", dimensions);
                   }
                   std::vector<std::vector<double>> nodes;
                   for (int a = 0; a < dimensions; ++a) {
                     need(coordinates[a], "add_rectilinear_mesh", "an axis of coordinates");
                     if (size[a] < 1) {
                       sidestream::fail(sidestream::Code::usage,
                                        "add_rectilinear_mesh: axis {} has {} cells, expected at least 1", a, size[a]);
                     }
                     nodes.emplace_back(coordinates[a], coordinates[a] + size[a] + 1);
                   }
                   s.add_rectilinear_mesh(name, nodes);
                 });
}

int sidestream_add_variable(sidestream_session* session, const char* name, const char* mesh, sidestream_type type,
                            sidestream_centering centering, int components, sidestream_order order) {
  return guarded(session, "add_variable", {{name, "name"}, {mesh, "mesh"}}, [&](Session& s) {
    if (type < 0 || type >= sidestream::type_count || centering < 0 || centering >= sidestream::centering_count ||
        order < 0 || order > 1) {
      sidestream::fail(sidestream::Code::usage,
                       "add_variable: type {}, centering {}, order {} of '{}'; expected constants of sidestream.h",
                       static_cast<int>(type), static_cast<int>(centering), static_cast<int>(order), name);
    }
    sidestream::Variable variable;
    variable.name = name;
    variable.type = static_cast<sidestream::Type>(type);
    variable.centering = static_cast<sidestream::Centering>(centering);
    variable.components = components;
    variable.order = static_cast<sidestream::Order>(order);
    s.add_variable(mesh, std::move(variable));
  });
}

int sidestream_set_variable_attribute(sidestream_session* session, const char* variable, const char* attribute,
                                      const char* value) {
  return guarded(session, "set_variable_attribute",
                 {{variable, "variable"}, {attribute, "attribute"}, {value, "value"}},
                 [&](Session& s) { s.set_attribute(variable, attribute, value); });
}

int sidestream_start(sidestream_session* session) {
  return guarded(session, "start", {}, [](Session& s) { s.start(); });
}

[[gnu::hot]] int sidestream_publish(sidestream_session* session, const char* variable, int64_t block,
                                    const void* data) {
  return sidestream::publishing(session, "publish", {{variable, "variable"}},
                                [&](Session& s) { return sidestream::code_of(s.publish(variable, block, data)); });
}

int sidestream_publish_values(sidestream_session* session, const char* variable, int64_t block, sidestream_type type,
                              const void* data, int64_t count) {
  return sidestream::publishing(session, "publish_values", {{variable, "variable"}}, [&](Session& s) {
    const sidestream::Values values =
        sidestream::or_refuse([&] { return sidestream::values_of("publish_values", type, data, count); },
                              [&] { s.publish(variable, block, sidestream::impossible_values()); });
    return sidestream::code_of(s.publish(variable, block, values));
  });
}

int sidestream_get_handle(sidestream_session* session, const char* variable, int64_t block, sidestream_handle* handle) {
  return guarded(session, "get_handle", {{variable, "variable"}, {handle, "handle"}},
                 [&](Session& s) { *handle = static_cast<int64_t>(s.handle(variable, block)); });
}

[[gnu::hot]] int sidestream_publish_handle(sidestream_session* session, sidestream_handle handle, const void* data) {
  return sidestream::publishing(session, "publish_handle", {}, [&](Session& s) {
    return sidestream::code_of(s.publish(sidestream::Handle{handle}, data));
  });
}

int sidestream_publish_handle_values(sidestream_session* session, sidestream_handle handle, sidestream_type type,
                                     const void* data, int64_t count) {
  return sidestream::publishing(session, "publish_handle_values", {}, [&](Session& s) {
    const sidestream::Handle of{handle};
    const sidestream::Values values =
        sidestream::or_refuse([&] { return sidestream::values_of("publish_handle_values", type, data, count); },
                              [&] { s.publish(of, sidestream::impossible_values()); });
    return sidestream::code_of(s.publish(of, values));
  });
}

int sidestream_publish_strided(sidestream_session* session, const char* variable, int64_t block, const void* data,
                               const int64_t strides[4]) {
  return sidestream::publishing(
      session, "publish_strided", {{variable, "variable"}, {strides, "strides"}}, [&](Session& s) {
        return sidestream::code_of(s.publish(variable, block, data, {strides[0], strides[1], strides[2], strides[3]}));
      });
}

int sidestream_publish_array(sidestream_session* session, const char* variable, int64_t block, sidestream_type type,
                             const void* data, int rank, const int64_t* extents, const int64_t* strides,
                             int component_axis) {
  return sidestream::publishing(session, "publish_array", {{variable, "variable"}}, [&](Session& s) {
    if (rank > 0) need(extents, "publish_array", "extents"), need(strides, "publish_array", "strides");
    const sidestream::Type of =
        sidestream::or_refuse([&] { return sidestream::type_of("publish_array", type); },
                              [&] { s.publish(variable, block, sidestream::impossible_values()); });
    return sidestream::code_of(s.publish(variable, block, {of, data, rank, extents, strides, component_axis}));
  });
}

int sidestream_alloc(sidestream_session* session, const char* variable, int64_t block, void** data) {
  return sidestream::publishing(session, "alloc", {{variable, "variable"}, {data, "data"}}, [&](Session& s) {
    *data = s.alloc(variable, block);
    return *data ? SIDESTREAM_OK : SIDESTREAM_REFUSED;
  });
}

int sidestream_alloc_values(sidestream_session* session, const char* variable, int64_t block, sidestream_type type,
                            int64_t count, void** data) {
  return sidestream::publishing(session, "alloc_values", {{variable, "variable"}, {data, "data"}}, [&](Session& s) {
    const sidestream::Values wanted =
        sidestream::or_refuse([&] { return sidestream::values_of("alloc_values", type, nullptr, count); },
                              [&] { s.publish(variable, block, sidestream::impossible_values()); });
    *data = s.alloc_values(variable, block, wanted.type, wanted.count);
    return *data ? SIDESTREAM_OK : SIDESTREAM_REFUSED;
  });
}

int sidestream_alloc_array(sidestream_session* session, const char* variable, int64_t block, sidestream_type type,
                           int rank, sidestream_block* array) {
  return sidestream::publishing(session, "alloc_array", {{variable, "variable"}, {array, "array"}}, [&](Session& s) {
    const sidestream::Type of =
        sidestream::or_refuse([&] { return sidestream::type_of("alloc_array", type); },
                              [&] { s.publish(variable, block, sidestream::impossible_values()); });
    const sidestream::ArrayView view = s.alloc(variable, block, of, rank);
    sidestream::fill(*array, sidestream::block_of(view, block));
    return view.data ? SIDESTREAM_OK : SIDESTREAM_REFUSED;
  });
}

int sidestream_commit(sidestream_session* session, const char* variable, int64_t block) {
  return guarded(session, "commit", {{variable, "variable"}}, [&](Session& s) { s.commit(variable, block); });
}

int sidestream_clear(sidestream_session* session, const char* variable, int64_t block) {
  return guarded(session, "clear", {{variable, "variable"}}, [&](Session& s) { s.clear(variable, block); });
}

int sidestream_keep_memory(sidestream_session* session, sidestream_memory** memory) {
  return guarded(session, "keep_memory", {{memory, "the address for the memory"}},
                 [&](Session& s) { *memory = new sidestream_memory{s.memory()}; });
}

void sidestream_release_memory(sidestream_memory* memory) { delete memory; }

int sidestream_describe_variable(sidestream_session* session, const char* variable,
                                 sidestream_description* description) {
  return guarded(session, "describe_variable", {{variable, "variable"}, {description, "description"}}, [&](Session& s) {
    const sidestream::Variable& found = s.declared(variable);
    sidestream_description whole{};
    whole.type = static_cast<sidestream_type>(found.type);
    whole.centering = static_cast<sidestream_centering>(found.centering);
    whole.order = static_cast<sidestream_order>(found.order);
    whole.components = found.components;
    whole.axes = s.array_axes(found);
    sidestream::fill(*description, whole);
  });
}

int sidestream_is_needed(sidestream_session* session, const char* variable, const int64_t* cycle, int* needed) {
  return guarded(session, "is_needed", {{variable, "variable"}, {needed, "needed"}}, [&](Session& s) {
    *needed = s.is_needed(variable, cycle ? std::optional(*cycle) : std::nullopt) ? 1 : 0;
  });
}

int sidestream_signal(sidestream_session* session, const char* event) {
  return guarded(session, "signal", {{event, "event"}}, [&](Session& s) { s.signal(event); });
}

int sidestream_signal_values(sidestream_session* session, const char* event, sidestream_scope scope,
                             sidestream_type type, const void* values, int64_t count) {
  return guarded(session, "signal_values", {{event, "event"}}, [&](Session& s) {
    if (count < 0)
      sidestream::fail(sidestream::Code::usage, "signal_values: found {} values, expected at least 0", count);
    s.signal(event, static_cast<sidestream::EventScope>(scope), static_cast<sidestream::Type>(type), values,
             static_cast<std::size_t>(count));
  });
}

int sidestream_signal_barrier(sidestream_session* session, const char* event) {
  return guarded(session, "signal_barrier", {{event, "event"}}, [&](Session& s) { s.signal_barrier(event); });
}

int sidestream_get_int(sidestream_session* session, const char* name, int64_t* value) {
  return guarded(session, "get_int", {{name, "name"}, {value, "value"}},
                 [&](Session& s) { *value = s.steered_integer(name); });
}

int sidestream_get_real(sidestream_session* session, const char* name, double* value) {
  return guarded(session, "get_real", {{name, "name"}, {value, "value"}},
                 [&](Session& s) { *value = s.steered_real(name); });
}

int sidestream_end_iteration(sidestream_session* session, int64_t cycle, double time) {
  return sidestream::publishing(session, "end_iteration", {},
                                [&](Session& s) { return sidestream::code_of(s.end_iteration(cycle, time)); });
}

}  // extern "C"
