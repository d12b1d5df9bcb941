// Opening a session: the configuration, the roles, the plug-ins.
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "analysis/register.hpp"
#include "base/agree.hpp"
#include "base/fail.hpp"
#include "client/implementation.hpp"
#include "client/record.hpp"
#include "config/plugin_loader.hpp"
#include "partition/register.hpp"
#include "storage/register.hpp"
#include "transport/staging/writer.hpp"

namespace sidestream {

namespace {

std::string read_file(const std::string& file) {
  if (std::filesystem::is_directory(file)) {
    fail(Code::configuration, "{}: found a directory, expected a configuration file; correct the path", file);
  }
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  if (in) text << in.rdbuf();
  if (!in) {
    fail(Code::configuration,
         "{}: cannot read the configuration ({}); correct the path given to open or in SIDESTREAM_CONFIG", file,
         std::strerror(errno));
  }
  return text.str();
}

Bytes to_bytes(const std::string& text) {
  const auto* at = reinterpret_cast<const std::byte*>(text.data());
  return Bytes(at, at + text.size());
}

void share(MpiCommunicator& world, std::string& text) {
  Bytes bytes = to_bytes(text);
  world.broadcast(bytes, 0);
  text.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

}  // namespace

Session::Implementation::Implementation(MPI_Comm comm, const std::string& file,
                                        const std::optional<std::string>& text) {
  int initialized = 0, finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  if (!initialized || finalized) {
    fail(Code::usage, "open: MPI is {}; open sessions between MPI_Init and MPI_Finalize",
         finalized ? "finalized" : "not initialized");
  }
  // All placements so far call MPI from the caller's thread alone: MPI_THREAD_FUNNELED and its main thread, or any
  // thread at a higher level.
  int level = MPI_THREAD_SINGLE, is_main = 1;
  MPI_Query_thread(&level);
  MPI_Is_thread_main(&is_main);
  if (level < MPI_THREAD_SERIALIZED && !is_main) {
    fail(Code::usage,
         "open: this is not the thread that initialised MPI; open and use sessions there, or ask MPI_Init_thread for "
         "MPI_THREAD_SERIALIZED");
  }
  if (comm == MPI_COMM_NULL) fail(Code::usage, "open: the communicator is MPI_COMM_NULL; give the simulation's");
  world_ = std::make_unique<MpiCommunicator>(comm);
  read_configuration(file, text);
  together(*world_, [&] {
    document_ = parse_document(text_, file_);
    opening_ = read_opening(*document_);
    // The environment may differ between ranks; rank 0's counts, below.
    if (world_->rank() == 0) opening_.placement.pretend_nodes = pretended_nodes(opening_.placement.pretend_nodes);
  });
  std::string nodes = std::to_string(opening_.placement.pretend_nodes);
  share(*world_, nodes);
  opening_.placement.pretend_nodes = std::stoi(nodes);
  roles_ = assign_roles(*world_, opening_.placement);
  together(*world_, [&] {
    register_analyses(registry_);
    register_storage(registry_);
    register_partitioners(registry_);
    staging::register_streams(registry_, streams_);
    if (is_off()) return;  // tasks are not read either
    for (const auto& [path, where] : opening_.plugins) load_plugin(path, where, registry_);
  });
  check_directory();
}

void Session::Implementation::read_configuration(const std::string& file, const std::optional<std::string>& text) {
  together(*world_, [&] {
    if (world_->rank() != 0) return;
    const char* override_file = std::getenv("SIDESTREAM_CONFIG");
    if (override_file && *override_file) {
      file_ = override_file;
    } else if (text) {
      file_ = "configuration";
      text_ = *text;
      return;
    } else {
      file_ = file;
    }
    if (file_.empty()) {
      fail(Code::configuration, "open: no configuration file is given; name one or set SIDESTREAM_CONFIG");
    }
    text_ = read_file(file_);
  });
  share(*world_, file_);
  share(*world_, text_);
}

void Session::Implementation::check_directory() {
  together(*world_, [&] {
    if (world_->rank() != 0 || is_off()) return;
    refuse_earlier_run(opening_);
  });
}

}  // namespace sidestream
