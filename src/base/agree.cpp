#include "base/agree.hpp"

#include <cstring>
#include <new>
#include <string>

namespace sidestream {

void together(Communicator& members, const std::function<void()>& work) {
  std::string message;
  std::int64_t code = 0;
  try {
    work();
  } catch (const Error& e) {
    message = e.what();
    code = static_cast<std::int64_t>(e.code());
  } catch (const std::bad_alloc&) {
    message = "out of memory";
    code = static_cast<std::int64_t>(Code::system);
  } catch (const std::exception& e) {
    message = e.what();
    code = static_cast<std::int64_t>(Code::internal);
  } catch (...) {  // a plug-in may throw anything
    message = "an exception that is not a std::exception";
    code = static_cast<std::int64_t>(Code::internal);
  }
  if (members.size() == 1) {
    if (code != 0) throw Error(static_cast<Code>(code), message);
    return;
  }
  std::int64_t failing = code == 0 ? members.size() : members.rank();
  members.minimum(std::span(&failing, 1));
  if (failing == members.size()) return;
  Bytes bytes(sizeof code + message.size());
  std::memcpy(bytes.data(), &code, sizeof code);
  std::memcpy(bytes.data() + sizeof code, message.data(), message.size());
  members.broadcast(bytes, static_cast<int>(failing));
  std::memcpy(&code, bytes.data(), sizeof code);
  throw Error(static_cast<Code>(code),
              std::string(reinterpret_cast<const char*>(bytes.data()) + sizeof code, bytes.size() - sizeof code));
}

}  // namespace sidestream
