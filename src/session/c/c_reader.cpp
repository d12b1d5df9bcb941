// The C interface of Reader, and what a StoredContext says of itself.
#include "session/c/c_reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <span>

using namespace sidestream;

struct sidestream_reader {
  Reader reader;
  std::string remarks;
  std::string message{};  ///< of the last error
};

namespace {

template <class Work>
int reading(sidestream_reader* handle, const char* call, Work&& work) noexcept {
  if (!handle) {
    return shielded(&message_without_session(),
                    [&]() -> int { fail(Code::usage, "{}: the reader is NULL; open one first", call); });
  }
  return shielded(&handle->message, [&] {
    work(handle->reader);
    return static_cast<int>(SIDESTREAM_OK);
  });
}

sidestream_stored_context described(const ListedContext& listed) {
  sidestream_stored_context own{};
  own.slot = static_cast<int64_t>(listed.slot);
  own.index = listed.iteration.index;
  own.cycle = listed.iteration.cycle;
  own.time = listed.iteration.time;
  own.run = static_cast<int32_t>(listed.run);
  own.is_checkpoint = listed.is_checkpoint ? 1 : 0;
  own.blocks = static_cast<int64_t>(listed.blocks);
  own.bytes = listed.bytes;
  own.stored_bytes = listed.stored_bytes;
  return own;
}

std::int32_t levels_of(const StoredContext& context, const Mesh& mesh) {
  const std::int64_t count = context.block_count(mesh.name);
  if (count == 0) return 0;
  return mesh.is_list() ? 1 : context.block(mesh.name, count - 1).level + 1;
}

void put_geometry(const Mesh& mesh, sidestream_stored_mesh& own) {
  put(mesh.cells, own.lo, own.hi);
  const auto put_places = [&](const std::array<double, 3>& origin, const std::array<double, 3>& spacing) {
    std::copy(origin.begin(), origin.end(), own.origin);
    std::copy(spacing.begin(), spacing.end(), own.spacing);
  };
  if (mesh.kind() == MeshKind::octree) {
    const auto& octree = static_cast<const OctreeGeometry&>(*mesh.geometry);
    put_places(octree.origin(), octree.spacing());
    put({{0, 0, 0}, octree.roots()}, own.lo, own.hi);
  } else if (mesh.kind() == MeshKind::uniform) {
    const auto& uniform = static_cast<const UniformGeometry&>(*mesh.geometry);
    put_places(uniform.origin(), uniform.spacing());
  } else if (mesh.kind() == MeshKind::rectilinear) {
    const auto& lines = static_cast<const RectilinearGeometry&>(*mesh.geometry);
    for (int a = 0; a < 3; ++a) own.nodes[a] = lines.nodes(a).data();
  }
}

/// The lists of a mesh, which are made when it is described first.
const MeshLists& lists_of(sidestream_context& handle, const Mesh& mesh) {
  const auto known = handle.lists.find(mesh.id);
  if (known != handle.lists.end()) return known->second;
  MeshLists made;
  for (const Index3& ratio : mesh.refinement) made.ratios.insert(made.ratios.end(), ratio.begin(), ratio.end());
  made.times = handle.context.level_times(mesh.name);
  return handle.lists.emplace(mesh.id, std::move(made)).first->second;
}

sidestream_stored_mesh described(sidestream_context& handle, const Mesh& mesh) {
  const Metadata& metadata = handle.context.metadata();
  const MeshLists& lists = lists_of(handle, mesh);
  sidestream_stored_mesh own{};
  own.name = mesh.name.c_str();
  own.kind = static_cast<int32_t>(mesh.kind());
  own.dimensions = mesh.dimensions;
  own.is_list = mesh.is_list() ? 1 : 0;
  put_geometry(mesh, own);
  for (std::size_t a = 0; a < 3; ++a) own.periodic[a] = mesh.periodic[a] ? 1 : 0;
  own.steps = static_cast<int32_t>(mesh.refinement.size());
  own.ratios = lists.ratios.data();
  own.levels = levels_of(handle.context, mesh);
  for (std::size_t role = 0; role < mesh.arrays.size(); ++role) {
    if (mesh.arrays[role] >= 0)
      own.arrays[role] = metadata.variables[static_cast<std::size_t>(mesh.arrays[role])].name.c_str();
  }
  own.level_times = static_cast<int32_t>(lists.times.size());
  own.times = lists.times.data();
  return own;
}

}  // namespace

int sidestream_reader_open(MPI_Comm comm, const char* directory, sidestream_reader** reader) {
  return shielded(&message_without_session(), [&]() -> int {
    need(reader, "sidestream_reader_open", "reader");
    *reader = nullptr;
    need(directory, "sidestream_reader_open", "directory");
    Reader opened = Reader::open(comm, directory);
    std::string remarks = fmt::format("{}", fmt::join(opened.remarks(), "\n"));
    *reader = new sidestream_reader{std::move(opened), std::move(remarks)};
    return SIDESTREAM_OK;
  });
}

int sidestream_reader_close(sidestream_reader** reader) {
  if (reader == nullptr) return SIDESTREAM_OK;
  delete *reader;
  *reader = nullptr;
  return SIDESTREAM_OK;
}

const char* sidestream_reader_message(const sidestream_reader* reader) {
  return reader ? reader->message.c_str() : message_without_session().c_str();
}

const char* sidestream_reader_remarks(const sidestream_reader* reader) { return reader ? reader->remarks.c_str() : ""; }

int sidestream_reader_context_count(sidestream_reader* reader, int64_t* count) {
  constexpr const char* call = "sidestream_reader_context_count";
  return reading(reader, call, [&](const Reader& from) {
    need(count, call, "count");
    *count = static_cast<int64_t>(from.contexts().size());
  });
}

int sidestream_reader_context(sidestream_reader* reader, int64_t number, sidestream_stored_context* context) {
  constexpr const char* call = "sidestream_reader_context";
  return reading(reader, call, [&](const Reader& from) {
    need(context, call, "context");
    if (number < 0 || static_cast<std::size_t>(number) >= from.contexts().size()) {
      fail(Code::usage, "{}: number {} of {} contexts, counted from 0", call, number, from.contexts().size());
    }
    fill(*context, described(from.contexts()[static_cast<std::size_t>(number)]));
  });
}

int sidestream_reader_find_cycle(sidestream_reader* reader, int64_t cycle, int64_t* number) {
  constexpr const char* call = "sidestream_reader_find_cycle";
  return reading(reader, call, [&](const Reader& from) {
    need(number, call, "number");
    *number = from.find_cycle(cycle);
  });
}

int sidestream_context_open(sidestream_reader* reader, int64_t number, sidestream_context** context) {
  constexpr const char* call = "sidestream_context_open";
  if (context != nullptr) *context = nullptr;
  return reading(reader, call, [&](const Reader& from) {
    // First, since the others would wait.
    StoredContext opened = from.open_context(number);
    need(context, call, "context");
    *context = new sidestream_context{std::move(opened)};
  });
}

int sidestream_context_close(sidestream_context** context) {
  if (context == nullptr) return SIDESTREAM_OK;
  delete *context;
  *context = nullptr;
  return SIDESTREAM_OK;
}

const char* sidestream_context_message(const sidestream_context* context) {
  return context ? context->message.c_str() : message_without_session().c_str();
}

int sidestream_context_iteration(sidestream_context* context, int64_t* index, int64_t* cycle, double* time) {
  return of_context(context, "sidestream_context_iteration", [&](const StoredContext& from) {
    if (index) *index = from.iteration().index;
    if (cycle) *cycle = from.iteration().cycle;
    if (time) *time = from.iteration().time;
  });
}

const char* sidestream_context_provenance(const sidestream_context* context) {
  return context ? context->context.provenance().c_str() : "";
}

int sidestream_context_bytes_read(sidestream_context* context, uint64_t* bytes) {
  constexpr const char* call = "sidestream_context_bytes_read";
  return of_context(context, call, [&](const StoredContext& from) {
    need(bytes, call, "bytes");
    *bytes = from.bytes_read();
  });
}

const char* sidestream_context_mesh_name(const sidestream_context* context, int32_t number) {
  return context ? name_at(context->context.metadata().meshes, number) : nullptr;
}

const char* sidestream_context_variable_name(const sidestream_context* context, int32_t number) {
  return context ? name_at(context->context.metadata().variables, number) : nullptr;
}

int sidestream_context_mesh(sidestream_context* context, const char* mesh, sidestream_stored_mesh* description) {
  constexpr const char* call = "sidestream_context_mesh";
  return of_context(context, call, [&](const StoredContext& from) {
    need(mesh, call, "mesh");
    need(description, call, "description");
    static_cast<void>(from.block_count(mesh));  // throws if there is no such mesh
    fill(*description, described(*context, *from.metadata().find_mesh(mesh)));
  });
}

int sidestream_context_variable(sidestream_context* context, const char* variable,
                                sidestream_stored_variable* description) {
  constexpr const char* call = "sidestream_context_variable";
  return of_context(context, call, [&](const StoredContext& from) {
    need(variable, call, "variable");
    need(description, call, "description");
    const std::string& codec = kept_codec(context->codecs, from, variable);
    const Variable& of = *from.metadata().find_variable(variable);
    fill(*description, described(of, from.metadata().mesh_of(of), 0, codec.c_str()));
  });
}
