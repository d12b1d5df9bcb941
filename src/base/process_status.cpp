#include "base/process_status.hpp"

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstring>

namespace sidestream {

namespace {

std::uint64_t whole_at(const char* text) noexcept {
  while (*text == ' ') ++text;
  std::uint64_t value = 0;
  std::from_chars(text, text + std::strlen(text), value);
  return value;
}

}  // namespace

ProcessStatus process_status(int pid) noexcept {
  char path[32], text[1024] = "";
  std::snprintf(path, sizeof path, "/proc/%d/stat", pid);
  std::FILE* file = std::fopen(path, "re");
  if (!file) return {};
  const std::size_t got = std::fread(text, 1, sizeof text - 1, file);
  std::fclose(file);
  text[got] = 0;
  // The program's name is in parentheses and may contain anything.
  const char* at = std::strrchr(text, ')');
  if (!at || !at[1]) return {};
  at += 2;
  ProcessStatus status;
  status.state = *at;
  constexpr int words_to_start = 19;
  for (int n = 0; at && n < words_to_start; ++n) at = std::strchr(at + 1, ' ');
  if (at) status.start = whole_at(at);
  return status;
}

}  // namespace sidestream
