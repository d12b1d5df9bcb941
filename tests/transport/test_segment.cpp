#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/unix_socket.hpp"
#include "sidestream/error.hpp"
#include "transport/processes.hpp"
#include "transport/shared_memory/memory_limit.hpp"
#include "transport/shared_memory/segment.hpp"
#include "transport/shared_memory/segment_receiver.hpp"

using namespace sidestream;
using namespace sidestream::shared_memory;
using namespace std::chrono_literals;
using test::Child;
using test::SharedMemory;

namespace {

constexpr std::uint64_t layout = 0x1234;

int open_files() {
  int count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) ++count;
  return count;
}

/// The message of the Error(system) that `body` must throw.
template <class Body>
std::string message_of(Body&& body) {
  try {
    body();
  } catch (const Error& error) {
    CHECK(error.code() == Code::system);
    return error.what();
  }
  return "nothing was thrown";
}

bool contains(const std::string& text, const std::string& part) {
  const bool found = text.find(part) != std::string::npos;
  if (!found) MESSAGE("'" << text << "' lacks '" << part << "'");
  return found;
}

/// Writes to every page. Sanitizers are off, because their memory would cause page faults.
__attribute__((noinline, no_sanitize("address", "thread"))) void write_pages(std::byte* data, std::uint64_t bytes) {
  for (std::uint64_t at = 0; at < bytes; at += 4096) data[at] = std::byte{1};
}

/// Attaches in a child, which exits with 0 if the error's message contains `part`.
int child_fails_with(const std::string& address, std::uint64_t hash, const std::string& part) {
  try {
    static_cast<void>(Segment::attach(address, hash, 5s));
  } catch (const Error& error) {
    return std::string(error.what()).find(part) == std::string::npos;
  }
  return 2;
}

}  // namespace

TEST_CASE("what one process writes, all others see, and nothing leaks") {
  const int before = open_files();
  {
    const Segment segment = Segment::create(1'000'000, layout, "test");
    CHECK(segment.bytes() >= 1'000'000);
    CHECK(reinterpret_cast<std::uintptr_t>(segment.data()) % 4096 == 0);
    for (std::uint64_t n = 0; n < segment.bytes(); ++n) REQUIRE(segment.data()[n] == std::byte{0});
    SegmentSender sender(segment, 3);
    std::memcpy(segment.data() + 999'000, "from the creator", 17);
    const auto attach = [&](int me) {
      const int mine = open_files();
      {
        const Segment theirs = Segment::attach(sender.address(), layout, 5s);
        theirs.populate(0, theirs.bytes());
        if (std::strcmp(reinterpret_cast<char*>(theirs.data()) + 999'000, "from the creator") != 0) return 1;
        theirs.data()[me] = std::byte(me);
        if (open_files() != mine + 1) return 2;
      }
      return open_files() == mine ? 0 : 3;
    };
    Child one([&] { return attach(1); }), two([&] { return attach(2); }), three([&] { return attach(3); });
    sender.send(10s);
    CHECK(one.wait() == 0);
    CHECK(two.wait() == 0);
    CHECK(three.wait() == 0);
    for (int me = 1; me <= 3; ++me) CHECK(segment.data()[me] == std::byte(me));
  }
  CHECK(open_files() == before);
}

TEST_CASE("a segment moves, and an empty one is empty") {
  const int before = open_files();
  Segment segment;
  CHECK(segment.data() == nullptr);
  CHECK(segment.bytes() == 0);
  segment = Segment::create(0, layout, "empty");
  CHECK(segment.bytes() == 0);
  CHECK(segment.header().layout == layout);
  segment = Segment::create(5000, layout, "test");
  CHECK(segment.bytes() == 8192);
  Segment other(std::move(segment));
  CHECK(other.bytes() == 8192);
  other = Segment();
  CHECK(open_files() == before);
}

TEST_CASE("wrong addresses are errors at once") {
  CHECK(contains(message_of([] { (void)Segment::attach("sidestream-nobody", layout, 5s); }), "nobody listens"));
  CHECK(contains(message_of([] { (void)Segment::attach("", layout, 5s); }), "no address"));
  CHECK(contains(message_of([] { (void)Segment::attach(std::string(500, 'x'), layout, 5s); }), "no address"));
}

TEST_CASE("every segment has a name of its own") {
  const Segment segment = Segment::create(0, layout, "test");
  const SegmentSender one(segment, 1), two(segment, 1);
  CHECK(one.address() != two.address());
  CHECK(one.address().size() == std::strlen("sidestream-") + 32);
}

TEST_CASE("a segment of another layout, version or kind is turned down on both sides") {
  const auto attempt = [](auto spoil, std::uint64_t hash, const char* part) {
    const int before = open_files();
    {
      const Segment segment = Segment::create(4096, layout, "test");
      spoil(const_cast<SegmentHeader&>(segment.header()));
      SegmentSender sender(segment, 1);
      Child child([&] { return child_fails_with(sender.address(), hash, part); });
      CHECK(contains(message_of([&] { sender.send(5s); }), "could not use it"));
      CHECK(child.wait() == 0);
    }
    CHECK(open_files() == before);
  };
  attempt([](SegmentHeader&) {}, layout + 1, "same build of Sidestream");
  attempt([](SegmentHeader& header) { ++header.version; }, layout, "version 2");
  attempt([](SegmentHeader& header) { ++header.bytes; }, layout, "8193 bytes");
  attempt([](SegmentHeader& header) { header.magic = 0; }, layout, "starts with 0000000000000000");
}

TEST_CASE("what is no segment at all is turned down") {
  const auto attempt = [](auto send, const char* part) {
    const std::string name = "sidestream-test-" + std::to_string(getpid());
    const AbstractAddress at(name);
    Descriptor listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    REQUIRE(bind(listener.get(), reinterpret_cast<const sockaddr*>(&at.address), at.length) == 0);
    REQUIRE(listen(listener.get(), 1) == 0);
    Child child([&] { return child_fails_with(name, layout, part); });
    Descriptor connection(accept(listener.get(), nullptr, nullptr));
    send(connection);
    CHECK(child.wait() == 0);
  };
  attempt([](Descriptor& connection) { connection = Descriptor(); }, "or its limit of open files is reached");
  attempt([](Descriptor& connection) { CHECK(::send(connection.get(), "x", 1, 0) == 1); }, "no descriptor came");
}

TEST_CASE("who waits for the other side waits no longer than the limit") {
  const Segment segment = Segment::create(4096, layout, "test");
  SegmentSender sender(segment, 2);
  CHECK(contains(message_of([&] { (void)Segment::attach(sender.address(), layout, 50ms); }), "did not answer in time"));
  // That process' closed connection is still queued. It took nothing, and counts as failed or as never having asked.
  SegmentSender fresh(segment, 2);
  Child one([&] { return Segment::attach(fresh.address(), layout, 5s).bytes() == 4096 ? 0 : 1; });
  CHECK(contains(message_of([&] { fresh.send(300ms); }), "1 of 2"));
  CHECK(one.wait() == 0);
}

TEST_CASE("attachers killed at any moment: the creator learns of it in time") {
  const Segment segment = Segment::create(64 << 10, layout, "test");
  const int before = open_files();
  int served = 0, failed = 0;
  for (int kills = 0; kills < 200; ++kills) {
    SegmentSender sender(segment, 1);
    Child child([&] { return Segment::attach(sender.address(), layout, 5s).bytes() > 0 ? 0 : 1; });
    test::sleep_us(kills * 5);
    ::kill(child.pid(), SIGKILL);
    try {
      sender.send(50ms);
      ++served;
    } catch (const Error&) {
      ++failed;
    }
  }
  CHECK(failed > 0);
  CHECK(served + failed == 200);
  CHECK(open_files() == before);
}

TEST_CASE("a creator that is killed while others wait is an error there, not a hang") {
  for (int n = 0; n < 20; ++n) {
    SharedMemory note(4096);
    Child creator([&] {
      const Segment segment = Segment::create(4096, layout, "test");
      SegmentSender sender(segment, 1);
      std::strcpy(reinterpret_cast<char*>(note.data()) + 8, sender.address().c_str());
      note.as<std::atomic<int>>().store(1);
      test::sleep_us(60'000'000);
      return 0;
    });
    while (note.as<std::atomic<int>>().load() == 0) test::sleep_us(100);
    const std::string address = reinterpret_cast<char*>(note.data()) + 8;
    Child attacher([&] { return child_fails_with(address, layout, n % 2 ? "closed" : "nobody listens"); });
    if (n % 2) {
      test::sleep_us(20'000);  // it is connected now, and waits
    } else {
      attacher.kill();
    }
    creator.kill();
    if (n % 2) {
      const int result = attacher.wait();
      CHECK((result == 0 || result == 1));  // always an error; which one depends on who was faster
    } else {
      CHECK(child_fails_with(address, layout, "nobody listens") == 0);
    }
  }
}

TEST_CASE("another user gets nothing and is not counted") {
  if (geteuid() != 0) {
    MESSAGE("NOT TESTED: this process may not become another user (it needs root)");
    return;
  }
  const Segment segment = Segment::create(4096, layout, "test");
  SegmentSender sender(segment, 1);
  Child stranger([&] {
    if (setuid(65534) != 0) return 3;
    return child_fails_with(sender.address(), layout, "another user");
  });
  CHECK(stranger.wait() == 0);
  Child own([&] { return Segment::attach(sender.address(), layout, 5s).bytes() == 4096 ? 0 : 1; });
  sender.send(5s);
  CHECK(own.wait() == 0);
}

TEST_CASE("shortage is an error with sizes, not a signal") {
  const std::string machine = message_of([] { (void)Segment::create(1ull << 50, layout, "test"); });
  CHECK(contains(machine, "1073741824.0 MiB"));
  CHECK(contains(machine, "left"));
  CHECK_THROWS_AS((void)Segment::create(UINT64_MAX - 100, layout, "test"), Error);
  Child limited([] {
    const rlimit limit{1 << 20, 1 << 20};
    setrlimit(RLIMIT_FSIZE, &limit);
    try {
      (void)Segment::create(2 << 20, layout, "test");
    } catch (const Error& error) {
      return std::string(error.what()).find("ulimit -f") == std::string::npos ? 1 : 0;
    }
    return 2;
  });
  CHECK(limited.wait() == 0);
  Child narrow([] {
    rlim_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const rlim_t most = pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + (16 << 20);
    const rlimit limit{most, most};
    setrlimit(RLIMIT_AS, &limit);
    try {
      (void)Segment::create(64 << 20, layout, "test");
    } catch (const Error& error) {
      return std::string(error.what()).find("ulimit -v") == std::string::npos ? 1 : 0;
    }
    return 2;
  });
  CHECK(narrow.wait() == 0);
}

TEST_CASE("the pages of a segment are there and stay there") {
  const Segment segment = Segment::create(4 << 20, layout, "test");
  struct stat status {};
  REQUIRE(fstat(segment.descriptor(), &status) == 0);
  CHECK(status.st_blocks * 512 >= 4 << 20);        // reserved
  CHECK(ftruncate(segment.descriptor(), 0) != 0);  // sealed
  CHECK_THROWS_AS(segment.populate(4096, segment.bytes()), Error);
  segment.populate(segment.bytes(), 0);
  const Segment other = [&] {
    SegmentSender sender(segment, 1);
    Child server([&] { return sender.send(5s), 0; });
    Segment attached = Segment::attach(sender.address(), layout, 5s);
    CHECK(server.wait() == 0);
    return attached;
  }();
  other.populate(100, other.bytes() - 100);
  rusage start{}, end{};
  getrusage(RUSAGE_SELF, &start);
  write_pages(other.data(), other.bytes());
  getrusage(RUSAGE_SELF, &end);
  CHECK(end.ru_minflt - start.ru_minflt < 10);  // of 1024 pages
}

TEST_CASE("the memory that is left is the least that machine and control groups say") {
  namespace fs = std::filesystem;
  const fs::path root = fs::temp_directory_path() / ("sidestream-memory-" + std::to_string(getpid()));
  const auto write = [&](const std::string& path, const std::string& text) {
    fs::create_directories((root / path).parent_path());
    std::ofstream(root / path) << text;
  };
  CHECK(memory_left(root).bytes == UINT64_MAX);
  write("proc/meminfo", "MemTotal: 100 kB\nMemAvailable:      50 kB\n");
  CHECK(memory_left(root).bytes == 50 * 1024);
  write("proc/self/cgroup", "0::/job/step\n");
  write("sys/fs/cgroup/job/step/memory.max", "max\n");
  write("sys/fs/cgroup/job/step/memory.current", "10\n");
  CHECK(memory_left(root).bytes == 50 * 1024);
  write("sys/fs/cgroup/job/memory.max", "30000\n");
  write("sys/fs/cgroup/job/memory.current", "20000\n");
  CHECK(memory_left(root).bytes == 10'000);
  write("sys/fs/cgroup/job/memory.stat", "anon 5\ninactive_file 1000\nactive_file 500\n");
  CHECK(memory_left(root).bytes == 11'500);
  CHECK(contains(memory_left(root).source, "/job/memory.max"));
  write("sys/fs/cgroup/job/step/memory.max", "5\n");
  CHECK(memory_left(root).bytes == 0);  // more in use than allowed
  write("proc/self/cgroup", "9:cpu:/x\n4:hugetlb,memory:/slurm\n0::/\n");
  write("sys/fs/cgroup/memory/slurm/memory.limit_in_bytes", "7000\n");
  write("sys/fs/cgroup/memory/slurm/memory.usage_in_bytes", "4000\n");
  write("sys/fs/cgroup/memory/slurm/memory.stat", "inactive_file 9\ntotal_inactive_file 100\ntotal_active_file 20\n");
  CHECK(memory_left(root).bytes == 3120);
  fs::remove_all(root);
  CHECK(memory_left().bytes > 0);
}
