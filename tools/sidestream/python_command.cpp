#include "python_command.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "base/paths.hpp"
#include "base/text.hpp"
#include "sidestream/kit/base/fail.hpp"

namespace sidestream {

void become_python(const std::string& command, const std::vector<std::string>& arguments, const std::string& packages) {
  const std::string python = python_interpreter(), path = python_path();
  if (!path.empty()) ::setenv("PYTHONPATH", path.c_str(), 1);
  std::vector<std::string> words{python, "-m", "sidestream", command};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  ::execvp(python.c_str(), pointers.data());
  fail(Code::system,
       "{}: it is written in Python, and '{}' cannot be run ({}); name an interpreter with {} in SIDESTREAM_PYTHON",
       command, python, system_text(errno), packages);
}

}  // namespace sidestream
