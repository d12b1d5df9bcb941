// The main loop of a worker process.
//
// 1. run_worker: ends with its server, closes inherited descriptors, offers itself to the system if memory is short,
//    and survives signals to the job.
// 2. receive: a request, with the descriptors of shared memory if that is new or has grown.
// 3. answer: makes the analysis, or runs `local` on the received views, and replies with bytes or a sentence.
//    Exceptions of any type become such a sentence.
// The loop ends when the server's end of the socket closes.
#include "server/isolation/worker_loop.hpp"
#include "server/isolation/worker_messages.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "base/memory_object.hpp"
#include "base/paths.hpp"
#include "base/unix_socket.hpp"
#include "server/isolation/input_bytes.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/files.hpp"
#include "sidestream/kit/base/float_environment.hpp"
#include "sidestream/kit/base/numbers.hpp"
#include "sidestream/kit/base/text.hpp"

namespace sidestream {

namespace {

using Kind = WorkerRequest::Kind;

/// Closes descriptors that the server has open: sockets of MPI, files of the simulation.
void close_others() {
#ifdef SYS_close_range
  if (syscall(SYS_close_range, worker_socket + 1, ~0u, 0) == 0) return;
#endif
  std::vector<int> numbers;
  for (const std::string& name : names_in_folder("/proc/self/fd")) {
    numbers.push_back(whole_of<int>(name).value_or(worker_socket));
  }
  for (const int number : numbers) {
    if (number > worker_socket) close(number);
  }
}

/// Makes the system end this process first if memory is short.
void prefer_for_oom_kill() {
  std::FILE* const file = std::fopen("/proc/self/oom_score_adj", "w");
  if (!file) return;
  std::fputs("500", file);
  std::fclose(file);
}

void limit_memory(std::uint64_t bytes) {
  if (bytes == 0) return;
  const rlimit limit{bytes, bytes};
  if (setrlimit(RLIMIT_DATA, &limit) != 0) {
    fail(Code::system, "the memory of the process cannot be limited to {} bytes: {}", bytes, system_text(errno));
  }
}

class Loop {
 public:
  explicit Loop(const std::function<WorkerTask(BytesView)>& make) : make_(make) {}
  [[nodiscard]] int run() {
    while (receive()) {
      if (request_.kind == Kind::discard) {
        if (made_.task) made_.task->discard({request_.iteration, 0, 0});
      } else if (!answer()) {
        break;
      }
    }
    return broken_ ? 1 : 0;
  }

 private:
  /// Returns false if the server has gone, or is of another build.
  bool receive() {
    Received received = receive_with_descriptors(worker_socket, std::as_writable_bytes(std::span(&request_, 1)));
    if (received.bytes <= 0) return false;
    if (received.bytes != static_cast<ssize_t>(sizeof request_) || request_.layout != worker_layout()) {
      std::fputs("sidestream-worker: only Sidestream starts it, and only the same build\n", stderr);
      broken_ = true;
      return false;
    }
    std::size_t next = 0;
    if (request_.object != sent_.bytes() || sent_.descriptor() < 0) {
      sent_ = MemoryObject::adopt(std::move(received.descriptors[next++]), 0, request_.object, false);
      madvise(sent_.data(), sent_.bytes(), MADV_DONTDUMP);
    }
    if (request_.kind == Kind::make && request_.shared_bytes > 0) {
      shared_ = MemoryObject::adopt(std::move(received.descriptors[next]), request_.shared_offset,
                                    request_.shared_bytes, false);
      madvise(shared_.data(), shared_.bytes(), MADV_DONTDUMP);
    }
    return true;
  }

  /// Returns false if the server has gone.
  bool answer() {
    WorkerReply reply;
    Bytes bytes;
    try {
      bytes = work();
      reply.kind = request_.kind == Kind::make ? WorkerReply::Kind::made : WorkerReply::Kind::done;
    } catch (const std::bad_alloc&) {
      complain(reply, bytes, "no memory left");
    } catch (const std::exception& error) {
      complain(reply, bytes, error.what());
    } catch (...) {
      complain(reply, bytes, "threw something that is no std::exception");
    }
    std::fflush(nullptr);
    bool longer = false;
    if (received_.descriptor() < 0) received_ = MemoryObject::create("sidestream-partial");
    longer = received_.grow(bytes.size());
    if (!bytes.empty()) std::memcpy(received_.data(), bytes.data(), bytes.size());
    reply.bytes = bytes.size();
    reply.object = received_.bytes();
    const std::array<int, 1> descriptors{received_.descriptor()};
    return send_with_descriptors(worker_socket, std::as_bytes(std::span(&reply, 1)),
                                 std::span(descriptors).first(longer ? 1 : 0));
  }

  static void complain(WorkerReply& reply, Bytes& bytes, const char* sentence) {
    reply.kind = WorkerReply::Kind::failed;
    const auto text = std::as_bytes(std::span(sentence, std::strlen(sentence)));
    bytes.assign(text.begin(), text.end());
  }

  Bytes work() {
    const FloatEnvironment environment;
    const BytesView message(sent_.data(), request_.message);
    if (request_.kind == Kind::make) {
      limit_memory(request_.memory);
      made_ = make_(message);
      made_.task->selection();  // servers call it before anything else, too
      return {};
    }
    const std::array<const std::byte*, 2> objects{sent_.data() + request_.values, shared_.data()};
    const ReceivedInput received(message, *made_.metadata, objects);
    if (received.input().pass == 0) static_cast<void>(made_.task->passes());
    return made_.task->local(received.input());
  }

  const std::function<WorkerTask(BytesView)>& make_;
  WorkerRequest request_;
  MemoryObject sent_, shared_, received_;
  WorkerTask made_;
  bool broken_ = false;
};

/// Survives the signals that a batch system sends to all processes of a job: the worker ends with its server. Unlike
/// ignoring, an empty handler is not inherited by programs that the analysis starts.
void survive_job_signals() {
  struct sigaction nothing {};
  nothing.sa_handler = [](int) {};
  nothing.sa_flags = SA_RESTART;
  for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2, SIGXCPU}) sigaction(number, &nothing, nullptr);
}

}  // namespace

int run_worker(const std::function<WorkerTask(BytesView)>& make) {
  // If the server ended earlier, the socket shows it, which is read before anything else runs.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  close_others();
  fcntl(worker_socket, F_SETFD, FD_CLOEXEC);
  prefer_for_oom_kill();
  survive_job_signals();
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  return Loop(make).run();
}

}  // namespace sidestream
