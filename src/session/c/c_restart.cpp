// The C interface of Restart.
#include "sidestream/restart.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

#include "session/c/c_stored.hpp"
#include "sidestream/restart.hpp"

using namespace sidestream;

struct sidestream_restart {
  Restart restart;
  std::string remarks;
  std::string message{};                               ///< of the last error
  std::map<std::string, std::vector<Block>> blocks{};  ///< of the meshes requested so far
  std::map<std::string, std::string> codecs{};         ///< of the variables described so far
};

namespace {

template <class Work>
int reading(sidestream_restart* handle, const char* call, std::initializer_list<Needed> needed, Work&& work) noexcept {
  return on_handle(handle, &sidestream_restart::restart, "the restart is NULL; open one first", call, needed, work);
}

const std::vector<Block>& blocks_of(sidestream_restart& handle, const char* mesh) {
  const auto found = handle.blocks.find(mesh);
  return found != handle.blocks.end() ? found->second
                                      : handle.blocks.emplace(mesh, handle.restart.blocks(mesh)).first->second;
}

}  // namespace

int sidestream_restart_open(MPI_Comm comm, const char* directory, const int64_t* cycle, sidestream_restart** restart) {
  return shielded(&message_without_session(), [&]() -> int {
    need(restart, "sidestream_restart_open", "restart");
    *restart = nullptr;
    need(directory, "sidestream_restart_open", "directory");
    Restart opened = Restart::open(comm, directory, cycle ? std::optional<std::int64_t>(*cycle) : std::nullopt);
    std::string remarks = fmt::format("{}", fmt::join(opened.remarks(), "\n"));
    *restart = new sidestream_restart{std::move(opened), std::move(remarks)};
    return SIDESTREAM_OK;
  });
}

int sidestream_restart_close(sidestream_restart** restart) {
  if (restart == nullptr) return SIDESTREAM_OK;
  delete *restart;
  *restart = nullptr;
  return SIDESTREAM_OK;
}

const char* sidestream_restart_message(const sidestream_restart* restart) {
  return restart ? restart->message.c_str() : message_without_session().c_str();
}

const char* sidestream_restart_remarks(const sidestream_restart* restart) {
  return restart ? restart->remarks.c_str() : "";
}

int sidestream_restart_iteration(sidestream_restart* restart, int64_t* index, int64_t* cycle, double* time) {
  return reading(restart, "sidestream_restart_iteration", {}, [&](const Restart& from) {
    if (index) *index = from.iteration().index;
    if (cycle) *cycle = from.iteration().cycle;
    if (time) *time = from.iteration().time;
  });
}

const char* sidestream_restart_mesh_name(const sidestream_restart* restart, int32_t number) {
  return restart ? name_at(restart->restart.metadata().meshes, number) : nullptr;
}

const char* sidestream_restart_variable_name(const sidestream_restart* restart, int32_t number) {
  return restart ? name_at(restart->restart.metadata().variables, number) : nullptr;
}

int sidestream_restart_variable(sidestream_restart* restart, const char* variable,
                                sidestream_stored_variable* description) {
  return reading(restart, "sidestream_restart_variable", {{variable, "variable"}, {description, "description"}},
                 [&](const Restart& from) {
                   const std::string& codec =
                       kept_codec(restart->codecs, from, variable);  // throws if there is no such variable
                   const Variable& of = *from.metadata().find_variable(variable);
                   const Mesh& mesh = from.metadata().mesh_of(of);
                   const std::int64_t length = mesh.is_list() ? from.list_length(variable) : 0;
                   fill(*description, described(of, mesh, length, codec.c_str()));
                 });
}

int sidestream_restart_block_count(sidestream_restart* restart, const char* mesh, int64_t* count) {
  return reading(restart, "sidestream_restart_block_count", {{mesh, "mesh"}, {count, "count"}},
                 [&](const Restart&) { *count = static_cast<int64_t>(blocks_of(*restart, mesh).size()); });
}

int sidestream_restart_block(sidestream_restart* restart, const char* mesh, int64_t number,
                             sidestream_stored_block* block) {
  constexpr const char* call = "sidestream_restart_block";
  return reading(restart, call, {{mesh, "mesh"}, {block, "block"}}, [&](const Restart&) {
    const std::vector<Block>& all = blocks_of(*restart, mesh);
    if (number < 0 || static_cast<std::size_t>(number) >= all.size()) {
      fail(Code::usage, "{}: number {} of {} blocks of '{}', counted from 0", call, number, all.size(), mesh);
    }
    const Block& found = all[static_cast<std::size_t>(number)];
    fill(*block, described(found, *restart->restart.metadata().find_mesh(mesh)));
  });
}

int sidestream_restart_limit_levels(sidestream_restart* restart, int32_t deepest) {
  return reading(restart, "sidestream_restart_limit_levels", {}, [&](Restart& from) {
    restart->blocks.clear();
    from.limit_levels(deepest < 0 ? std::nullopt : std::optional<std::int32_t>(deepest));
  });
}

int sidestream_restart_read_box(sidestream_restart* restart, const char* variable, int32_t level, const int64_t lo[3],
                                const int64_t hi[3], const int64_t* array_lo, const int64_t* array_hi, void* data) {
  constexpr const char* call = "sidestream_restart_read_box";
  return reading(restart, call, {},
                 [&](Restart& from) { read_box_of(from, call, variable, level, lo, hi, array_lo, array_hi, data); });
}

int sidestream_restart_read_list(sidestream_restart* restart, const char* variable, int64_t first, int64_t count,
                                 void* data) {
  constexpr const char* call = "sidestream_restart_read_list";
  return reading(restart, call, {{variable, "variable"}}, [&](Restart& from) {
    if (count > 0) need(data, call, "data");
    from.read_list(variable, first, count, data);
  });
}

int sidestream_restart_read_block(sidestream_restart* restart, const char* variable, int64_t block, void* data,
                                  uint64_t bytes) {
  constexpr const char* call = "sidestream_restart_read_block";
  return reading(restart, call, {{variable, "variable"}}, [&](Restart& from) {
    if (bytes > 0) need(data, call, "data");
    from.read_block(variable, block, data, bytes);
  });
}
