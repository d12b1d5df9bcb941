// Drawing of pictures by processes. Shells replace the interpreter; files record their actions.
// A script draws one picture, $image. It prints nothing more if it has failed.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "storage/charts/drawing.hpp"
#include "support/scratch.hpp"

namespace sidestream {
namespace {

namespace fs = std::filesystem;
using std::chrono::steady_clock;

std::string contents(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t found = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

/// Redirects standard error to a file during its lifetime.
class Said {
 public:
  explicit Said(const fs::path& path) : path_(path), before_(dup(2)) {
    const int file = open(path.c_str(), O_CREAT | O_WRONLY | O_APPEND, 0600);
    dup2(file, 2);
    close(file);
  }
  ~Said() {
    dup2(before_, 2);
    close(before_);
  }
  Said(const Said&) = delete;
  Said& operator=(const Said&) = delete;
  [[nodiscard]] std::string text() const { return contents(path_); }

 private:
  fs::path path_;
  int before_;
};

struct Drawn {
  testing::Scratch folder;
  std::vector<std::string> done{};

  /// Runs `script` for each picture, whose name is $image.
  [[nodiscard]] std::unique_ptr<ChartDrawing> drawing(const std::string& script, double limit = 30) const {
    const std::string each = "cd " + folder.path +
                             "; echo process >> processes; for image; do [ $image = --next ] || { " + script +
                             "; printf '\\037drawn\\n'; }; done";
    return std::make_unique<ChartDrawing>("sh", std::vector<std::string>{"-c", each, "sh"},
                                          std::chrono::duration<double>(limit));
  }
  void draw(ChartDrawing& drawing, const std::string& image) {
    drawing.draw(image, {image}, [this, image] { done.push_back(image); });
  }
};

}  // namespace

TEST_CASE("pictures are listed in the order of requests, and two are drawn at a time") {
  Drawn all;
  // Each script records how many run at the same time; the first one takes longest.
  auto drawing =
      all.drawing("touch run-$1; ls run-* | wc -l >> most; [ $1 = 0 ] && sleep 0.5; sleep 0.1; rm run-$1; touch $1");
  const std::vector<std::string> names{"0", "1", "2", "3", "4", "5"};
  const auto begin = steady_clock::now();
  for (const std::string& name : names) all.draw(*drawing, name);
  // Nothing has waited, not even for the first chart.
  CHECK(steady_clock::now() - begin < std::chrono::milliseconds(400));
  CHECK(all.done.empty());
  drawing.reset();
  CHECK(all.done == names);
  const std::string most = contents(fs::path(all.folder.path) / "most");
  CHECK(count(most, "2") >= 2);
  // One process got all pictures that waited while the first two were drawn.
  CHECK(count(contents(fs::path(all.folder.path) / "processes"), "\n") <= 4);
  CHECK(most.find_first_of("3456789") == std::string::npos);
}

TEST_CASE("a picture that fails is named with its reason, once for each reason") {
  Drawn all;
  const fs::path file = fs::path(all.folder.path) / "said";
  {
    const Said said(file);
    auto drawing = all.drawing(
        "case $image in bad*) echo first; echo 'sidestream: there is no column' >&2; printf '\\037failed\\n'; continue;; "
        "killed) kill -9 $$;; worse) exit 3;; esac");
    for (const char* name : {"a", "bad-1", "bad-2", "killed", "bad-3", "worse", "b"}) all.draw(*drawing, name);
    drawing.reset();
  }
  const std::string said = contents(file);
  CHECK(all.done == std::vector<std::string>{"a", "b"});
  CHECK(count(said, "there is no column") == 1);
  CHECK(count(said, "the chart 'bad-") == 1);  // two are drawn at a time, so any of them may fail first
  CHECK(count(said, "' was not drawn: there is no column") == 1);
  CHECK(count(said, "the chart 'killed' was not drawn: its process was ended by SIGKILL") == 1);
  CHECK(count(said, "the chart 'worse' was not drawn: its process exited with status 3") == 1);
  CHECK(count(said, "2 more charts were not drawn, for the same reasons") == 1);
}

TEST_CASE("where nothing can be drawn, it is said once what to install, and no more is tried") {
  for (const bool no_program : {false, true}) {
    Drawn all;
    const fs::path file = fs::path(all.folder.path) / "said";
    {
      const Said said(file);
      const std::string script =
          "sleep 0.2; echo $image >> tried; echo 'sidestream: plot: matplotlib is not installed' >&2; exit 1";
      std::unique_ptr<ChartDrawing> drawing = all.drawing(script);
      if (no_program) {
        drawing = std::make_unique<ChartDrawing>("/nowhere/python", std::vector<std::string>{},
                                                 std::chrono::duration<double>(30));
      }
      for (int n = 0; n < 20; ++n) all.draw(*drawing, std::to_string(n));
      drawing.reset();
    }
    const std::string said = contents(file);
    CHECK(all.done.empty());
    CHECK(count(said, "SIDESTREAM_PYTHON") == 1);
    CHECK(count(said, no_program ? "/nowhere/python" : "matplotlib is not installed") == 1);
    CHECK(count(said, "19 more charts were not drawn") == 1);
    CHECK(count(contents(fs::path(all.folder.path) / "tried"), "\n") <= 2);
  }
}

TEST_CASE("the end does not wait for ever") {
  Drawn all;
  const fs::path file = fs::path(all.folder.path) / "said";
  const auto begin = steady_clock::now();
  {
    const Said said(file);
    auto drawing = all.drawing("[ $image = slow ] && sleep 100; touch $image", 0.5);
    all.draw(*drawing, "slow");
    all.draw(*drawing, "quick");
    drawing.reset();
  }
  CHECK(steady_clock::now() - begin < std::chrono::seconds(30));
  CHECK(count(contents(file), "the chart 'slow' was not drawn within 0.5 s of the end") == 1);
  CHECK(fs::exists(fs::path(all.folder.path) / "quick"));
}

TEST_CASE("the process is no rank of the job, and gets no input") {
  Drawn all;
  setenv("OMPI_COMM_WORLD_RANK", "3", 1);
  setenv("PMIX_RANK", "3", 1);
  auto drawing = all.drawing("env > environment; cat > input; touch $image");
  all.draw(*drawing, "a");
  drawing.reset();
  unsetenv("OMPI_COMM_WORLD_RANK");
  unsetenv("PMIX_RANK");
  const std::string environment = contents(fs::path(all.folder.path) / "environment");
  CHECK(environment.find("OMPI_COMM_WORLD") == std::string::npos);
  CHECK(environment.find("PMIX_RANK") == std::string::npos);
  CHECK(environment.find("MPLBACKEND=agg") != std::string::npos);
  CHECK(environment.find("OMP_NUM_THREADS=1\n") != std::string::npos);
  CHECK(contents(fs::path(all.folder.path) / "input").empty());  // standard input ends at once
}

}  // namespace sidestream
