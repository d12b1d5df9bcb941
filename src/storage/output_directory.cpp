#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "data/file_pattern.hpp"
#include "storage/output.hpp"
#include "storage/output_file.hpp"

namespace sidestream {

namespace {

namespace fs = std::filesystem;

class PlainDirectory final : public OutputDirectory {
 public:
  PlainDirectory(std::string root, std::string provenance, bool resumes)
      : root_(std::move(root)), provenance_(std::move(provenance)), resumes_(resumes) {}

  std::string path(const std::string& pattern, const Iteration& iteration, int server) const override {
    return (fs::path(root_) / expand_pattern(pattern, iteration, server)).string();
  }

  std::string temporary(const std::string& path) const override {
    make_directory_of(path);
    return hidden(path);
  }

  void commit(const std::string& path) const override {
    const std::string written = hidden(path);
    flush_to_disk(written);
    rename_durably(written, path);
  }

  void discard(const std::string& path) const noexcept override { ::unlink(hidden(path).c_str()); }

  const std::string& provenance() const noexcept override { return provenance_; }
  bool resumes() const noexcept override { return resumes_; }

 private:
  /// A leading dot hides it from `*`, the ending from programs that go by the ending.
  static std::string hidden(const std::string& path) {
    const fs::path whole(path);
    return (whole.parent_path() / ("." + whole.filename().string() + ".part")).string();
  }

  std::string root_, provenance_;
  bool resumes_;
};

}  // namespace

std::shared_ptr<const OutputDirectory> open_output_directory(const std::string& root, const std::string& provenance,
                                                             bool resumes) {
  const std::string directory = root.empty() ? "." : root;
  make_directory_of((fs::path(directory) / "file").string());
  // Asked now because a run that cannot keep its results should end before it computes for a day.
  if (::access(directory.c_str(), W_OK | X_OK) != 0) fail_file("write into the directory", directory, errno);
  return std::make_shared<PlainDirectory>(directory, provenance, resumes);
}

}  // namespace sidestream
