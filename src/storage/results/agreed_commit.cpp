#include "sidestream/kit/storage/results/agreed_commit.hpp"

#include <exception>
#include <filesystem>

#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/records.hpp"
#include "sidestream/kit/base/waiting.hpp"
#include "sidestream/kit/storage/files/file_names.hpp"
#include "sidestream/kit/storage/files/output_file.hpp"
#include "storage/files/output_directory.hpp"
#include "storage/results/series.hpp"

namespace sidestream {

namespace fs = std::filesystem;

namespace {

Bytes as_bytes(const std::string& text) {
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  return {first, first + text.size()};
}

std::string as_text(BytesView bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

/// Hidden name of the file that `path` replaces, until the commit has succeeded.
std::string old_of(const std::string& path) { return hidden_beside(path, ".old"); }

/// Unpacks the servers' messages; each has a failure and then partials. Returns the first failure.
std::string unpack(const std::vector<Bytes>& gathered, std::vector<Bytes>& partials) {
  std::string first;
  for (const Bytes& message : gathered) {
    ByteReader source(message);
    std::string failure;
    source.get(failure);
    if (first.empty()) first = failure;
    while (!source.at_end()) source.get(partials.emplace_back());
  }
  return first;
}

/// Throws the failure of rank 0 on all ranks.
void agree(Communicator& servers, const std::string& failure) {
  Bytes agreed = as_bytes(failure);
  servers.broadcast(agreed, 0);
  if (!agreed.empty()) throw Error(Code::file, as_text(agreed));
}

/// Retries work that must restore names although memory is short. Gives up if that lasts, since the process continues.
template <class Work>
void persist_quietly(Work&& work) noexcept {
  try {
    retry_while_out_of_memory(work);
  } catch (const std::bad_alloc&) {
  }
}

}  // namespace

std::string failure_of(const std::function<void()>& action) {
  try {
    action();
    return {};
  } catch (const std::exception& error) {
    return error.what();
  }
}

std::string PendingFiles::begin(const std::string& path) {
  std::string temporary = begin_file(*directory_, path);
  files_.push_back({path, temporary});
  return temporary;
}

void PendingFiles::place(const std::string& path, const std::function<void(const std::string& temporary)>& put) {
  put(begin(path));
  files_.back().complete = true;
  keep_old(files_.back());
  directory_->commit(path);
}

void PendingFiles::enter(Series& series, const Iteration& iteration, const std::string& path) {
  entered_.reserve(entered_.size() + 1);
  series.add(iteration, path);
  entered_.push_back(&series);
}

void PendingFiles::enter(const std::string& pattern, const Iteration& iteration, const std::string& path) {
  if (!series_) series_ = std::make_shared<SeriesSet>(directory_);
  enter(series_->of(pattern, iteration), iteration, path);
}

void PendingFiles::discard() noexcept {
  for (const File& file : files_) directory_->discard(file.path);
  files_.clear();
}

/// Gives the file that will be replaced a second name, if it exists. Skips directories, because renaming refuses them.
void PendingFiles::keep_old(File& file) {
  const std::string old = old_of(file.path);
  std::error_code error;
  fs::remove(old, error);  // leftover of a killed run
  if (!fs::exists(fs::symlink_status(file.path, error)) || fs::is_directory(file.path, error)) return;
  fs::create_hard_link(file.path, old, error);
  // On file systems without hard links the name is missing for a moment.
  if (error) fs::rename(file.path, old, error);
  if (error) fail_file("keep the earlier file of the name", file.path, error.value());
  file.replaces = true;
}

void PendingFiles::name_files() {
  std::vector<std::string> paths;
  for (File& file : files_) {
    file.complete = true;
    paths.push_back(file.path);
    keep_old(file);
  }
  commit_all(*directory_, paths);
}

/// Removes only files that were renamed here. A file whose temporary still exists was not.
void PendingFiles::undo() noexcept {
  for (Series* series : entered_) series->drop_last();
  entered_.clear();
  for (const File& file : files_) {
    persist_quietly([&] {
      std::error_code ignored;
      if (file.replaces) {
        const std::string old = old_of(file.path);
        fs::rename(old, file.path, ignored);
        fs::remove(old, ignored);  // rename between two links of one file leaves both
      } else if (file.complete && !fs::exists(fs::symlink_status(file.temporary, ignored))) {
        fs::remove(file.path, ignored);
      }
    });
  }
  discard();
}

void PendingFiles::forget_old() noexcept {
  std::error_code ignored;
  for (const File& file : files_) {
    if (file.replaces) persist_quietly([&] { fs::remove(old_of(file.path), ignored); });
  }
  files_.clear();
  entered_.clear();
}

void PendingFiles::commit(Communicator& servers, std::span<const Bytes> partials,
                          const std::function<void(const std::vector<Bytes>& partials)>& index) {
  commit(servers, partials, {}, index);
}

void PendingFiles::commit(Communicator& servers, std::span<const Bytes> partials, const std::string& failure,
                          const std::function<void(const std::vector<Bytes>& partials)>& index) {
  try {
    ByteWriter message;
    message.put(failure.empty() ? failure_of([this] { name_files(); }) : failure);
    for (const Bytes& partial : partials) message.put(partial);
    const std::vector<Bytes> gathered = servers.gather(message.take(), 0);
    std::string first;
    if (servers.rank() == 0) {
      std::vector<Bytes> all;
      first = unpack(gathered, all);
      if (first.empty()) first = failure_of([&] { index(all); });
    }
    agree(servers, first);
  } catch (...) {
    undo();
    throw;
  }
  forget_old();
}

}  // namespace sidestream
