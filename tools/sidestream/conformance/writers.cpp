// Contract of every writer: see extend/writer.hpp.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <exception>
#include <filesystem>
#include <set>

#include "base/mpi/agree.hpp"
#include "conformance/captured.hpp"
#include "conformance/conformance.hpp"
#include "conformance/failing_memory.hpp"
#include "conformance/sample.hpp"
#include "storage/files/output_directory.hpp"

namespace sidestream::conformance {

namespace {

namespace fs = std::filesystem;

std::set<std::string> files_below(const std::string& folder) {
  std::set<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) files.insert(fs::relative(entry.path(), folder).string());
  }
  return files;
}

/// One writer with a folder of its own.
class WriterBench {
 public:
  WriterBench(const Subject& subject, const std::string& folder)
      : subject_(subject), folder_(folder), directory_(open_output_directory(folder, "sidestream conformance")) {
    run_collectively(subject.servers, [&] {
      const WriterKind& kind = subject.registry.writers().at(subject.task.kind);
      writer_ = kind.create(subject.task.settings, subject.metadata, directory_);
    });
  }

  void prepare(const Case& how) {
    const Selection selection = writer_->selection();
    views_.emplace(subject_.metadata, selection, how, subject_.servers.rank(), subject_.servers.size());
    catalogue_ = catalogue_for(subject_.metadata, selection, how);
    asks_ = selection.catalogue;
  }
  /// Prepares on this process only. Throws the writer's exceptions.
  [[nodiscard]] Bytes write_alone(const Iteration& iteration) { return writer_->local(input(iteration)); }
  /// Collective; fails on all processes or on none.
  [[nodiscard]] Bytes write(const Case& how, const Iteration& iteration) {
    Bytes partial;
    run_collectively(subject_.servers, [&] {
      prepare(how);
      partial = write_alone(iteration);
    });
    return partial;
  }
  void commit(const Bytes& partial, const Iteration& iteration) {
    Captured results;
    const LocalInput local = input(iteration);
    guarded(subject_.servers, [&](Communicator& servers) {
      static_cast<void>(writer_->combine({iteration, subject_.metadata, {&partial, 1}, 0, servers, results, &local}));
    });
    subject_.servers.barrier();
  }
  void discard(const Iteration& iteration) {
    writer_->discard(iteration);
    subject_.servers.barrier();
  }
  /// Collective: lists files; all have seen the same before any process writes again.
  [[nodiscard]] std::set<std::string> files() const {
    std::set<std::string> files = files_below(folder_);
    subject_.servers.barrier();
    return files;
  }

 private:
  [[nodiscard]] LocalInput input(const Iteration& iteration) const {
    return views_->input(iteration, subject_.metadata, 0, {}, asks_ ? &catalogue_ : nullptr);
  }

  const Subject& subject_;
  std::string folder_;
  std::shared_ptr<const OutputDirectory> directory_;
  std::unique_ptr<Task> writer_;
  std::optional<Views> views_;  ///< must outlive commit or discard
  Catalogue catalogue_;
  bool asks_ = false;
};

std::string leftovers(const std::set<std::string>& before, const std::set<std::string>& after) {
  std::vector<std::string> more;
  for (const std::string& file : after) {
    if (!before.contains(file)) more.push_back(file);
  }
  return more.empty() ? "" : fmt::format("these files are left: {}", fmt::join(more, ", "));
}

/// Files that readers would consider unfinished.
std::string unfinished(const std::set<std::string>& files) {
  for (const std::string& file : files) {
    const std::string name = fs::path(file).filename().string();
    if (name.front() == '.' || fs::path(name).extension() == ".part") {
      return fmt::format("the temporary file '{}' is left after combine", file);
    }
  }
  return files.empty() ? "combine has left no file" : "";
}

std::string write_and_commit(const Subject& subject, const std::string& folder, const Case& how) {
  WriterBench bench(subject, folder);
  for (std::int64_t n = 0; n < 2; ++n) {
    const Iteration iteration{n, 10 * n, 0.5 * static_cast<double>(n)};
    bench.commit(bench.write(how, iteration), iteration);
  }
  return unfinished(bench.files());
}

std::string discard_leaves_nothing(const Subject& subject, const std::string& folder) {
  Case how;
  how.parts = {2, 2, 1};
  WriterBench bench(subject, folder);
  bench.commit(bench.write(how, {0, 0, 0}), {0, 0, 0});
  const auto before = bench.files();
  static_cast<void>(bench.write(how, {1, 10, 0.5}));
  bench.discard({1, 10, 0.5});
  std::string left = leftovers(before, bench.files());
  if (!left.empty()) return left;
  bench.commit(bench.write(how, {2, 20, 1}), {2, 20, 1});
  return bench.files().size() >= before.size() ? "" : "files of an earlier iteration have gone";
}

/// Runs `local` with each allocation failing in turn, then `discard`.
std::string fail_allocations(const Subject& subject, const std::string& folder) {
  Case how;
  how.parts = {2, 1, 1};
  WriterBench bench(subject, folder);
  run_collectively(subject.servers, [&] { bench.prepare(how); });
  const auto before = bench.files();
  constexpr long most = 1 << 20;
  std::int64_t index = 0;
  for (long n = 0; n < most; n += 1 + n / 2) {
    const Iteration iteration{index, 10 * index, 0.5 * static_cast<double>(index)};
    ++index;
    bool done = false;
    {
      FailingMemory failing(n);
      try {
        static_cast<void>(bench.write_alone(iteration));
        done = !failing.failed();
      } catch (const std::exception&) {
        // expected
      }
    }
    std::int64_t all = done;
    subject.servers.minimum(std::span(&all, 1));
    bench.discard(iteration);
    const std::string left = leftovers(before, bench.files());
    if (!left.empty()) return left;
    if (all) break;
  }
  return {};
}

}  // namespace

void check_writer(const Subject& subject, const std::string& directory, Findings& report) {
  const std::string& name = subject.task.name;
  if (subject.task.kind == "stream") return report.skip(name, "it needs a reader");
  int number = 0;
  const auto check = [&](const std::string& what, const std::function<std::string(const std::string&)>& work) {
    const std::string folder = fmt::format("{}/{}", directory, number++);
    report.check(name, what, [&] {
      run_collectively(subject.servers, [&] {
        if (subject.servers.rank() == 0) fs::create_directories(folder);
      });
      return work(folder);
    });
    subject.servers.barrier();
    std::error_code ignored;
    if (subject.servers.rank() == 0) fs::remove_all(folder, ignored);
  };
  Case how;
  const auto write = [&](const std::string& folder) { return write_and_commit(subject, folder, how); };
  check("one block", write);
  how.parts = {2, 3, 2};
  how.ghosts = 1;
  how.backwards = true;
  check("bricks whose ids run backwards, with ghosts", write);
  how = {};
  how.parts = {1, 1, 1000};
  check("slabs of one cell, and empty blocks", write);
  how = {};
  how.odd_values = true;
  check("NaN, infinities and the greatest numbers", write);
  how = {};
  how.nothing = true;
  check("no block delivered", [&](const std::string& folder) {
    WriterBench bench(subject, folder);
    bench.commit(bench.write(how, {0, 0, 0}), {0, 0, 0});
    return std::string();
  });
  check("discard leaves nothing", [&](const std::string& folder) { return discard_leaves_nothing(subject, folder); });
  check("memory that ends in `local`", [&](const std::string& folder) { return fail_allocations(subject, folder); });
}

}  // namespace sidestream::conformance
