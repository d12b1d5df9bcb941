#include "ranks.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <numeric>
#include <sidestream/error.hpp>
#include <system_error>
#include <thread>
#include <utility>

namespace sidestream::interop {

namespace {

void check(int code, const char* call) {
  if (code != MPI_SUCCESS) throw Error(Code::system, std::string(call) + " failed with code " + std::to_string(code));
}

/// Waiting that a person should hear of.
constexpr std::chrono::seconds patience{10};

/// Keeps open files of the program from the process that MPI may start, which would hold their locks.
class FilesOfProgram {
 public:
  FilesOfProgram() {
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", none)) {
      const std::string name = entry.path().filename();
      int file = -1;
      (void)std::from_chars(name.data(), name.data() + name.size(), file);
      const int flags = ::fcntl(file, F_GETFD);
      if (file > STDERR_FILENO && flags >= 0 && (flags & FD_CLOEXEC) == 0) files_.emplace_back(file, flags);
    }
    for (const auto& [file, flags] : files_) ::fcntl(file, F_SETFD, flags | FD_CLOEXEC);
  }
  ~FilesOfProgram() {
    for (const auto& [file, flags] : files_) ::fcntl(file, F_SETFD, flags);
  }
  FilesOfProgram(const FilesOfProgram&) = delete;
  FilesOfProgram& operator=(const FilesOfProgram&) = delete;

 private:
  std::vector<std::pair<int, int>> files_;
};

/// Starts MPI unless the program has; tells if it did.
bool start_mpi() {
  int initialised = 0;
  check(MPI_Initialized(&initialised), "MPI_Initialized");
  if (initialised != 0) return false;
  const FilesOfProgram files;
  int given = 0;
  check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &given), "MPI_Init_thread");
  return true;
}

/// Called when MPI_Finalize deletes the attributes of MPI_COMM_SELF.
int call_function(MPI_Comm, int, void* function, void*) {
  reinterpret_cast<void (*)()>(function)();
  return MPI_SUCCESS;
}

}  // namespace

Ranks::Ranks(std::int64_t fortran_handle) : started_(start_mpi()) {
  comm_ = fortran_handle == -1 ? MPI_COMM_WORLD : MPI_Comm_f2c(static_cast<MPI_Fint>(fortran_handle));
  if (comm_ == MPI_COMM_NULL) throw Error(Code::usage, "catalyst/mpi_comm: found a null communicator, expected one");
  check(MPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank");
  check(MPI_Comm_size(comm_, &size_), "MPI_Comm_size");
}

Ranks::Ranks(int first, int last) : started_(start_mpi()), own_(true) {
  check(MPI_Comm_size(MPI_COMM_WORLD, &size_), "MPI_Comm_size");
  if (first < 0 || last <= first || last > size_) {
    throw Error(Code::usage, "found the ranks " + std::to_string(first) + " to " + std::to_string(last - 1) +
                                 ", expected some of the " + std::to_string(size_) + " ranks of the job");
  }
  MPI_Group all = MPI_GROUP_NULL, some = MPI_GROUP_NULL;
  check(MPI_Comm_group(MPI_COMM_WORLD, &all), "MPI_Comm_group");
  int range[1][3] = {{first, last - 1, 1}};
  check(MPI_Group_range_incl(all, 1, range, &some), "MPI_Group_range_incl");
  check(MPI_Comm_create_group(MPI_COMM_WORLD, some, first, &comm_), "MPI_Comm_create_group");
  check(MPI_Group_free(&some), "MPI_Group_free");
  check(MPI_Group_free(&all), "MPI_Group_free");
  if (comm_ == MPI_COMM_NULL) throw Error(Code::usage, "this rank is none of the ranks that were named");
  check(MPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank");
  check(MPI_Comm_size(comm_, &size_), "MPI_Comm_size");
}

int Ranks::this_rank() {
  int initialised = 0, rank = 0;
  check(MPI_Initialized(&initialised), "MPI_Initialized");
  if (initialised != 0) check(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
  return rank;
}

void Ranks::check_thread() {
  int level = 0, first = 0;
  check(MPI_Query_thread(&level), "MPI_Query_thread");
  check(MPI_Is_thread_main(&first), "MPI_Is_thread_main");
  if (first != 0 || level >= MPI_THREAD_SERIALIZED) return;
  throw Error(Code::usage,
              "found a call from another thread than that which started MPI, expected MPI_Init_thread with "
              "MPI_THREAD_SERIALIZED in the simulation; nothing is published");
}

Ranks::Ranks(MPI_Comm comm, bool own, bool started) : comm_(comm), started_(started), own_(own) {
  check(MPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank");
  check(MPI_Comm_size(comm_, &size_), "MPI_Comm_size");
}

std::unique_ptr<Ranks> Ranks::taking(MPI_Comm comm) { return std::unique_ptr<Ranks>(new Ranks(comm, true, false)); }

std::unique_ptr<Ranks> Ranks::one_process() {
  const bool started = start_mpi();
  return std::unique_ptr<Ranks>(new Ranks(MPI_COMM_SELF, false, started));
}

bool Ranks::can_be_one_process() {
  int initialised = 0, finalised = 0;
  MPI_Initialized(&initialised);
  MPI_Finalized(&finalised);
  if (initialised != 0) return finalised == 0;
  for (const char* const launched : {"OMPI_COMM_WORLD_SIZE", "PMI_RANK", "PMIX_RANK"}) {
    if (std::getenv(launched) != nullptr) return false;
  }
  return ::dlsym(::dlopen(nullptr, RTLD_LAZY), "MPI_Init") == nullptr;
}

bool Ranks::same_as(const Ranks& other) const {
  int compared = MPI_UNEQUAL;
  check(MPI_Comm_compare(comm_, other.comm_, &compared), "MPI_Comm_compare");
  return compared == MPI_IDENT || compared == MPI_CONGRUENT;
}

void Ranks::before_end(void (*function)()) const {
  if (started_) {
    std::atexit(function);
    return;
  }
  int key = MPI_KEYVAL_INVALID;
  check(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, call_function, &key, nullptr), "MPI_Comm_create_keyval");
  check(MPI_Comm_set_attr(MPI_COMM_SELF, key, reinterpret_cast<void*>(function)), "MPI_Comm_set_attr");
  check(MPI_Comm_free_keyval(&key), "MPI_Comm_free_keyval");
}

Ranks::~Ranks() {
  int finalised = 0;
  MPI_Finalized(&finalised);
  if (finalised != 0) return;
  if (own_ && comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
  if (started_) MPI_Finalize();
}

/// Programs may call an interface on some ranks only, and not every interface tells which. The others would be waited
/// for without a word.
void Ranks::meet() const {
  met_ = true;
  if (comm_ != MPI_COMM_WORLD || size_ == 1) return;
  const auto began = std::chrono::steady_clock::now();
  MPI_Request all = MPI_REQUEST_NULL;
  check(MPI_Ibarrier(comm_, &all), "MPI_Ibarrier");
  for (bool said = false;; std::this_thread::sleep_for(std::chrono::milliseconds(1))) {
    int here = 0;
    check(MPI_Test(&all, &here, MPI_STATUS_IGNORE), "MPI_Test");
    if (here != 0) return;
    if (said || std::chrono::steady_clock::now() - began < patience) continue;
    said = true;
    std::fprintf(stderr,
                 "sidestream: rank %d has waited 10 s for other ranks of the job, all %d of which are to end the first "
                 "step with data. If only some of them write, say which: by the parameter Ranks of the engine for "
                 "ADIOS2, or catalyst/mpi_comm\n",
                 rank_, size_);
  }
}

std::vector<std::string> Ranks::gather(const std::string& text) const {
  if (!met_) meet();
  const auto count = static_cast<std::size_t>(size_);
  std::vector<std::int64_t> lengths(count);
  const auto mine = static_cast<std::int64_t>(text.size());
  check(MPI_Allgather(&mine, 1, MPI_INT64_T, lengths.data(), 1, MPI_INT64_T, comm_), "MPI_Allgather");
  // All ranks know the sum, so that all fail or none.
  const std::int64_t total = std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0});
  if (total > std::numeric_limits<int>::max()) {
    throw Error(Code::usage, "the ranks' descriptions of their meshes have " + std::to_string(total) +
                                 " bytes in all, expected less than 2^31; describe larger blocks");
  }
  std::vector<int> counts(count), starts(count);
  int start = 0;
  for (std::size_t r = 0; r < count; ++r) {
    counts[r] = static_cast<int>(lengths[r]);
    starts[r] = start;
    start += counts[r];
  }
  std::string all(static_cast<std::size_t>(total), '\0');
  check(MPI_Allgatherv(text.data(), static_cast<int>(mine), MPI_CHAR, all.data(), counts.data(), starts.data(),
                       MPI_CHAR, comm_),
        "MPI_Allgatherv");
  std::vector<std::string> texts;
  for (std::size_t r = 0; r < count; ++r) {
    texts.push_back(all.substr(static_cast<std::size_t>(starts[r]), static_cast<std::size_t>(counts[r])));
  }
  return texts;
}

}  // namespace sidestream::interop
