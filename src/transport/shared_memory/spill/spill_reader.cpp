#include "transport/shared_memory/spill/spill_reader.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "base/checksum.hpp"
#include "base/files.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/text.hpp"

namespace sidestream::shared_memory {

namespace {

void read_all(int file, std::uint64_t offset, std::span<std::byte> bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t got = pread(file, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      fail(Code::system, "cannot read {} bytes at {} of '{}', which a client spilled: {}", bytes.size(), offset, path,
           got < 0 ? system_text(errno) : "the file ends there");
    }
    bytes = bytes.subspan(static_cast<std::size_t>(got));
    offset += static_cast<std::uint64_t>(got);
  }
}

}  // namespace

void SpillReader::add(std::int64_t iteration, std::size_t client, std::uint64_t offset, std::size_t number) {
  waiting_[iteration].push_back({client, offset, number});
}

int SpillReader::file_of(std::size_t client, const std::string& path) {
  const auto known = files_.find(client);
  if (known != files_.end()) return known->second.get();
  Descriptor file(open_existing(path, O_RDONLY));
  struct stat status {};
  if (file.get() < 0 || fstat(file.get(), &status) != 0) {
    fail(Code::system, "cannot open '{}', into which a client spilled: {}; servers must see placement.spill.directory",
         path, system_text(errno));
  }
  if (status.st_uid != geteuid()) fail(Code::system, "'{}', into which a client spilled, is another user's", path);
  return files_.emplace(client, std::move(file)).first->second.get();
}

void SpillReader::read(const Entry& entry, std::int64_t iteration, Inbox& inbox, const std::string& path) {
  Arrival& arrival = inbox.blocks.at(entry.number);
  const int file = file_of(entry.client, path);
  SpillHeader header;
  const auto whole = std::as_writable_bytes(std::span(&header, 1));
  read_all(file, entry.offset, whole, path);
  const auto damaged = [&](const char* what) {
    fail(Code::system, "'{}', into which a client spilled, has {} at {} for block {} of iteration {}: it is damaged",
         path, what, entry.offset, arrival.record.block.id, iteration);
  };
  if (header.magic != spill_magic ||
      header.header != checksum_of(std::span<const std::byte>(whole).first(offsetof(SpillHeader, header)))) {
    damaged("no block");
  }
  if (header.iteration != iteration || header.block != arrival.record.block.id ||
      header.variable != arrival.record.variable || header.bytes != arrival.record.bytes) {
    damaged("another block");
  }
  AlignedBytes values = aligned_bytes(header.bytes);
  read_all(file, entry.offset + sizeof header, {values.get(), header.bytes}, path);
  if (checksum_of({values.get(), header.bytes}) != header.values) damaged("values whose checksum does not fit");
  const std::byte* const data = values.get();
  loaded_[iteration].push_back(std::move(values));
  arrival.data = data;
}

std::string SpillReader::load(std::int64_t iteration, Inbox& inbox,
                              const std::function<std::string(std::size_t client)>& path_of) {
  const auto found = waiting_.find(iteration);
  if (found == waiting_.end()) return {};
  std::vector<Entry>& entries = found->second;
  std::string wrong;
  for (; !entries.empty() && wrong.empty(); entries.pop_back()) {
    try {
      read(entries.back(), iteration, inbox, path_of(entries.back().client));
    } catch (const Error& error) {
      wrong = error.what();
    }
  }
  waiting_.erase(found);
  return wrong;
}

}  // namespace sidestream::shared_memory
