#include "storage/writers/agreed_commit.hpp"

#include <exception>
#include <filesystem>

#include "base/fail.hpp"
#include "storage/writers/byte_stream.hpp"

namespace sidestream {

namespace {

/// What `action` threw, as text; empty if it returned.
template <class Action>
std::string failure_of(Action action) {
  try {
    action();
    return {};
  } catch (const std::exception& error) {
    return error.what();
  }
}

Bytes as_bytes(const std::string& text) {
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  return {first, first + text.size()};
}

std::string as_text(BytesView bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

/// Unpacks what the servers sent: a failure each, then their partials. Returns the first failure.
std::string unpack(const std::vector<Bytes>& gathered, std::vector<Bytes>& partials) {
  std::string first;
  for (const Bytes& message : gathered) {
    ByteSource source(message);
    std::string failure;
    source.get(failure);
    if (first.empty()) first = failure;
    while (!source.at_end()) source.get(partials.emplace_back());
  }
  return first;
}

}  // namespace

std::string PendingFiles::begin(const std::string& path) {
  std::string temporary = directory_->temporary(path);
  paths_.push_back(path);
  return temporary;
}

void PendingFiles::discard() noexcept {
  for (const auto& path : paths_) directory_->discard(path);
  paths_.clear();
}

std::string PendingFiles::name_files() noexcept {
  return failure_of([this] {
    for (const auto& path : paths_) directory_->commit(path);
  });
}

void PendingFiles::remove_files() noexcept {
  for (const auto& path : paths_) {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
  }
  discard();
}

void PendingFiles::commit(const CombineInput& input,
                          const std::function<void(const std::vector<Bytes>& partials)>& index) {
  ByteSink message;
  message.put(name_files());
  for (const Bytes& partial : input.partials) message.put(partial);
  const std::vector<Bytes> gathered = input.communicator.gather(message.take(), 0);
  std::string failure;
  if (input.communicator.rank() == 0) {
    std::vector<Bytes> partials;
    failure = unpack(gathered, partials);
    if (failure.empty()) failure = failure_of([&] { index(partials); });
  }
  Bytes agreed = as_bytes(failure);
  input.communicator.broadcast(agreed, 0);
  if (!agreed.empty()) {
    remove_files();
    throw Error(Code::file, as_text(agreed));
  }
  paths_.clear();
}

}  // namespace sidestream
