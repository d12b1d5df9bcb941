// The command line of the two test programs.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

/// A change of the nodes of one iteration on one rank: what a faulty host would send.
struct Edit {
  std::string path;
  std::string action;  ///< see `apply` in host.cpp
};

struct Options {
  std::string mesh = "uniform", channel = "grid", plugin, configuration;
  int steps = 3;
  int cycles = 10;  ///< from one iteration to the next
  bool ghosts = false;
  bool strided = false;     ///< fields lie interleaved in one array of the host
  bool other_rank = false;  ///< the last rank has no channel at all
  bool late = false;        ///< a second channel comes in the second iteration
  bool results = false;     ///< prints steered values after each iteration
  bool leave = false;       ///< does not call finalize
  bool threads = false;     ///< each execute comes from a thread of its own
  bool serialized = false;  ///< MPI allows that
  bool twins = false;       ///< two fields whose names differ by a character that names cannot have
  int begin = 0;            ///< the first iteration with channels
  /// A further field, whose memory cannot be read from iteration 8 on, but in multiples of this number; -1: none.
  int trap = -1;
  int edit_step = 0, edit_rank = 0;
  std::vector<Edit> edits;
};

inline Options options_of(int argc, char** argv) {
  Options o;
  for (int n = 1; n < argc; ++n) {
    const std::string word = argv[n];
    const auto next = [&] { return std::string(n + 1 < argc ? argv[++n] : ""); };
    if (word == "--mesh") {
      o.mesh = next();
    } else if (word == "--channel") {
      o.channel = next();
    } else if (word == "--plugin") {
      o.plugin = next();
    } else if (word == "--configuration") {
      o.configuration = next();
    } else if (word == "--steps") {
      o.steps = std::stoi(next());
    } else if (word == "--cycles") {
      o.cycles = std::stoi(next());
    } else if (word == "--begin") {
      o.begin = std::stoi(next());
    } else if (word == "--trap") {
      o.trap = std::stoi(next());
    } else if (word == "--edit-step") {
      o.edit_step = std::stoi(next());
    } else if (word == "--edit-rank") {
      o.edit_rank = std::stoi(next());
    } else if (word == "--edit") {
      const std::string edit = next();
      o.edits.push_back({edit.substr(0, edit.find('=')), edit.substr(edit.find('=') + 1)});
    } else if (word == "--ghosts") {
      o.ghosts = true;
    } else if (word == "--strided") {
      o.strided = true;
    } else if (word == "--other-rank") {
      o.other_rank = true;
    } else if (word == "--late") {
      o.late = true;
    } else if (word == "--results") {
      o.results = true;
    } else if (word == "--leave") {
      o.leave = true;
    } else if (word == "--twins") {
      o.twins = true;
    } else if (word == "--threads") {
      o.threads = true;
    } else if (word == "--serialized") {
      o.serialized = true;
    } else {
      throw std::invalid_argument("unknown option " + word);
    }
  }
  return o;
}
