// The hooks of the interposed functions: the publisher of a process, and its settings.
#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <memory>
#include <mutex>
#include <sidestream/error.hpp>
#include <sstream>

#include "coupling.hpp"
#include "recorder.hpp"

namespace sidestream::interposed {

namespace {

/// The state of a process: HDF5's interface has no handle that could carry it.
struct Publisher {
  std::mutex mutex;
  pid_t process = ::getpid();  ///< children that are no programs of their own publish nothing
  std::unique_ptr<Recorder> recorder;
  std::unique_ptr<Coupling> coupling;
  std::vector<std::unique_ptr<ProgramHdf5>> libraries;
};

std::unique_ptr<Publisher>& publisher() {
  static auto* const made = new std::unique_ptr<Publisher>;  // lives longer than what runs at exit
  return *made;
}

/// Calls `function(publisher)`; what it throws is said, and the program goes on.
template <class Function>
void guarded(const Function& function) noexcept {
  Publisher* const p = publisher().get();
  if (p == nullptr || p->process != ::getpid()) return;
  try {
    const std::lock_guard<std::mutex> guard(p->mutex);
    function(*p);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "sidestream: %s\n", error.what());
  }
}

/// Says what becomes of Sidestream's own files where the linker gives it another HDF5 than it was built with: that of
/// the program, if its functions have no versions as Debian's do.
void compare_versions(const sidestream_hdf5_library& library, const ProgramHdf5& hdf5) {
  const bool everywhere = ::dlsym(RTLD_DEFAULT, "H5open") == ::dlsym(library.handle, "H5open");
  if (!everywhere || hdf5.version() == SIDESTREAM_HDF5_VERSION) return;
  std::fprintf(stderr,
               "sidestream: the program has HDF5 %s, and Sidestream was built with %s: outputs in files of HDF5 may "
               "fail, nothing else does. For these, build Sidestream with the program's\n",
               hdf5.version().c_str(), SIDESTREAM_HDF5_VERSION);
}

/// Calls `function(publisher, HDF5)` unless the program's HDF5 is one that cannot be used.
template <class Function>
void guarded(sidestream_hdf5_library* library, const Function& function) noexcept {
  static const char unusable = 0;
  if (library->publisher == &unusable) return;
  guarded([&](Publisher& p) {
    if (library->publisher == nullptr) {
      library->publisher = const_cast<char*>(&unusable);
      library->publisher = p.libraries.emplace_back(std::make_unique<ProgramHdf5>(*library)).get();
      compare_versions(*library, *p.libraries.back());
    }
    function(p, *static_cast<const ProgramHdf5*>(library->publisher));
  });
}

/// The process that publishes. Programs that it starts find it in their environment, and publish nothing.
constexpr const char* owner = "SIDESTREAM_HDF5_OWNER";

bool has_other_owner() {
  const char* const process = std::getenv(owner);
  return process != nullptr && process != std::to_string(::getpid());
}

void at_exit() {
  guarded([](Publisher& p) {
    if (p.coupling) p.coupling->say_if_no_file_fits();
  });
}

void opened(sidestream_hdf5_library* library, Id file, Id access) {
  guarded(library, [&](Publisher& p, const ProgramHdf5& hdf5) {
    if (p.recorder) p.recorder->file(hdf5.file_of(file));
    if (p.coupling && p.coupling->opened(hdf5, file, access)) ::setenv(owner, std::to_string(::getpid()).c_str(), 1);
  });
}

void* closing(sidestream_hdf5_library* library, Id file) {
  void* token = nullptr;
  guarded(library, [&](Publisher& p, const ProgramHdf5& hdf5) {
    if (p.coupling) token = p.coupling->closing(hdf5, file);
  });
  return token;
}

void closed(void* token, int result) {
  guarded([&](Publisher& p) { p.coupling->closed(static_cast<OpenFile*>(token), result >= 0); });
}

void created(sidestream_hdf5_library* library, Id dataset) {
  guarded(library, [&](Publisher& p, const ProgramHdf5& hdf5) {
    if (p.coupling) p.coupling->created(hdf5, dataset);
  });
}

void linked(sidestream_hdf5_library* library, Id dataset) {
  guarded(library, [&](Publisher& p, const ProgramHdf5& hdf5) {
    if (p.recorder) p.recorder->name(dataset, hdf5.dataset(dataset));
    if (p.coupling) p.coupling->linked(hdf5, dataset);
  });
}

void record(Recorder& recorder, const ProgramHdf5& hdf5, const sidestream_hdf5_write& write, std::size_t n) {
  RecordedWrite made;
  made.dataset = hdf5.dataset(write.datasets[n]);
  made.number = write.datasets[n];
  const SpaceSelection in_file = hdf5.file_selection(write.file_spaces[n], write.datasets[n]);
  made.why = choose_boxes(in_file, hdf5.memory_selection(write.memory_spaces[n], in_file), made.boxes);
  if (!made.why.empty()) made.why += " (" + in_file.text() + ")";
  const std::string no_boxes = made.why;
  const ValueType stored = hdf5.stored_type(write.datasets[n]);
  for (const ValueType::Member& member : hdf5.value_type(write.types[n]).members) {
    const auto in_dataset = std::find_if(stored.members.begin(), stored.members.end(),
                                         [&](const ValueType::Member& one) { return one.name == member.name; });
    const bool known = in_dataset != stored.members.end() && in_dataset->type;
    made.member = member.name;
    made.type = member.type ? name_of(*member.type) : "";
    made.stored = known ? name_of(*in_dataset->type) : "";
    made.why = !no_boxes.empty() || member.type ? no_boxes : "found " + member.why;
    recorder.write(made);
  }
}

void* writing(sidestream_hdf5_library* library, const sidestream_hdf5_write* write, char* skip) {
  std::unique_ptr<TakenWrites> taken;
  guarded(library, [&](Publisher& p, const ProgramHdf5& hdf5) {
    for (std::size_t n = 0; p.recorder && n < write->count; ++n) record(*p.recorder, hdf5, *write, n);
    if (p.coupling) taken = std::make_unique<TakenWrites>(p.coupling->writing(hdf5, *write, skip));
  });
  return taken && !taken->empty() ? taken.release() : nullptr;
}

void written(void* token, int result) {
  const std::unique_ptr<TakenWrites> taken(static_cast<TakenWrites*>(token));
  if (result < 0) return;
  guarded([&](Publisher& p) { p.coupling->written(std::move(*taken)); });
}

void extending(sidestream_hdf5_library* library, Id dataset, const std::uint64_t* size) {
  guarded(library, [&](Publisher& p, const ProgramHdf5& hdf5) {
    if (p.coupling) p.coupling->extending(hdf5, dataset, size);
  });
}

void bypassing(sidestream_hdf5_library* library, Id dataset, const char* call) {
  guarded(library, [&](Publisher& p, const ProgramHdf5& hdf5) {
    if (p.coupling) p.coupling->bypassing(hdf5, dataset, call);
  });
}

void finish() {
  guarded([](Publisher& p) {
    if (p.coupling) p.coupling->finish();
  });
}

std::unique_ptr<Coupling> make_coupling(const std::string& file) {
  std::ifstream stream(file);
  std::stringstream text;
  text << stream.rdbuf();
  if (!stream) throw Error(Code::file, "'" + file + "' (SIDESTREAM_HDF5_MAP): cannot be read, expected a mapping");
  MappedFiles files = MappedFiles::read(text.str(), file);
  const char* const write = std::getenv("SIDESTREAM_HDF5_WRITE");
  const std::string given = write == nullptr ? "" : write;
  if (!given.empty() && given != "both" && given != "only") {
    throw Error(Code::configuration, "SIDESTREAM_HDF5_WRITE: found '" + given + "', expected both or only");
  }
  if (!given.empty()) files.only = given == "only";
  return std::make_unique<Coupling>(std::move(files), arrays::read_mapping(text.str(), file), file, finish);
}

}  // namespace

}  // namespace sidestream::interposed

extern "C" __attribute__((visibility("default"))) const sidestream_hdf5_hooks* sidestream_hdf5_start() {
  using namespace sidestream::interposed;
  static const sidestream_hdf5_hooks hooks{opened,  closing, closed,    created,  linked,
                                           writing, written, extending, bypassing};
  try {
    const char* const record = std::getenv("SIDESTREAM_HDF5_RECORD");
    const char* const map = std::getenv("SIDESTREAM_HDF5_MAP");
    auto made = std::make_unique<Publisher>();
    if (record != nullptr && *record != '\0') {
      made->recorder = std::make_unique<Recorder>(record);
    } else if (map != nullptr && *map != '\0' && !has_other_owner()) {
      made->coupling = make_coupling(map);
      std::atexit(at_exit);
    } else {
      return nullptr;
    }
    publisher() = std::move(made);
    return &hooks;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "sidestream: nothing is published: %s\n", error.what());
  }
  return nullptr;
}
