// Pictures of tables, which processes in Python draw beside the server.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/child_process.hpp"

namespace sidestream {

/// Draws pictures in two processes at a time. A process gets all pictures that wait then, some at most, since starting
/// one takes longer than a picture: their arguments with `--next` between, and it prints a line for each that it has
/// done. Nothing waits for pictures but the end of this object. A picture that could not be drawn is a warning with its
/// reason; of one reason there is one.
class ChartDrawing {
 public:
  using Done = std::function<void()>;

  /// `program` and the first arguments of all pictures. `limit`: how long the end waits. Processes get the environment
  /// that this one has now.
  ChartDrawing(std::string program, std::vector<std::string> first, std::chrono::duration<double> limit);
  /// Waits until all are drawn, at most for the limit, and names those that are not.
  ~ChartDrawing();
  ChartDrawing(const ChartDrawing&) = delete;
  ChartDrawing& operator=(const ChartDrawing&) = delete;

  /// Starts drawing `image`, or has it wait behind others. `done` is called when it is there, in the order of calls.
  void draw(std::string image, std::vector<std::string> arguments, Done done);
  /// Looks for what has ended and starts what waits. Does not wait itself.
  void look();

 private:
  struct Picture {
    std::string image;
    std::vector<std::string> arguments;
    Done done;
    bool started = false, ended = false, drawn = false;
  };
  struct Job {
    std::unique_ptr<ChildProcess> process;
    std::deque<Picture*> pictures;  ///< that it has not done
    std::string output{};           ///< that is not a whole line
    std::string said{};             ///< the last line that says something of the picture at hand
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
  std::deque<Picture> pictures_;  ///< in the order in which they were asked for
  std::vector<Job> jobs_;
  std::set<std::string> said_;  ///< reasons
  std::int64_t unsaid_ = 0;     ///< pictures that were not drawn and not named
  bool useless_ = false;        ///< no picture can be drawn here
};

/// Draws with this library's Python package.
[[nodiscard]] std::unique_ptr<ChartDrawing> make_chart_drawing();

}  // namespace sidestream
