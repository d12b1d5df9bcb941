// The server's side of a worker process.
//
// 1. start: makes a socket and a process, and sends the setup; the reply says whether the analysis could be made.
// 2. local: writes the input into shared memory, sends a request, and awaits the reply. A worker that ended while idle
//    is started again, without its earlier state.
// 3. await: polls the socket and passes on what the process prints. Its messages also go to the run's log.
// 4. A process that ends is an Error(analysis) with how it ended and its last output. One that exceeds the limit is
//    asked to end, gets a second to print where it is, and is killed.
// Only this server's analysis fails; the next iteration starts a new process.
#include "server/isolation/worker.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/run_log.hpp"
#include "base/unix_socket.hpp"
#include "server/isolation/input_bytes.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/files.hpp"
#include "sidestream/kit/base/log.hpp"
#include "sidestream/kit/base/text.hpp"

namespace sidestream {

namespace {

/// Seconds for reading the configuration and making the object. Python may import packages from slow disks.
constexpr double start_limit = 60;
constexpr std::size_t most_output = 2000;
/// The longest time until the end of a process is noticed if another process still holds its socket.
constexpr std::chrono::milliseconds slice{100};

std::vector<std::string> environment_of_worker() {
  std::vector<std::string> entries = environment_of_child();
  entries.emplace_back("PYTHONUNBUFFERED=1");  // keeps what it prints before it dies
  entries.emplace_back("PYTHONFAULTHANDLER=1");
  entries.emplace_back("UCX_ERROR_SIGNALS=");  // UCX's traces do not show Python, and fill the report
  return entries;
}

}  // namespace

void Worker::forget() noexcept {
  process_.reset();
  socket_ = Descriptor();
  received_ = MemoryObject();
  sent_length_ = 0;
  asked_.reset();
}

void Worker::start(std::span<const SharedObject> objects) {
  forget();
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    fail(Code::system, "cannot make a socket: {}", system_text(errno));
  }
  socket_ = Descriptor(above_standard(ends[0]));
  const Descriptor theirs(above_standard(ends[1]));
  if (sent_.descriptor() < 0) sent_ = MemoryObject::create("sidestream-input");
  process_ = std::make_unique<ChildProcess>(settings_.program, environment_of_worker(), theirs.get());
  output_.clear();
  WorkerRequest request;
  request.message = settings_.setup.size();
  request.memory = settings_.memory;
  if (!objects.empty()) {
    request.shared_offset = objects.front().offset;
    request.shared_bytes = objects.front().bytes;
  }
  sent_.grow(settings_.setup.size());
  std::memcpy(sent_.data(), settings_.setup.data(), settings_.setup.size());
  const std::string what = "could not be started in a process of its own";
  if (!send(request, objects)) dead(what);
  const WorkerReply reply = await(std::max(start_limit, settings_.limit), what);
  if (reply.kind == WorkerReply::Kind::made) return;
  const BytesView bytes = reply_bytes(reply);
  const std::string why(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  forget();
  fail(Code::analysis, "{}: {}", what, why);
}

/// Returns false if the worker has gone.
bool Worker::send(WorkerRequest& request, std::span<const SharedObject> objects) {
  request.object = sent_.bytes();
  std::array<Descriptor, 2> opened;
  std::array<int, 2> numbers{};
  std::size_t count = 0;
  const auto add = [&](int descriptor) {
    opened[count] = read_only(descriptor);
    numbers[count] = opened[count].get();
    ++count;
  };
  if (sent_length_ != sent_.bytes()) add(sent_.descriptor());
  if (request.kind == WorkerRequest::Kind::make && request.shared_bytes > 0) add(objects.front().descriptor);
  const auto bytes = std::as_bytes(std::span(&request, 1));
  if (!send_with_descriptors(socket_.get(), bytes, std::span(numbers).first(count))) return false;
  sent_length_ = sent_.bytes();
  return true;
}

void Worker::write(const LocalInput& input, std::span<const SharedObject> objects, WorkerRequest& request) {
  PlacedValues values(objects.first(std::min<std::size_t>(objects.size(), 1)));
  const Bytes message = bytes_of(input, values);
  request.kind = WorkerRequest::Kind::local;
  request.iteration = input.iteration.index;
  request.message = message.size();
  request.values = round_up(message.size(), PlacedValues::alignment);
  sent_.grow(request.values + values.bytes());
  std::memcpy(sent_.data(), message.data(), message.size());
  values.copy(sent_.data() + request.values);
}

Bytes Worker::local(const LocalInput& input, std::span<const SharedObject> objects) {
  const std::string what = fmt::format("lost its process in iteration {}", input.iteration.index);
  const bool there = process_ && !process_->ended();
  if (!there) start(objects);
  output_.clear();
  asked_ = input.iteration.index;
  WorkerRequest request;
  write(input, objects, request);
  if (!send(request, objects)) {  // it has just died while idle: only its kept state is lost
    start(objects);
    asked_ = input.iteration.index;
    write(input, objects, request);
    if (!send(request, objects)) dead(what);
  }
  const WorkerReply reply = await(settings_.limit, what);
  const BytesView bytes = reply_bytes(reply);
  if (reply.kind == WorkerReply::Kind::done) return {bytes.begin(), bytes.end()};
  const std::string why(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (settings_.memory > 0) forget();  // ending it frees whatever holds the memory
  throw Error(Code::analysis, why);
}

void Worker::discard(const Iteration& iteration) noexcept {
  if (!process_ || asked_ != iteration.index) return;
  WorkerRequest request;
  request.kind = WorkerRequest::Kind::discard;
  request.iteration = iteration.index;
  request.object = sent_length_;
  const auto bytes = std::as_bytes(std::span(&request, 1));
  static_cast<void>(send_with_descriptors(socket_.get(), bytes, {}));  // if it has gone, the next request notices
}

BytesView Worker::reply_bytes(const WorkerReply& reply) const {
  if (reply.bytes > received_.bytes()) {
    fail(Code::system, "a worker's answer of {} bytes does not fit in its {} bytes of memory", reply.bytes,
         received_.bytes());
  }
  return {received_.data(), reply.bytes};
}

/// Extracts the worker's messages from its output, for the run's file: the worker has no session.
void Worker::take_messages(std::string_view printed) {
  const std::shared_ptr<RunLog> log = current_log();
  if (!log) return;
  unread_.append(printed);
  std::size_t begin = 0;
  for (std::size_t end = unread_.find('\n'); end != std::string::npos; end = unread_.find('\n', begin)) {
    const std::string_view line = std::string_view(unread_).substr(begin, end - begin);
    for (const std::string_view level : {"error", "warning", "note"}) {
      const std::string head = fmt::format("sidestream: {}: ", level);
      if (line.starts_with(head)) log->add(level, line.substr(head.size()));
    }
    begin = end + 1;
  }
  unread_.erase(0, begin);
  if (unread_.size() > most_output) unread_.clear();  // not one of our messages
}

/// Passes on the worker's output and keeps the end of it.
void Worker::read_output() {
  std::array<char, 4096> piece{};
  for (;;) {
    const ssize_t count = read(process_->output(), piece.data(), piece.size());
    if (count <= 0) return;
    output_.append(piece.data(), static_cast<std::size_t>(count));
    take_messages({piece.data(), static_cast<std::size_t>(count)});
    if (output_.size() > 2 * most_output) output_.erase(0, output_.size() - most_output);
    for (ssize_t done = 0; done < count;) {
      const ssize_t written = ::write(STDERR_FILENO, piece.data() + done, static_cast<std::size_t>(count - done));
      if (written <= 0) break;
      done += written;
    }
  }
}

void Worker::wait(Time until) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
  std::array<pollfd, 2> ends{{{socket_.get(), POLLIN, 0}, {process_->output(), POLLIN, 0}}};
  const auto most = std::clamp(left, std::chrono::milliseconds(0), slice);
  poll(ends.data(), ends.size(), static_cast<int>(most.count()));
  read_output();
}

/// Takes the answer. Returns false if there is none yet. Throws if it comes from another build.
bool Worker::take(WorkerReply& reply) {
  pollfd end{socket_.get(), POLLIN, 0};
  if (poll(&end, 1, 0) <= 0) return false;
  Received received = receive_with_descriptors(socket_.get(), std::as_writable_bytes(std::span(&reply, 1)));
  if (received.bytes <= 0) return false;
  if (received.bytes != static_cast<ssize_t>(sizeof reply) || reply.layout != worker_layout()) {
    fail(Code::system, "'{}' is of another build of Sidestream; install both again", settings_.program);
  }
  if (received.descriptors.front().get() >= 0) {
    received_ = MemoryObject::adopt(std::move(received.descriptors.front()), 0, reply.object, false);
  }
  return true;
}

WorkerReply Worker::await(double seconds, const std::string& what) {
  const auto begin = std::chrono::steady_clock::now();
  const auto limit = std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(seconds));
  const Time deadline = seconds > 0 ? begin + limit : Time::max();
  WorkerReply reply;
  for (;;) {
    const bool ended =
        process_->ended().has_value();  // checked before the answer, since its last answer may have arrived
    if (take(reply)) return reply;
    if (ended) dead(what);
    if (std::chrono::steady_clock::now() >= deadline) late(seconds, what);
    wait(deadline);
  }
}

std::string Worker::last_output() const {
  std::string text = output_.size() > most_output ? output_.substr(output_.size() - most_output) : output_;
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.empty() ? "; it printed nothing" : "; the last that it printed:\n" + text;
}

void Worker::dead(const std::string& what) {
  const std::string how = process_->end();
  read_output();
  const std::string printed = last_output();
  forget();
  const bool killed = how.find("SIGKILL") != std::string::npos;
  fail(Code::analysis, "{}: it {}{}{}", what, how,
       killed ? " (perhaps by the system, for want of memory: see memory_limit)" : "", printed);
}

/// Gives the process a second to print its position, as Python can.
void Worker::late(double seconds, const std::string& what) {
  process_->ask_to_end();
  const Time until = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  while (!process_->ended() && std::chrono::steady_clock::now() < until) wait(until);
  process_->end();
  read_output();
  const std::string printed = last_output();
  forget();
  fail(Code::analysis, "{}: it was ended, since it had not answered within {:g} s (limit){}", what, seconds, printed);
}

}  // namespace sidestream
