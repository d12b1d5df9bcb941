// Where servers find the simulation if the name that both know is held by another user: names of sockets belong to
// whoever takes them first. The simulation then listens under a random name and records it in a file of this user's.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace sidestream::shared_memory {

/// The directories that nobody else can write to and where such a file may be: $XDG_RUNTIME_DIR, and `.sidestream` in
/// $HOME, which is made (several nodes may share it: the files carry the node's name). Those that are not this user's
/// own, or that others may write to, are left out; empty if there is none.
[[nodiscard]] std::vector<std::string> address_directories();

/// The file, removed by the destructor.
class AddressFile {
 public:
  /// Records that what is known as `name` listens at `address`. Throws Error(usage) if there is no directory for it.
  AddressFile(const std::string& name, const std::string& address);
  ~AddressFile();
  AddressFile(const AddressFile&) = delete;
  AddressFile& operator=(const AddressFile&) = delete;

 private:
  std::vector<std::string> files_;
};

/// What this user's simulation recorded for `name` on this node; nothing if none did. It may have died since.
[[nodiscard]] std::optional<std::string> recorded_address(const std::string& name);

}  // namespace sidestream::shared_memory
