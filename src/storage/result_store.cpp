#include <filesystem>
#include <optional>
#include <utility>

#include "base/fail.hpp"
#include "data/file_pattern.hpp"
#include "storage/file_names.hpp"
#include "storage/output.hpp"
#include "storage/replace_file.hpp"
#include "storage/series.hpp"
#include "storage/table_files.hpp"

namespace sidestream {

namespace {

/// On ranks that keep nothing.
class NoResults final : public Results {
 public:
  void add(const std::string&, const Table&) override {}
  void add(const std::string&, const Image&) override {}
  void add(const std::string&, const Surface&) override {}
};

class FileStore final : public ResultStore {
 public:
  FileStore(const Registry& registry, std::shared_ptr<const OutputDirectory> directory, bool resume)
      : formats_(registry.formats()),
        directory_(directory),
        series_(directory, resume),
        tables_(directory, resume),
        names_(directory) {}

  std::unique_ptr<Results> begin(const Iteration& iteration) override;

  void add(const std::string& file, const Iteration& iteration, const Table& table) {
    const ResultFormat& format = format_of(file, &ResultFormat::table, "tables");
    tables_.keep_provenance();
    if (!names_iteration(file)) return tables_.append(format, file, iteration, table, *first_cycle_);
    write(file, iteration,
          [&](const std::string& path) { format.table(path, table, false, directory_->provenance()); });
  }
  void add(const std::string& file, const Iteration& iteration, const Image& image) {
    const ResultFormat& format = format_of(file, &ResultFormat::image, "images");
    write(file, iteration, [&](const std::string& path) { format.image(path, image, directory_->provenance()); });
  }
  void add(const std::string& file, const Iteration& iteration, const Surface& surface) {
    const ResultFormat& format = format_of(file, &ResultFormat::surface, "surfaces");
    write(file, iteration,
          [&](const std::string& path) { format.surface(path, surface, iteration, directory_->provenance()); });
  }

 private:
  template <class Member>
  const ResultFormat& format_of(const std::string& file, Member member, const char* what) const {
    const auto found = formats_.find(std::filesystem::path(file).extension().string());
    if (found != formats_.end() && found->second.*member) return found->second;
    std::string known;
    for (const auto& [ending, format] : formats_) {
      if (format.*member) known += (known.empty() ? "" : ", ") + ending;
    }
    fail(Code::configuration, "the file name '{}' has no ending that {} can be written to; use one of: {}", file, what,
         known);
  }

  /// Lets `put` write a temporary file and gives it its name, then enters it in its series.
  template <class Put>
  void write(const std::string& file, const Iteration& iteration, Put put) {
    if (const auto [last, is_new] = latest_.try_emplace(file, iteration.index);
        !is_new && std::exchange(last->second, iteration.index) == iteration.index) {
      fail(Code::configuration, "two results of iteration {} go to '{}'; give the analyses different file names",
           iteration.index, directory_->path(file, iteration, 0));
    }
    if (!names_iteration(file)) return replace_file(*directory_, directory_->path(file, iteration, 0), put);
    Series& series = series_.of(file, *first_cycle_);
    const std::string path = names_.choose(file, iteration);
    replace_file(*directory_, path, put);
    try {
      series.add(iteration, path);
    } catch (...) {
      std::error_code ignored;
      std::filesystem::remove(path, ignored);
      throw;
    }
    names_.written(path);
  }

  std::map<std::string, ResultFormat> formats_;
  std::shared_ptr<const OutputDirectory> directory_;
  SeriesSet series_;
  TableFiles tables_;
  FileNames names_;
  std::map<std::string, std::int64_t> latest_;  ///< by pattern: the iteration last written
  std::optional<std::int64_t> first_cycle_;     ///< of this run
};

class FileResults final : public Results {
 public:
  FileResults(FileStore& store, const Iteration& iteration) : store_(store), iteration_(iteration) {}
  void add(const std::string& file, const Table& table) override { store_.add(file, iteration_, table); }
  void add(const std::string& file, const Image& image) override { store_.add(file, iteration_, image); }
  void add(const std::string& file, const Surface& surface) override { store_.add(file, iteration_, surface); }

 private:
  FileStore& store_;
  Iteration iteration_;
};

std::unique_ptr<Results> FileStore::begin(const Iteration& iteration) {
  if (!first_cycle_) first_cycle_ = iteration.cycle;
  return std::make_unique<FileResults>(*this, iteration);
}

class EmptyStore final : public ResultStore {
 public:
  std::unique_ptr<Results> begin(const Iteration&) override { return std::make_unique<NoResults>(); }
};

}  // namespace

std::unique_ptr<ResultStore> make_result_store(const Registry& registry,
                                               std::shared_ptr<const OutputDirectory> directory, int rank,
                                               bool resume) {
  if (rank != 0) return std::make_unique<EmptyStore>();
  return std::make_unique<FileStore>(registry, std::move(directory), resume);
}

}  // namespace sidestream
