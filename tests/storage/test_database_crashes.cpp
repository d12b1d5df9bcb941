// Tests every state of a small database after a death at any byte, or a loss of power: committed contexts are there.
#include <doctest/doctest.h>

#include <fstream>
#include <random>

#include "sidestream/kit/base/records.hpp"
#include "sidestream/kit/storage/files/output_file.hpp"
#include "storage/support/sample.hpp"
#include "storage/support/small_database.hpp"
#include "support/disk.hpp"
#include "support/ranks.hpp"
#include "support/scratch.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace fs = std::filesystem;

namespace {

using What = DiskOperation::What;
using Files = std::map<std::string, std::string>;

/// The operations of all servers in their order, on the first server.
std::vector<DiskOperation> merged(Communicator& servers, const std::vector<DiskOperation>& mine) {
  ByteWriter writer;
  for (const DiskOperation& operation : mine) {
    writer.put(operation.what);
    writer.put(operation.when);
    writer.put(operation.offset);
    writer.put(operation.file);
    writer.put(operation.bytes);
  }
  std::vector<DiskOperation> all;
  for (const Bytes& bytes : servers.gather(writer.take(), 0)) {
    ByteReader reader(bytes);
    while (!reader.at_end()) {
      DiskOperation& operation = all.emplace_back();
      reader.get(operation.what);
      reader.get(operation.when);
      reader.get(operation.offset);
      reader.get(operation.file);
      reader.get(operation.bytes);
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.when < b.when; });
  return all;
}

void write_into(std::string& content, std::uint64_t offset, std::string_view bytes) {
  if (content.size() < offset + bytes.size()) content.resize(offset + bytes.size());
  content.replace(offset, bytes.size(), bytes);
}

/// Changes the files as an operation does, or the first `part` bytes of a write.
void apply(Files& files, const DiskOperation& operation, std::size_t part = std::string::npos) {
  switch (operation.what) {
    case What::create:
      files[operation.file];
      break;
    case What::write:
      write_into(files[operation.file], operation.offset, std::string_view(operation.bytes).substr(0, part));
      break;
    case What::cut:
      files[operation.file].resize(operation.offset);
      break;
    case What::rename:
      files[operation.bytes] = std::move(files[operation.file]);
      files.erase(operation.file);
      break;
    case What::remove:
      files.erase(operation.file);
      break;
    default:
      break;
  }
}

/// Makes the directory have these files. Writes only files that differ from earlier ones.
class Directory {
 public:
  explicit Directory(std::string path) : path_(std::move(path)) { fs::create_directories(path_); }
  void become(const Files& files) {
    for (const auto& file : fs::directory_iterator(path_)) {
      const std::string name = file.path().filename();
      if (!files.contains(name)) fs::remove(file.path());
    }
    for (const auto& [name, content] : files) {
      const auto found = had_.find(name);
      if (found != had_.end() && found->second == content && fs::exists(fs::path(path_) / name)) continue;
      std::ofstream((fs::path(path_) / name), std::ios::binary) << content;
    }
    had_ = files;
  }
  /// To be called after somebody else has changed files.
  void forget() { had_.clear(); }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
  Files had_;
};

/// Contexts that servers had been told were committed after so many operations.
std::vector<std::int64_t> told(const std::vector<DiskOperation>& operations, std::size_t count) {
  std::vector<std::int64_t> cycles;
  for (std::size_t n = 0; n < count; ++n) {
    if (operations[n].what == What::note) cycles.push_back(static_cast<std::int64_t>(operations[n].offset));
  }
  return cycles;
}

struct Case {
  std::string name;
  database::StoringOptions options;
  std::vector<std::string> codecs{};
};

std::vector<Case> cases() {
  std::vector<Case> all{{"plain", {}}, {"kept", {}}, {"apart", {}, {"byte-shuffle", "gzip"}}};
  for (Case& one : all) {
    one.options.max_file_size = 1 << 20;
    one.options.show = false;
  }
  all[0].options.show = true;
  all[1].options.keep = 1;
  all[2].options.contributors_per_file = 1;
  all[2].options.max_file_size = 1 << 16;
  return all;
}

struct Fixture {
  Fixture() { stay_in_memory(); }
  /// Stores three contexts. The first server gets the record of all operations.
  std::vector<DiskOperation> record(const Case& one) {
    const SharedDirectory directory(world);
    database::StoringOptions options = one.options;
    options.directory = directory.path();
    const WatchedDisk disk(directory.path());
    {
      SmallDatabase database(world, options, one.codecs);
      for (std::int64_t cycle = 0; cycle < 3; ++cycle) {
        database.store(cycle);
        if (world.rank() == 0) WatchedDisk::note("committed", static_cast<std::uint64_t>(cycle));
        world.barrier();
      }
    }
    return merged(world, WatchedDisk::take());
  }

  /// Checks that no committed context is lost, that nothing is wrong, and that another run can go on.
  void check(Directory& directory, const Files& files, const std::vector<std::int64_t>& committed, int keep,
             bool flushed, bool goes_on = true) {
    directory.become(files);
    const Findings findings = read_all(directory.path(), blocks);
    REQUIRE_FALSE(findings.wrong);
    if (!flushed) return;
    INFO((findings.damages.empty() ? std::string() : findings.damages.front()));
    REQUIRE(findings.damaged.empty());
    REQUIRE(findings.whole.empty() <= committed.empty());
    for (std::size_t n = 0; n < committed.size(); ++n) {
      // Contexts beyond `keep` may be gone, and also the oldest other one, for the one that is being written.
      if (keep == 0 || n + static_cast<std::size_t>(keep) > committed.size()) {
        const bool replaced = keep > 0 && *findings.whole.rbegin() > committed.back();
        REQUIRE((replaced || findings.whole.contains(committed[n])));
      }
    }
    if (goes_on) go_on(directory, findings);
  }

  void go_on(Directory& directory, const Findings& before) {
    MpiCommunicator alone(MPI_COMM_SELF);
    database::StoringOptions options;
    options.directory = directory.path();
    options.max_file_size = 1 << 20;
    options.show = options.flush = false;
    SmallDatabase(alone, options).store(77);
    directory.forget();
    const database::Journal journal = database::read_journal(directory.path());
    REQUIRE(journal.contexts.back().iteration.cycle == 77);
    REQUIRE(journal.contexts.size() == before.whole.size() + 1);
    database::Context context(directory.path(), journal.contexts.back());
    REQUIRE(wrong_with(context, SmallDatabase::blocks_of_all(1)).empty());
  }

  MpiCommunicator world{test_ranks()};
  std::uint64_t blocks = SmallDatabase::blocks_of_all(world.size());
};

/// The number of bytes between two states of a write: one, or many in the part of a segment that no reader looks at.
std::size_t step_of(const DiskOperation& operation) {
  const bool unread = operation.file.starts_with("context-") || operation.file.starts_with(".context-") ||
                      (operation.file.starts_with("segment-") && operation.offset == 0);
  return unread ? 1021 : 1;
}

}  // namespace

TEST_CASE_FIXTURE(Fixture, "a death at any byte loses nothing that was committed") {
  for (const Case& one : cases()) {
    CAPTURE(one.name);
    const std::vector<DiskOperation> operations = record(one);
    if (world.rank() != 0) continue;
    REQUIRE(told(operations, operations.size()) == std::vector<std::int64_t>{0, 1, 2});
    const Scratch scratch;
    Directory directory(scratch.path + "/data");
    Files files;
    int states = 0;
    for (std::size_t n = 0; n < operations.size(); ++n) {
      const DiskOperation& operation = operations[n];
      const std::vector<std::int64_t> committed = told(operations, n);
      const std::size_t parts = operation.what == What::write ? operation.bytes.size() : 1;
      for (std::size_t part = 0; part < parts; part += step_of(operation), ++states) {
        Files died = files;
        if (operation.what == What::write) apply(died, operation, part);
        CAPTURE(n);
        CAPTURE(part);
        check(directory, died, committed, one.options.keep, true, part % 32 == 0);
      }
      apply(files, operation);
    }
    check(directory, files, {0, 1, 2}, one.options.keep, true);
    MESSAGE(one.name, ": ", states, " states of ", operations.size(), " operations");
  }
}

namespace {

/// States after a loss of power: all that was flushed, and any part of later operations in any order. Names are flushed
/// with their directory.
class Power {
 public:
  explicit Power(unsigned seed) : random_(seed) {}

  Files lost(const std::vector<DiskOperation>& operations, std::size_t count) {
    Files files;
    for (std::size_t n = 0; n < count; ++n) {
      const DiskOperation& operation = operations[n];
      const bool of_names =
          operation.what == What::create || operation.what == What::rename || operation.what == What::remove;
      if (is_flushed(operations, n, count, of_names)) {
        apply(files, operation);
      } else if (operation.what == What::write && files.contains(operation.file)) {
        torn(files[operation.file], operation);
      } else if (operation.what != What::write && chance()) {
        apply(files, operation);
      }
    }
    return files;
  }

 private:
  bool chance() { return random_() % 2 == 0; }

  static bool is_flushed(const std::vector<DiskOperation>& operations, std::size_t n, std::size_t count,
                         bool of_names) {
    for (std::size_t later = n + 1; later < count; ++later) {
      const DiskOperation& flush = operations[later];
      if (of_names && flush.what == What::flush_names) return true;
      if (!of_names && flush.what == What::flush && flush.file == operations[n].file) return true;
      // After it is renamed, it is still the same file.
      if (!of_names && flush.what == What::rename && flush.file == operations[n].file) {
        for (std::size_t after = later; after < count; ++after) {
          if (operations[after].what == What::flush && operations[after].file == flush.bytes) return true;
        }
      }
    }
    return false;
  }

  /// Each sector of 512 bytes reaches the disk or not. The file may have its new length without any of them.
  void torn(std::string& content, const DiskOperation& operation) {
    constexpr std::uint64_t sector = 512;
    if (chance()) write_into(content, operation.offset, std::string(operation.bytes.size(), '\0'));
    for (std::uint64_t at = operation.offset; at < operation.offset + operation.bytes.size();) {
      const std::uint64_t end = std::min((at / sector + 1) * sector, operation.offset + operation.bytes.size());
      if (chance()) write_into(content, at, std::string_view(operation.bytes).substr(at - operation.offset, end - at));
      at = end;
    }
  }

  std::mt19937 random_;
};

}  // namespace

TEST_CASE_FIXTURE(Fixture, "a loss of power loses nothing that was committed and flushed") {
  for (Case one : cases()) {
    for (const bool flush : {true, false}) {
      one.options.flush = flush;
      CAPTURE(one.name);
      CAPTURE(flush);
      const std::vector<DiskOperation> operations = record(one);
      if (world.rank() != 0) continue;
      const Scratch scratch;
      Directory directory(scratch.path + "/data");
      Power power(7);
      for (std::size_t n = 0; n <= operations.size(); ++n) {
        for (int again = 0; again < 6; ++again) {
          CAPTURE(n);
          check(directory, power.lost(operations, n), told(operations, n), one.options.keep, flush);
        }
      }
    }
  }
}
