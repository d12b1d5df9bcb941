// Code that simulations for the system tests share: PROGRAM FILE [NAME=VALUE]...
#pragma once

#include <cstdio>
#include <cstdlib>
#include <map>
#include <sidestream/sidestream.hpp>
#include <string>

#include "in_turn.h"

struct Options {
  Options(int argc, char** argv) {
    for (int a = 1; a < argc; ++a) {
      const std::string word = argv[a];
      const auto equal = word.find('=');
      if (equal == std::string::npos) {
        configuration = word;
      } else {
        values[word.substr(0, equal)] = word.substr(equal + 1);
      }
    }
  }
  [[nodiscard]] long number(const std::string& name, long otherwise) const {
    const auto found = values.find(name);
    return found == values.end() ? otherwise : std::atol(found->second.c_str());
  }
  [[nodiscard]] std::string text(const std::string& name) const {
    const auto found = values.find(name);
    return found == values.end() ? std::string() : found->second;
  }

  std::string configuration;
  std::map<std::string, std::string> values;
};

/// Opens the session on the communicator, calls `prepare` on every rank, and serves or runs. Returns the exit status, 1
/// if it has printed an error.
template <class Prepare, class Run>
int run_session(const Options& options, MPI_Comm comm, Prepare prepare, Run run) {
  const auto failed = [](const sidestream::Error& e) {
    std::printf("error %d: %s\n", static_cast<int>(e.code()), e.what());
    return 1;
  };
  try {
    sidestream::Session session = sidestream::Session::open(comm, options.configuration);
    prepare(session);
    try {
      if (!session.is_server()) {
        run(session, options);
        return 0;
      }
      session.serve();
      session.close();
    } catch (const sidestream::Error& e) {
      return failed(e);
    }
  } catch (const sidestream::Error& e) {
    return failed(e);
  }
  return 0;
}
