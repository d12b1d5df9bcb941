// The C interface of Reader and of StoredContext.
#include "sidestream/reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <string>
#include <vector>

#include "session/c/c_stored.hpp"
#include "sidestream/reader.hpp"

using namespace sidestream;

namespace {

/// Lists that a description of a mesh points to.
struct MeshLists {
  std::vector<int64_t> ratios;
  std::vector<double> times;
};

}  // namespace

struct sidestream_reader {
  Reader reader;
  std::string remarks;
  std::string message{};  ///< of the last error
};

struct sidestream_context {
  StoredContext context;
  std::string message{};                        ///< of the last error
  std::map<std::int32_t, MeshLists> lists{};    ///< by mesh
  std::map<std::string, std::string> codecs{};  ///< by variable
  StoredTree tree{};                            ///< the tree requested last
};

struct sidestream_cells {
  Cells cells;
};

namespace {

template <class Work>
int reading(sidestream_reader* handle, const char* call, std::initializer_list<Needed> needed, Work&& work) noexcept {
  return on_handle(handle, &sidestream_reader::reader, "the reader is NULL; open one first", call, needed, work);
}

template <class Work>
int of_context(sidestream_context* handle, const char* call, std::initializer_list<Needed> needed,
               Work&& work) noexcept {
  return on_handle(handle, &sidestream_context::context, "the context is NULL; open one first", call, needed, work);
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

/// The lists of a mesh, made when the mesh is first described.
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
  return reading(reader, "sidestream_reader_context_count", {{count, "count"}},
                 [&](const Reader& from) { *count = static_cast<int64_t>(from.contexts().size()); });
}

int sidestream_reader_context(sidestream_reader* reader, int64_t number, sidestream_stored_context* context) {
  constexpr const char* call = "sidestream_reader_context";
  return reading(reader, call, {{context, "context"}}, [&](const Reader& from) {
    if (number < 0 || static_cast<std::size_t>(number) >= from.contexts().size()) {
      fail(Code::usage, "{}: number {} of {} contexts, counted from 0", call, number, from.contexts().size());
    }
    fill(*context, described(from.contexts()[static_cast<std::size_t>(number)]));
  });
}

int sidestream_reader_find_cycle(sidestream_reader* reader, int64_t cycle, int64_t* number) {
  return reading(reader, "sidestream_reader_find_cycle", {{number, "number"}},
                 [&](const Reader& from) { *number = from.find_cycle(cycle); });
}

int sidestream_context_open(sidestream_reader* reader, int64_t number, sidestream_context** context) {
  constexpr const char* call = "sidestream_context_open";
  if (context != nullptr) *context = nullptr;
  return reading(reader, call, {}, [&](const Reader& from) {
    // Opened before checks of this rank, since the other ranks would wait.
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
  return of_context(context, "sidestream_context_iteration", {}, [&](const StoredContext& from) {
    if (index) *index = from.iteration().index;
    if (cycle) *cycle = from.iteration().cycle;
    if (time) *time = from.iteration().time;
  });
}

const char* sidestream_context_provenance(const sidestream_context* context) {
  return context ? context->context.provenance().c_str() : "";
}

int sidestream_context_bytes_read(sidestream_context* context, uint64_t* bytes) {
  return of_context(context, "sidestream_context_bytes_read", {{bytes, "bytes"}},
                    [&](const StoredContext& from) { *bytes = from.bytes_read(); });
}

const char* sidestream_context_mesh_name(const sidestream_context* context, int32_t number) {
  return context ? name_at(context->context.metadata().meshes, number) : nullptr;
}

const char* sidestream_context_variable_name(const sidestream_context* context, int32_t number) {
  return context ? name_at(context->context.metadata().variables, number) : nullptr;
}

int sidestream_context_mesh(sidestream_context* context, const char* mesh, sidestream_stored_mesh* description) {
  return of_context(context, "sidestream_context_mesh", {{mesh, "mesh"}, {description, "description"}},
                    [&](const StoredContext& from) {
                      static_cast<void>(from.block_count(mesh));  // throws if there is no such mesh
                      fill(*description, described(*context, *from.metadata().find_mesh(mesh)));
                    });
}

int sidestream_context_variable(sidestream_context* context, const char* variable,
                                sidestream_stored_variable* description) {
  return of_context(context, "sidestream_context_variable", {{variable, "variable"}, {description, "description"}},
                    [&](const StoredContext& from) {
                      const std::string& codec = kept_codec(context->codecs, from, variable);
                      const Variable& of = *from.metadata().find_variable(variable);
                      fill(*description, described(of, from.metadata().mesh_of(of), 0, codec.c_str()));
                    });
}

static_assert(sizeof(Index3) == 3 * sizeof(int64_t), "indices of cells are given out as they are");

int sidestream_context_block_count(sidestream_context* context, const char* mesh, int64_t* count) {
  return of_context(context, "sidestream_context_block_count", {{mesh, "mesh"}, {count, "count"}},
                    [&](const StoredContext& from) { *count = from.block_count(mesh); });
}

int sidestream_context_block(sidestream_context* context, const char* mesh, int64_t number,
                             sidestream_stored_block* block) {
  return of_context(context, "sidestream_context_block", {{mesh, "mesh"}, {block, "block"}},
                    [&](const StoredContext& from) {
                      const Block found = from.block(mesh, number);
                      fill(*block, described(found, *from.metadata().find_mesh(mesh)));
                    });
}

int sidestream_context_limit_levels(sidestream_context* context, int32_t deepest) {
  return of_context(context, "sidestream_context_limit_levels", {}, [&](StoredContext& from) {
    from.limit_levels(deepest < 0 ? std::nullopt : std::optional<std::int32_t>(deepest));
  });
}

int sidestream_context_block_length(sidestream_context* context, const char* variable, int64_t number,
                                    int64_t* length) {
  return of_context(context, "sidestream_context_block_length", {{variable, "variable"}, {length, "length"}},
                    [&](const StoredContext& from) {
                      const std::optional<std::uint64_t> bytes = from.block_bytes(variable, number);
                      const Type type = from.metadata().find_variable(variable)->type;
                      *length = bytes ? static_cast<int64_t>(*bytes / size_of(type)) : -1;
                    });
}

int sidestream_context_read_block(sidestream_context* context, const char* variable, int64_t number, void* data,
                                  uint64_t bytes) {
  constexpr const char* call = "sidestream_context_read_block";
  return of_context(context, call, {{variable, "variable"}}, [&](StoredContext& from) {
    if (bytes > 0) need(data, call, "data");
    from.read_block(variable, number, data, bytes);
  });
}

int sidestream_context_read_box(sidestream_context* context, const char* variable, int32_t level, const int64_t lo[3],
                                const int64_t hi[3], const int64_t* array_lo, const int64_t* array_hi, void* data) {
  constexpr const char* call = "sidestream_context_read_box";
  return of_context(context, call, {}, [&](StoredContext& from) {
    read_box_of(from, call, variable, level, lo, hi, array_lo, array_hi, data);
  });
}

int sidestream_context_list_length(sidestream_context* context, const char* variable, int64_t* length) {
  return of_context(context, "sidestream_context_list_length", {{variable, "variable"}, {length, "length"}},
                    [&](StoredContext& from) { *length = from.list_length(variable); });
}

int sidestream_context_read_list(sidestream_context* context, const char* variable, int64_t first, int64_t count,
                                 void* data) {
  constexpr const char* call = "sidestream_context_read_list";
  return of_context(context, call, {{variable, "variable"}}, [&](StoredContext& from) {
    if (count > 0) need(data, call, "data");
    from.read_list(variable, first, count, data);
  });
}

int sidestream_context_tree(sidestream_context* context, const char* mesh, int64_t number,
                            sidestream_stored_tree* tree) {
  return of_context(context, "sidestream_context_tree", {{mesh, "mesh"}, {tree, "tree"}}, [&](StoredContext& from) {
    context->tree = from.tree(mesh, number);
    sidestream_stored_tree own{};
    own.levels = static_cast<int32_t>(context->tree.starts.size()) - 1;
    own.starts = context->tree.starts.data();
    own.refined = context->tree.refined.data();
    own.owned = context->tree.owned.data();
    fill(*tree, own);
  });
}

sidestream_cell_choice sidestream_all_leaves(void) {
  sidestream_cell_choice choice{};
  choice.struct_size = sizeof choice;
  choice.deepest = -1;
  return choice;
}

int sidestream_context_list_cells(sidestream_context* context, const char* mesh, const sidestream_cell_choice* choice,
                                  sidestream_cells** cells) {
  if (cells != nullptr) *cells = nullptr;
  return of_context(context, "sidestream_context_list_cells", {{mesh, "mesh"}, {choice, "choice"}, {cells, "cells"}},
                    [&](StoredContext& from) {
                      const auto own = taken<sidestream_cell_choice>(choice, choice->struct_size);
                      CellSelection selection;
                      selection.level = own.level;
                      if (own.has_box) selection.box = box_of(own.lo, own.hi);
                      selection.coarsest = own.coarsest;
                      if (own.deepest >= 0) selection.deepest = own.deepest;
                      selection.leaves = own.all == 0;
                      *cells = new sidestream_cells{from.list_cells(mesh, selection)};
                    });
}

int sidestream_cells_free(sidestream_cells** cells) {
  if (cells == nullptr) return SIDESTREAM_OK;
  delete *cells;
  *cells = nullptr;
  return SIDESTREAM_OK;
}

int sidestream_cells_list(const sidestream_cells* cells, sidestream_cell_list* list) {
  constexpr const char* call = "sidestream_cells_list";
  return shielded(&message_without_session(), [&]() -> int {
    need(cells, call, "cells");
    need(list, call, "list");
    sidestream_cell_list own{};
    own.count = static_cast<int64_t>(cells->cells.size());
    own.level = cells->cells.level().data();
    own.index = cells->cells.index().empty() ? nullptr : cells->cells.index().front().data();
    own.refined = cells->cells.refined().data();
    own.owner = cells->cells.owner().data();
    fill(*list, own);
    return SIDESTREAM_OK;
  });
}

int sidestream_cells_read(sidestream_context* context, const sidestream_cells* cells, const char* variable, void* data,
                          uint64_t bytes, int64_t* missing) {
  constexpr const char* call = "sidestream_cells_read";
  return of_context(context, call, {{cells, "cells"}, {variable, "variable"}}, [&](StoredContext& from) {
    if (bytes > 0) need(data, call, "data");
    const std::int64_t absent = from.read_cells(variable, cells->cells, data, bytes);
    if (missing) *missing = absent;
  });
}
