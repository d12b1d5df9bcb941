// Opening a session: the configuration, the roles, the plug-ins.
#include <cstdlib>
#include <new>

#include "base/mpi/agree.hpp"
#include "base/mpi/joint_work.hpp"
#include "base/own_environment.hpp"
#include "base/run_log.hpp"
#include "config/opening.hpp"
#include "config/options/document.hpp"
#include "config/stream_config.hpp"
#include "session/implementation.hpp"
#include "session/opening/modules.hpp"
#include "session/opening/wiring.hpp"
#include "session/serving/record.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/log.hpp"
#include "transport/shared_memory/sidecar/attach_protocol.hpp"

namespace sidestream {

namespace {

void check_mpi_state(MPI_Comm comm) {
  int initialized = 0, finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  if (!initialized || finalized) {
    fail(Code::usage, "open: MPI is {}; open sessions between MPI_Init and MPI_Finalize",
         finalized ? "finalized" : "not initialized");
  }
  // All placements call MPI only from the caller's thread: the main thread with MPI_THREAD_FUNNELED, any thread at a
  // higher level.
  int level = MPI_THREAD_SINGLE, is_main = 1;
  MPI_Query_thread(&level);
  MPI_Is_thread_main(&is_main);
  if (level < MPI_THREAD_SERIALIZED && !is_main) {
    fail(Code::usage,
         "open: this is not the thread that initialised MPI; open and use sessions there, or ask MPI_Init_thread for "
         "MPI_THREAD_SERIALIZED");
  }
  if (comm == MPI_COMM_NULL) fail(Code::usage, "open: the communicator is MPI_COMM_NULL; give the simulation's");
}

}  // namespace

std::unique_ptr<Session::Implementation> Session::Implementation::open(MPI_Comm comm, const std::string& file,
                                                                       const std::optional<std::string>& text,
                                                                       const EditDocument& edit) {
  const OwnEnvironment environment;
  check_mpi_state(comm);
  std::unique_ptr<Implementation> made;
  try {
    made = std::make_unique<Implementation>();
  } catch (const std::bad_alloc&) {
    made.reset();
  }
  agree_on_beginning(comm, made != nullptr);
  const LogScope logging = made->logging();
  made->world_ = MpiCommunicator::over(comm);
  made->jointly([&] { made->open_together(file, text, edit); });
  return made;
}

void Session::Implementation::open_together(const std::string& file, const std::optional<std::string>& text,
                                            const EditDocument& edit) {
  read_configuration(file, text);
  folder_ = common_folder(*world_);
  run_collectively(*world_, [&] {
    document_ = parse_document(text_, file_, folder_);
    if (edit) document_ = edit(*document_);
    opening_ = read_opening(*document_);
    declarations_.latin_1 = reads_latin_1(*document_);
    settle_spilling(opening_.placement, folder_);
  });
  if (!is_off()) ending_ = watch_for_end(*world_, opening_.ending, true);
  agree_on_nodes(*world_, opening_.placement);
  if (world_->rank() == 0) {
    for (const std::string& former : opening_.former_names) log::warning("{}", former);
    for (const std::string& ignored : opening_.placement.warnings) log::warning("{}", ignored);
    for (const std::string& note : opening_.placement.notes) log::info("{}", note);
  }
  roles_ = assign_roles(*world_, opening_.placement);
  run_collectively(*world_, [&] {
    register_built_in(registry_);
    if (is_off()) return;  // tasks are not read then
    if (opening_.placement.mode == PlacementMode::job) {
      load_streams("job", *document_, folder_, registry_);
      add_stream_outputs(registry_, streams_);
    }
    modules_ = load_plugins(opening_, *document_, folder_, registry_);
  });
  check_directory();
  tell_waiting_servers();
  guard_ = std::make_unique<FinalizeGuard>([this] { close_at_finalize(); });
}

/// Shows waiting servers, from here to the start, whether the session still exists.
void Session::Implementation::tell_waiting_servers() {
  const PlacementConfig& placement = opening_.placement;
  run_collectively(*world_, [&] {
    if (placement.mode == PlacementMode::sidecar && roles_.node_members->rank() == 0) {
      const int pretended = placement.pretend_nodes > 0 ? roles_.node : -1;
      opening_socket_ =
          std::make_unique<shared_memory::OpeningSocket>(shared_memory::listener_name(placement.session, pretended));
    }
    if (placement.mode == PlacementMode::job && world_->rank() == 0) {
      const StreamKind& kind = registry_.streams().at(stream_name);
      for (const StreamConfig& stream : streams_of(placement)) stream_openings_.push_back(kind.opening(stream));
    }
  });
}

void Session::Implementation::read_configuration(const std::string& file, const std::optional<std::string>& text) {
  run_collectively(*world_, [&] {
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
    text_ = read_configuration_file(file_, "correct the path given to open or in SIDESTREAM_CONFIG");
  });
  share_text(*world_, file_);
  share_text(*world_, text_);
}

void Session::Implementation::check_directory() {
  run_collectively(*world_, [&] {
    if (world_->rank() != 0 || is_off()) return;
    directory_lock_ = std::make_unique<DirectoryLock>(opening_.directory, RecordNames{}.lock);
    refuse_earlier_run(opening_);
  });
}

}  // namespace sidestream
