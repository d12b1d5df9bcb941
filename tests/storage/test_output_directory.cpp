// Output directories, temporary files, and their errors.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fstream>

#include "sidestream/kit/storage/files/output_file.hpp"
#include "storage/formats/csv.hpp"
#include "storage/results/result_store.hpp"
#include "storage/support/sample.hpp"
#include "storage/writers/kinds.hpp"
#include "support/message_of.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

/// The paths for which fsync was called, in order.
std::vector<std::string> flushed;

}  // namespace

/// Replaces the C library's fsync, to note what is flushed.
extern "C" int fsync(int descriptor) {
  flushed.push_back(std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(descriptor)).string());
  return static_cast<int>(::syscall(SYS_fsync, descriptor));
}

namespace {

struct Fixture {
  MpiCommunicator self{MPI_COMM_SELF};
  SharedDirectory directory{self};
};

/// Mounts a file system of `size` bytes in memory on `path`, if this process may do that.
class SmallDisk {
 public:
  SmallDisk(const std::string& path, const char* size) : path_(path) {
    std::filesystem::create_directories(path_);
    mounted_ = ::mount("tmpfs", path_.c_str(), "tmpfs", 0, (std::string("size=") + size).c_str()) == 0;
  }
  ~SmallDisk() {
    if (mounted_) ::umount2(path_.c_str(), MNT_DETACH);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  [[nodiscard]] bool mounted() const { return mounted_; }

 private:
  std::string path_;
  bool mounted_ = false;
};

/// The message of the error, as message_of gives it. The code must be this one.
std::string failure_of(const std::function<void()>& action, Code code = Code::file) {
  try {
    action();
  } catch (const Error& error) {
    CHECK(error.code() == code);
    return error.what();
  }
  return "nothing was thrown";
}

}  // namespace

TEST_CASE_FIXTURE(Fixture, "a file gets its name when it is complete") {
  const auto output = open_output_directory(directory / "a/b", "text");
  CHECK(output->provenance() == "text");
  const std::string path = output->path("c-{index:03}/{server}.dat", {7, 0, 0}, 2);
  CHECK(path == directory / "a/b/c-007/2.dat");
  const std::string temporary = output->temporary(path);
  CHECK(std::filesystem::path(temporary).parent_path() == std::filesystem::path(path).parent_path());
  CHECK(std::filesystem::path(temporary).filename().string().front() == '.');
  std::ofstream(temporary) << "new";
  std::ofstream(path) << "old";
  CHECK(read_file(path) == "old");
  output->commit(path);
  CHECK(read_file(path) == "new");
  std::ofstream(output->temporary(path)) << "never";
  output->discard(path);
  output->discard(path);
  CHECK(files_under(directory.path()) == std::vector<std::string>{"a/b/c-007/2.dat"});
}

TEST_CASE_FIXTURE(Fixture,
                  "a file waits for the disk before it has its name, and its name after, unless that is not wanted") {
  const std::string root = std::filesystem::canonical(directory.path()).string();
  for (const bool wanted : {true, false}) {
    const auto output = open_output_directory(root, "", Continuation::nothing, wanted);
    const std::string path = output->path(wanted ? "safe.dat" : "fast.dat", {}, 0), temporary = output->temporary(path);
    std::ofstream(temporary) << "text";
    flushed.clear();
    output->commit(path);
    CHECK(flushed == (wanted ? std::vector<std::string>{temporary, root} : std::vector<std::string>{}));
    CHECK(read_file(path) == "text");
  }
}

TEST_CASE_FIXTURE(Fixture, "places that cannot be written to are named with the reason") {
  std::ofstream(directory / "file") << "";
  CHECK(contains(failure_of([&] { (void)open_output_directory(directory / "file/below", ""); }), "Not a directory"));
  CHECK(contains(failure_of([&] { (void)open_output_directory("/proc/sidestream-test", ""); }),
                 "cannot make the directory '/proc/sidestream-test'"));
  const auto output = open_output_directory(directory.path(), "");
  CHECK(contains(failure_of([&] { output->commit(directory / "absent"); }), "No such file or directory"));
  std::filesystem::create_directory(directory / "taken");
  std::ofstream(output->temporary(directory / "taken")) << "x";
  CHECK(contains(failure_of([&] { output->commit(directory / "taken"); }), "Is a directory"));
  CHECK(contains(failure_of([&] { OutputFile blocked(directory / "taken"); }), "Is a directory"));
  CHECK(contains(failure_of([&] { (void)output->path("{step}", {}, 0); }, Code::configuration), "{step}"));
}

TEST_CASE_FIXTURE(Fixture, "a directory of somebody else is refused when it is opened") {
  if (::geteuid() == 0) {
    // A full disk, because root may write everywhere else.
    const SmallDisk disk(directory / "disk", "1m");
    if (!disk.mounted()) {
      MESSAGE("NOT TESTED: this process may not mount a read-only directory");
      return;
    }
    REQUIRE(::mount(nullptr, (directory / "disk").c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr) == 0);
    CHECK(contains(failure_of([&] { (void)open_output_directory(directory / "disk", ""); }), "Read-only file system"));
    return;
  }
  std::filesystem::create_directory(directory / "closed");
  std::filesystem::permissions(directory / "closed", std::filesystem::perms::owner_read);
  CHECK(contains(failure_of([&] { (void)open_output_directory(directory / "closed", ""); }), "Permission denied"));
}

TEST_CASE_FIXTURE(Fixture, "parts of a file are patched and large texts pass through") {
  const std::string large(3u << 20, 'x');
  {
    OutputFile file(directory / "f");
    file.write("0123456789");
    file.write(large);
    CHECK(file.position() == 10 + large.size());
    file.write("end");
    file.patch(8, "AB");
    file.write("!");
    file.close();
  }
  CHECK(read_file(directory / "f") == "01234567AB" + large + "end!");
}

TEST_CASE_FIXTURE(Fixture, "a full disk is an error, and what was there stays readable") {
  const SmallDisk disk(directory / "disk", "256k");
  if (!disk.mounted()) {
    MESSAGE("NOT TESTED: this process may not mount a small file system (it needs root)");
    return;
  }
  const auto output = open_output_directory(directory / "disk", "test");
  Registry registry;
  registry.add(csv_format());
  const auto store = std::make_unique<ResultStore>(registry, output, 0);
  store->begin({})->add("t.csv", {{"text"}, {{std::string("small")}}});
  const std::string before = read_file(directory / "disk/t.csv");
  std::ofstream(directory / "disk/filler") << std::string(200u << 10, 'x');
  const std::string large(100u << 10, 'y');
  const std::string table = failure_of([&] { store->begin({1, 1, 1})->add("t.csv", {{"text"}, {{large}}}); });
  CHECK(contains(table, "No space left on device; free space"));
  CHECK(contains(table, "disk/t.csv"));
  CHECK(read_file(directory / "disk/t.csv") == before);

  Sample sample;
  sample.box_blocks = {{{2, -1, 3}, {15, 6, 8}}};
  for (const WriterKind& kind : {hdf5_writer(), vtk_writer()}) {
    // 455 cells of 104 bytes each do not fit into the room that 200 kB of filler leave, after a few iterations.
    const auto writer = kind.create(writer_settings(kind, "{}", sample.metadata), sample.metadata, output);
    std::string failure = "nothing was thrown";
    for (int index = 0; index < 20 && failure == "nothing was thrown"; ++index) {
      failure = failure_of([&] { write_iteration(*writer, sample, {index, index, 0}, self); });
    }
    CHECK_MESSAGE(contains(failure, "No space left on device; free space"), failure);
    for (const std::string& name : files_under(directory / "disk")) CHECK_MESSAGE(!contains(name, ".part"), name);
  }
}
