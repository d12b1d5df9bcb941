// The C interface of the blocks, values and cells of a StoredContext.
#include "session/c/c_reader.hpp"

using namespace sidestream;

static_assert(sizeof(Index3) == 3 * sizeof(int64_t), "indices of cells are given out as they are");

int sidestream_context_block_count(sidestream_context* context, const char* mesh, int64_t* count) {
  constexpr const char* call = "sidestream_context_block_count";
  return of_context(context, call, [&](const StoredContext& from) {
    need(mesh, call, "mesh");
    need(count, call, "count");
    *count = from.block_count(mesh);
  });
}

int sidestream_context_block(sidestream_context* context, const char* mesh, int64_t number,
                             sidestream_stored_block* block) {
  constexpr const char* call = "sidestream_context_block";
  return of_context(context, call, [&](const StoredContext& from) {
    need(mesh, call, "mesh");
    need(block, call, "block");
    const Block found = from.block(mesh, number);
    fill(*block, described(found, *from.metadata().find_mesh(mesh)));
  });
}

int sidestream_context_limit_levels(sidestream_context* context, int32_t deepest) {
  return of_context(context, "sidestream_context_limit_levels", [&](StoredContext& from) {
    from.limit_levels(deepest < 0 ? std::nullopt : std::optional<std::int32_t>(deepest));
  });
}

int sidestream_context_block_length(sidestream_context* context, const char* variable, int64_t number,
                                    int64_t* length) {
  constexpr const char* call = "sidestream_context_block_length";
  return of_context(context, call, [&](const StoredContext& from) {
    need(variable, call, "variable");
    need(length, call, "length");
    const std::optional<std::uint64_t> bytes = from.block_bytes(variable, number);
    const Type type = from.metadata().find_variable(variable)->type;
    *length = bytes ? static_cast<int64_t>(*bytes / size_of(type)) : -1;
  });
}

int sidestream_context_read_block(sidestream_context* context, const char* variable, int64_t number, void* data,
                                  uint64_t bytes) {
  constexpr const char* call = "sidestream_context_read_block";
  return of_context(context, call, [&](StoredContext& from) {
    need(variable, call, "variable");
    if (bytes > 0) need(data, call, "data");
    from.read_block(variable, number, data, bytes);
  });
}

int sidestream_context_read_box(sidestream_context* context, const char* variable, int32_t level, const int64_t lo[3],
                                const int64_t hi[3], const int64_t* array_lo, const int64_t* array_hi, void* data) {
  constexpr const char* call = "sidestream_context_read_box";
  return of_context(context, call, [&](StoredContext& from) {
    read_box_of(from, call, variable, level, lo, hi, array_lo, array_hi, data);
  });
}

int sidestream_context_list_length(sidestream_context* context, const char* variable, int64_t* length) {
  constexpr const char* call = "sidestream_context_list_length";
  return of_context(context, call, [&](StoredContext& from) {
    need(variable, call, "variable");
    need(length, call, "length");
    *length = from.list_length(variable);
  });
}

int sidestream_context_read_list(sidestream_context* context, const char* variable, int64_t first, int64_t count,
                                 void* data) {
  constexpr const char* call = "sidestream_context_read_list";
  return of_context(context, call, [&](StoredContext& from) {
    need(variable, call, "variable");
    if (count > 0) need(data, call, "data");
    from.read_list(variable, first, count, data);
  });
}

int sidestream_context_tree(sidestream_context* context, const char* mesh, int64_t number,
                            sidestream_stored_tree* tree) {
  constexpr const char* call = "sidestream_context_tree";
  return of_context(context, call, [&](StoredContext& from) {
    need(mesh, call, "mesh");
    need(tree, call, "tree");
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
  constexpr const char* call = "sidestream_context_list_cells";
  if (cells != nullptr) *cells = nullptr;
  return of_context(context, call, [&](StoredContext& from) {
    need(mesh, call, "mesh");
    need(choice, call, "choice");
    need(cells, call, "cells");
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
  return of_context(context, call, [&](StoredContext& from) {
    need(cells, call, "cells");
    need(variable, call, "variable");
    if (bytes > 0) need(data, call, "data");
    const std::int64_t absent = from.read_cells(variable, cells->cells, data, bytes);
    if (missing) *missing = absent;
  });
}
