// An analysis that misbehaves in all ways that a process can: `misbehave: {variable: t, how: crash, at: 1}`. With
// `hold` its first process waits at the start until such a file exists.
#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <sidestream/extend/plugin.hpp>
#include <string>
#include <thread>
#include <vector>

namespace {

using sidestream::Bytes;

/// Counts the points of its variable that are above 0. In one iteration it misbehaves, on the server that has block 0.
class Misbehave final : public sidestream::Task {
 public:
  Misbehave(const sidestream::Settings& settings, const sidestream::Metadata& metadata)
      : how_(settings.text("how")),
        file_(settings.text("file")),
        at_(settings.integer("at")),
        variable_(metadata.find_variable(settings.text("variable"))->id) {}
  [[nodiscard]] sidestream::Selection selection() const override {
    return sidestream::Selection({sidestream::Selected(variable_)});
  }
  [[nodiscard]] Bytes local(const sidestream::LocalInput& input) override {
    bool mine = false;
    std::int64_t above = 0;
    for (const sidestream::BlockView& view : input.of(variable_)) {
      mine |= view.block.id == 0;
      for (const sidestream::Box& box : view.counted()) above += count(view, box);
    }
    if (mine && input.iteration.index == at_) go_wrong(input);
    Bytes partial(sizeof above);
    std::memcpy(partial.data(), &above, sizeof above);
    return partial;
  }
  Bytes combine(const sidestream::CombineInput& input) override {
    std::int64_t above = 0;
    for (const Bytes& partial : input.partials) {
      std::int64_t one = 0;
      std::memcpy(&one, partial.data(), sizeof one);
      above += one;
    }
    input.communicator.sum(std::span(&above, 1));
    input.results.add(file_, sidestream::Table({"above"}, {{above}}));
    return {};
  }

 private:
  static std::int64_t count(const sidestream::BlockView& view, const sidestream::Box& box) {
    std::int64_t above = 0;
    std::vector<double> values(static_cast<std::size_t>(box.count()));
    copy_to_double(view.array, 0, box, values.data(), box);
    for (const double value : values) above += value > 0;
    return above;
  }

  void go_wrong(const sidestream::LocalInput& input) {
    std::fprintf(stderr, "about to %s in process %d\n", how_.c_str(), static_cast<int>(getpid()));
    if (how_ == "crash") {
      volatile std::uintptr_t nowhere = 8;  // an address that the compiler cannot know
      *reinterpret_cast<volatile int*>(nowhere) = 1;
    }
    if (how_ == "abort") std::abort();
    if (how_ == "exit") std::exit(0);
    if (how_ == "_exit") _exit(3);
    if (how_ == "kill") raise(SIGKILL);
    if (how_ == "loop") forever();
    if (how_ == "deaf") {
      std::signal(SIGABRT, SIG_IGN);
      forever();
    }
    if (how_ == "child") {  // leaves a child behind that has its socket and its pipe
      if (fork() == 0) forever();
      std::abort();
    }
    if (how_ == "leak") leak();
    if (how_ == "stack") static_cast<void>(deeper(1));
    if (how_ == "write") *const_cast<double*>(input.of(variable_).front().array.at<double>(0, 0, 0)) = 1e300;
    if (how_ == "throw") throw sidestream::Error(sidestream::Code::analysis, "planned failure");
    if (how_ == "odd") throw 42;
    if (how_ == "print") {
      for (int n = 0; n < 20'000; ++n) std::printf("line %d of many, more than fits in a pipe\n", n);
      std::abort();
    }
  }
  [[noreturn]] static void forever() {
    for (;;) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  static void leak() {
    for (std::vector<std::vector<char>> held;;) held.emplace_back(std::size_t{8} << 20, 'x');
  }
  static int deeper(int depth) {
    volatile char room[4096];
    room[0] = static_cast<char>(depth);
    return depth < 0 ? 0 : deeper(depth + 1) + room[0];
  }

  std::string how_, file_;
  std::int64_t at_;
  std::int32_t variable_;
};

/// Holds a worker. Servers also make the object, and go on.
void hold_worker(const std::string& file) {
  char name[32] = {};
  const int comm = open("/proc/self/comm", O_RDONLY);
  const bool read_it = read(comm, name, sizeof name - 1) > 0;
  close(comm);
  if (!read_it || std::strncmp(name, "sidestream-work", 15) != 0) return;
  const int made = open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0600);
  if (made < 0) return;  // an earlier worker has made it
  close(made);
  std::this_thread::sleep_for(std::chrono::minutes(2));
}

}  // namespace

SIDESTREAM_PLUGIN(registry) {
  using sidestream::OptionType;
  sidestream::AnalysisKind kind;
  kind.name = "misbehave";
  kind.text = "Goes wrong.";
  kind.options = {{.name = "variable", .type = OptionType::variable, .required = true},
                  {.name = "how", .default_value = "nothing"},
                  {.name = "at", .type = OptionType::integer, .default_value = "1"},
                  {.name = "hold", .default_value = ""},
                  {.name = "file", .type = OptionType::file, .default_value = "above.csv"}};
  kind.create = [](const sidestream::Settings& settings, const sidestream::Metadata& metadata) {
    if (!settings.text("hold").empty()) hold_worker(settings.text("hold"));
    return std::make_unique<Misbehave>(settings, metadata);
  };
  registry.add(std::move(kind));
}
