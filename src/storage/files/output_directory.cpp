#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <set>

#include "base/waiting.hpp"
#include "data/file_pattern.hpp"
#include "storage/files/output_directory.hpp"
#include "storage/files/output_file.hpp"

namespace sidestream {

namespace {

namespace fs = std::filesystem;

class PlainDirectory final : public BatchDirectory {
 public:
  PlainDirectory(std::string root, std::string provenance, GoesOnWith what, bool flush)
      : root_(std::move(root)), provenance_(std::move(provenance)), goes_on_with_(what), flush_(flush) {}

  std::string path(const std::string& pattern, const Iteration& iteration, int server) const override {
    return (fs::path(root_) / expand_pattern(pattern, iteration, server)).string();
  }

  std::string temporary(const std::string& path) const override {
    make_directory_of(path);
    return hidden(path);
  }

  void commit(const std::string& path) const override { commit_all({path}); }

  void commit_all(const std::vector<std::string>& paths) const override {
    std::set<std::string> parents;
    for (const std::string& path : paths) {
      if (flush_) flush_to_disk(hidden(path));
      parents.insert(fs::path(path).parent_path().string());
    }
    for (const std::string& path : paths) rename_file(hidden(path), path);
    for (const std::string& parent : parents) {
      if (flush_) flush_directory(parent);
    }
  }

  void discard(const std::string& path) const noexcept override {
    try {
      retry_while_out_of_memory([&] { ::unlink(hidden(path).c_str()); });
    } catch (const std::bad_alloc&) {  // the file stays, and a later run overwrites it
    }
  }

  const std::string& provenance() const noexcept override { return provenance_; }
  bool resumes() const noexcept override { return goes_on_with_ != GoesOnWith::nothing; }
  bool within_session() const noexcept override { return goes_on_with_ == GoesOnWith::session; }

 private:
  /// The leading dot hides the file from `*`, and the ending hides it from programs that select by ending.
  static std::string hidden(const std::string& path) {
    const fs::path whole(path);
    return (whole.parent_path() / fmt::format(".{}.part", whole.filename().string())).string();
  }

  std::string root_, provenance_;
  GoesOnWith goes_on_with_;
  bool flush_;
};

}  // namespace

std::shared_ptr<const OutputDirectory> open_output_directory(const std::string& root, const std::string& provenance,
                                                             GoesOnWith what, bool flush) {
  const std::string directory = root.empty() ? "." : root;
  make_directory_of((fs::path(directory) / "file").string());
  // This is checked now, because a run that cannot keep its results should end before it computes for a day.
  if (::access(directory.c_str(), W_OK | X_OK) != 0) fail_file("write into the directory", directory, errno);
  return std::make_shared<PlainDirectory>(directory, provenance, what, flush);
}

}  // namespace sidestream
