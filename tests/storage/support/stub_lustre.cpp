#include "stub_lustre.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace stub_lustre {

namespace {
std::vector<Call> calls;
int failure = 0;
}  // namespace

std::vector<Call> take_calls() { return std::exchange(calls, {}); }
void fail_with(int error_number) { failure = error_number; }

}  // namespace stub_lustre

extern "C" int llapi_file_create(const char* name, unsigned long long size, int offset, int count, int pattern) {
  const int descriptor = ::open(name, O_CREAT | O_EXCL | O_WRONLY, 0644);
  if (descriptor < 0) return -errno;
  ::close(descriptor);
  stub_lustre::calls.push_back({name, size, offset, count, pattern});
  return -stub_lustre::failure;
}
