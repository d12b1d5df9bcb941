#include "session/c/as_error.hpp"

#include <exception>
#include <new>

#include "sidestream/kit/base/fail.hpp"

namespace sidestream {

void rethrow_as_error(const char* call) {
  try {
    throw;
  } catch (const Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    fail(Code::system, "{}: the process is out of memory; give it more, or publish less at a time", call);
  } catch (const std::exception& e) {
    fail(Code::internal, "{}: {}", call, e.what());
  } catch (...) {
    fail(Code::internal, "{}: an exception that is not a std::exception", call);
  }
}

void fail_closed(const char* call) {
  fail(Code::usage, "{}: the session is closed, or was moved from; open another one", call);
}

}  // namespace sidestream
