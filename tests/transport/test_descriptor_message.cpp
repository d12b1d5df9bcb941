// Descriptors that are sent with bytes between two connected sockets.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <string>
#include <vector>

#include "base/unix_socket.hpp"
#include "sidestream/kit/base/files.hpp"
#include "support/scratch.hpp"

using namespace sidestream;

namespace {

struct Pair {
  explicit Pair(int type) {
    int ends[2] = {-1, -1};
    REQUIRE(socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends) == 0);
    from = Descriptor(ends[0]);
    to = Descriptor(ends[1]);
  }
  Descriptor from, to;
};

std::span<const std::byte> bytes_of_text(const std::string& text) { return std::as_bytes(std::span(text)); }

bool same_file(int a, int b) {
  struct stat one {};
  struct stat other {};
  return fstat(a, &one) == 0 && fstat(b, &other) == 0 && one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

std::vector<Descriptor> open_files(const testing::Scratch& scratch, int count) {
  std::vector<Descriptor> files;
  for (int n = 0; n < count; ++n) {
    const std::string path = scratch.path + "/" + std::to_string(n);
    files.emplace_back(::open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600));
    REQUIRE(files.back().get() >= 0);
  }
  return files;
}

std::ptrdiff_t open_descriptors() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
}

}  // namespace

TEST_CASE("bytes arrive with their descriptors, in order, and close with their programs") {
  const testing::Scratch scratch;
  const std::vector<Descriptor> files = open_files(scratch, 3);
  for (const int type : {SOCK_STREAM, SOCK_SEQPACKET}) {
    for (std::size_t count = 0; count <= most_descriptors; ++count) {
      const Pair pair(type);
      std::vector<int> numbers;
      for (std::size_t n = 0; n < count; ++n) numbers.push_back(files[n].get());
      REQUIRE(send_with_descriptors(pair.from.get(), bytes_of_text("hello"), numbers));
      std::array<std::byte, 8> room{};
      const Received received = receive_with_descriptors(pair.to.get(), room);
      CHECK(received.bytes == 5);
      CHECK(std::memcmp(room.data(), "hello", 5) == 0);
      for (std::size_t n = 0; n < most_descriptors; ++n) {
        const int got = received.descriptors[n].get();
        CHECK((got >= 0) == (n < count));
        if (n >= count) continue;
        CHECK(same_file(got, files[n].get()));
        CHECK((fcntl(got, F_GETFD) & FD_CLOEXEC) != 0);
      }
    }
  }
}

TEST_CASE("more descriptors than anybody asked for are closed") {
  const testing::Scratch scratch;
  const std::vector<Descriptor> files = open_files(scratch, 4);
  const Pair pair(SOCK_SEQPACKET);
  // Sends four, as another program might. For alignment there is room for one more than three.
  char byte = 'x';
  iovec piece{&byte, 1};
  alignas(cmsghdr) char space[CMSG_SPACE(4 * sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = space;
  message.msg_controllen = sizeof space;
  cmsghdr* control = CMSG_FIRSTHDR(&message);
  control->cmsg_level = SOL_SOCKET;
  control->cmsg_type = SCM_RIGHTS;
  control->cmsg_len = CMSG_LEN(4 * sizeof(int));
  for (std::size_t n = 0; n < 4; ++n) {
    const int number = files[n].get();
    std::memcpy(CMSG_DATA(control) + n * sizeof number, &number, sizeof number);
  }
  REQUIRE(sendmsg(pair.from.get(), &message, 0) == 1);
  const std::ptrdiff_t before = open_descriptors();
  std::array<std::byte, 1> room{};
  const Received received = receive_with_descriptors(pair.to.get(), room);
  CHECK(received.bytes == 1);
  for (const Descriptor& one : received.descriptors) CHECK(one.get() >= 0);
  CHECK(open_descriptors() == before + 3);
}

TEST_CASE("an end that has gone is told by what comes back") {
  const std::array<int, 0> none{};
  Pair pair(SOCK_STREAM);
  pair.to = Descriptor();
  CHECK_FALSE(send_with_descriptors(pair.from.get(), bytes_of_text("x"), none));
  Pair other(SOCK_STREAM);
  other.from = Descriptor();
  std::array<std::byte, 1> room{};
  CHECK(receive_with_descriptors(other.to.get(), room).bytes == 0);
}
