// Charts of tables, drawn by Python processes next to the server.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/process.hpp"

namespace sidestream {

/// Draws pictures in at most two processes at a time. Starting a process takes longer than drawing a picture, so a new
/// process gets all waiting pictures, up to a limit. Their arguments are separated by `--next`, and the process prints
/// a line for each finished picture. Only the destructor waits for pictures. A picture that could not be drawn becomes
/// a warning with its reason; each reason is logged once.
class ChartDrawing {
 public:
  using Done = std::function<void()>;

  /// `first`: arguments of `program` before the pictures' arguments. `limit`: longest wait of the destructor. Processes
  /// inherit the current environment of this process.
  ChartDrawing(std::string program, std::vector<std::string> first, std::chrono::duration<double> limit);
  /// Waits until all pictures are drawn, but not beyond the limit, and names the missing ones.
  ~ChartDrawing();
  ChartDrawing(const ChartDrawing&) = delete;
  ChartDrawing& operator=(const ChartDrawing&) = delete;

  /// Starts drawing `image`, or queues it. `done` is called once the image exists, in the order of calls.
  void draw(std::string image, std::vector<std::string> arguments, Done done);
  /// Handles processes that have ended and starts waiting pictures. Does not block.
  void poll();

 private:
  struct Picture {
    std::string image;
    std::vector<std::string> arguments;
    Done done;
    bool started = false, ended = false, drawn = false;
  };
  struct Job {
    std::unique_ptr<ChildProcess> process;
    std::deque<Picture*> pictures;  ///< not drawn yet
    std::string output{};           ///< the incomplete last line
    std::string last_line{};        ///< the last line with a message about the current picture
  };
  void start();
  void read(Job& job);
  void take(Job& job, const std::string& line);
  void end(Job& job, const std::string& how);
  void refuse(Picture& picture, const std::string& reason, bool all);
  void say(const std::string& image, const std::string& reason);

  std::string program_;
  std::vector<std::string> first_, environment_;
  std::chrono::duration<double> limit_;
  std::deque<Picture> pictures_;  ///< in the order of requests
  std::vector<Job> jobs_;
  std::set<std::string> logged_;  ///< reasons logged so far
  std::int64_t unlogged_ = 0;     ///< pictures that were neither drawn nor named
  bool useless_ = false;          ///< true if no picture can be drawn here
};

/// Creates a ChartDrawing that uses this library's Python package.
[[nodiscard]] std::unique_ptr<ChartDrawing> make_chart_drawing();

}  // namespace sidestream
