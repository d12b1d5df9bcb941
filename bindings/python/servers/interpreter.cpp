#include "interpreter.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "reference.hpp"

namespace sidestream::python {

namespace {

bool is_ours = false;  // for the life of the process, like the interpreter

bool can_run(const std::string& path) { return !path.empty() && access(path.c_str(), X_OK) == 0; }

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

/// Path of the interpreter whose packages are to be used; empty: Python's default.
std::string executable() {
  const std::string chosen = variable("SIDESTREAM_PYTHON");
  if (!chosen.empty()) {
    if (can_run(chosen)) return chosen;
    throw Error(Code::system, "SIDESTREAM_PYTHON is '" + chosen +
                                  "', which is no program that can be run; name a Python interpreter");
  }
  const std::string environment = variable("VIRTUAL_ENV");
  if (!environment.empty() && can_run(environment + "/bin/python")) return environment + "/bin/python";
  return can_run(SIDESTREAM_PYTHON_EXECUTABLE) ? SIDESTREAM_PYTHON_EXECUTABLE : "";
}

/// Makes the Python library's symbols global. Modules such as NumPy's rely on finding the interpreter's functions among
/// global symbols, and this library, with its dependencies, is loaded locally.
void make_global() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(&Py_InitializeFromConfig), &info) == 0 || !info.dli_fname) return;
  static_cast<void>(dlopen(info.dli_fname, RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD));
}

void check(const PyStatus& status, const std::string& program) {
  if (!PyStatus_Exception(status)) return;
  throw Error(Code::system, "Python " PY_VERSION " cannot be started as '" + program + "' (" +
                                (status.err_msg ? status.err_msg : "no reason given") +
                                "); name an interpreter of this version in SIDESTREAM_PYTHON");
}

/// Starts an interpreter; the program keeps its signals, its locale and its arguments.
void start(const std::string& program) {
  PyPreConfig before;
  PyPreConfig_InitPythonConfig(&before);
  before.configure_locale = 0;
  before.coerce_c_locale = 0;
  before.utf8_mode = 1;
  before.parse_argv = 0;
  check(Py_PreInitialize(&before), program);
  PyConfig config;
  PyConfig_InitPythonConfig(&config);
  config.install_signal_handlers = 0;
  config.parse_argv = 0;
  config.buffered_stdio = 0;  // nothing would flush it at the end
  PyStatus status = PyStatus_Ok();
  if (!program.empty()) {
    status = PyConfig_SetBytesString(&config, &config.program_name, program.c_str());
    if (!PyStatus_Exception(status)) {
      status = PyConfig_SetBytesString(&config, &config.executable, program.c_str());
    }
  }
  if (!PyStatus_Exception(status)) status = Py_InitializeFromConfig(&config);
  PyConfig_Clear(&config);
  check(status, program);
}

void check_version() {
  const std::string built = std::to_string(PY_MAJOR_VERSION) + "." + std::to_string(PY_MINOR_VERSION);
  const std::string running = Py_GetVersion();
  if (running.compare(0, built.size() + 1, built + ".") == 0) return;
  throw Error(Code::system, "the program runs in Python " + running.substr(0, running.find(' ')) +
                                ", but analyses in Python were built for " + built +
                                "; build Sidestream with the program's interpreter (SIDESTREAM_PYTHON)");
}

}  // namespace

void ensure_interpreter() {
  check_version();
  if (Py_IsInitialized()) return;
  make_global();
  start(executable());
  is_ours = true;
  static_cast<void>(PyEval_SaveThread());
}

bool started_here() noexcept { return is_ours; }

}  // namespace sidestream::python
