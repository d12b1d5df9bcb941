// Charts that a Python process draws while the run continues.
//
// 1. draw queues a picture. poll starts a process for up to 32 waiting pictures, at most two processes at a time.
// 2. read: a process prints a line for each picture that it finished or failed; what else it prints is the reason.
// 3. A process that ends early is blamed on its current picture; the others are tried again. Missing packages end all
//    drawing.
// 4. Pictures are reported in their order. The destructor waits for the rest, within a limit.
// Nothing here fails a run: reasons are logged once each, further pictures counted.
#include "storage/charts/drawing.hpp"

#include <unistd.h>

#include <array>
#include <utility>

#include "base/paths.hpp"
#include "sidestream/error.hpp"
#include "sidestream/kit/base/log.hpp"
#include "sidestream/kit/base/waiting.hpp"

namespace sidestream {

namespace {

constexpr std::size_t most_at_once = 2, most_of_one = 32, longest_line = 4000;
constexpr std::chrono::seconds end_limit{120};
/// The line that a process prints for a finished picture. No other output begins like it.
constexpr const char *drawn_line =
                         "\x1f"
                         "drawn",
                     *failed_line =
                         "\x1f"
                         "failed";

constexpr const char* what_to_install =
    "charts are drawn by Python with NumPy, h5py and matplotlib: install them (pip install matplotlib h5py), or name an "
    "interpreter that has them in SIDESTREAM_PYTHON; `sidestream plot` draws the tables later";

std::vector<std::string> environment() {
  std::vector<std::string> entries = environment_of_child();
  const auto set = [&](const std::string& name, const std::string& value) {
    std::erase_if(entries, [&](const std::string& entry) { return entry.rfind(name + "=", 0) == 0; });
    if (!value.empty()) entries.push_back(name + "=" + value);
  };
  set("PYTHONPATH", python_path());
  set("MPLBACKEND", "agg");
  // NumPy's threads would take cores from the simulation.
  for (const char* name : {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"}) set(name, "1");
  return entries;
}

/// True if packages are missing, so that no other picture can be drawn either.
bool lacks_packages(const std::string& line) {
  return line.find("is not installed") != std::string::npos || line.find("No module named") != std::string::npos;
}

}  // namespace

ChartDrawing::ChartDrawing(std::string program, std::vector<std::string> first, std::chrono::duration<double> limit)
    : program_(std::move(program)), first_(std::move(first)), environment_(environment()), limit_(limit) {}

void ChartDrawing::draw(std::string image, std::vector<std::string> arguments, Done done) {
  pictures_.push_back({std::move(image), std::move(arguments), std::move(done)});
  poll();
}

/// Starts a process for the waiting pictures.
void ChartDrawing::start() {
  Job job;
  std::vector<std::string> arguments = first_;
  for (Picture& picture : pictures_) {
    if (picture.started || picture.ended || job.pictures.size() == most_of_one) continue;
    if (!job.pictures.empty()) arguments.emplace_back("--next");
    arguments.insert(arguments.end(), picture.arguments.begin(), picture.arguments.end());
    picture.started = true;
    job.pictures.push_back(&picture);
  }
  if (job.pictures.empty()) return;
  try {
    job.process = std::make_unique<ChildProcess>(program_, arguments, environment_, -1);
    jobs_.push_back(std::move(job));
  } catch (const Error& error) {
    for (Picture* picture : job.pictures) {
      refuse(*picture, std::string(error.what()) + "; " + what_to_install, true);
    }
  }
}

void ChartDrawing::read(Job& job) {
  std::array<char, 4096> piece{};
  for (;;) {
    const ssize_t count = ::read(job.process->output(), piece.data(), piece.size());
    if (count <= 0) return;
    job.output.append(piece.data(), static_cast<std::size_t>(count));
    for (std::size_t end; (end = job.output.find('\n')) != std::string::npos; job.output.erase(0, end + 1)) {
      take(job, job.output.substr(0, end));
    }
    if (job.output.size() > longest_line) job.output.erase(0, job.output.size() - longest_line);
  }
}

/// Handles a line that a process has printed.
void ChartDrawing::take(Job& job, const std::string& line) {
  if (job.pictures.empty() || (line != drawn_line && line != failed_line)) {
    const std::string who = "sidestream: ";
    if (!line.empty()) job.last_line = line.rfind(who, 0) == 0 ? line.substr(who.size()) : line;
    return;
  }
  Picture& picture = *job.pictures.front();
  job.pictures.pop_front();
  if (line == failed_line) {
    const bool lacking = lacks_packages(job.last_line);
    refuse(picture, lacking ? job.last_line + "; " + what_to_install : job.last_line, lacking);
  } else {
    picture.ended = picture.drawn = true;
    if (!job.last_line.empty() && logged_.insert(job.last_line).second) log::info("{}", job.last_line);
  }
  job.last_line.clear();
}

/// Blames the current picture, if there is one. The other pictures are tried again.
void ChartDrawing::end(Job& job, const std::string& how) {
  read(job);
  take(job, std::exchange(job.output, {}));
  if (job.pictures.empty()) return;
  const bool lacking = lacks_packages(job.last_line);
  refuse(*job.pictures.front(),
         lacking                 ? job.last_line + "; " + what_to_install
         : job.last_line.empty() ? "its process " + how
                                 : job.last_line,
         lacking);
  for (Picture* picture : job.pictures) picture->started = false;
}

void ChartDrawing::refuse(Picture& picture, const std::string& reason, bool all) {
  picture.ended = true;
  useless_ = useless_ || all;
  say(picture.image, reason);
}

void ChartDrawing::say(const std::string& image, const std::string& reason) {
  if (logged_.insert(reason).second) {
    log::warning("the chart '{}' was not drawn: {}", image, reason);
  } else {
    ++unlogged_;
  }
}

void ChartDrawing::poll() {
  for (Job& job : jobs_) {
    read(job);
    if (const auto how = job.process->ended()) {
      end(job, *how);
      job.process.reset();
    }
  }
  std::erase_if(jobs_, [](const Job& job) { return !job.process; });
  if (!useless_ && jobs_.size() < most_at_once) start();
  for (Picture& picture : pictures_) {
    if (!useless_ || picture.started || picture.ended) continue;
    picture.ended = true;
    ++unlogged_;
  }
  while (!pictures_.empty() && pictures_.front().ended) {
    const Picture first = std::move(pictures_.front());
    pictures_.pop_front();
    if (first.drawn && first.done) first.done();
  }
}

ChartDrawing::~ChartDrawing() {
  try {
    const auto until = std::chrono::steady_clock::now() + limit_;
    poll();
    for (Backoff backoff(std::chrono::milliseconds(1), std::chrono::milliseconds(20));
         !pictures_.empty() && std::chrono::steady_clock::now() < until; poll()) {
      backoff.pause();
    }
    for (const Picture& picture : pictures_) {
      log::warning("the chart '{}' was not drawn within {:g} s of the end; `sidestream plot` draws its table",
                   picture.image, limit_.count());
    }
    if (unlogged_ > 0) log::warning("{} more charts were not drawn, for the same reasons", unlogged_);
  } catch (const std::exception& error) {
    log::warning("charts were not drawn: {}", error.what());
  }
}

std::unique_ptr<ChartDrawing> make_chart_drawing() {
  return std::make_unique<ChartDrawing>(
      python_interpreter(), std::vector<std::string>{"-m", "sidestream", "plot", "--beside-a-run"}, end_limit);
}

}  // namespace sidestream
