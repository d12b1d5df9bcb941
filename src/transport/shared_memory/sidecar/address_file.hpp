// Fallback address of a simulation whose name is held by another user, since names of sockets belong to whoever takes
// them first. The simulation then listens under a random name and records it in a file of this user.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace sidestream::shared_memory {

/// Directories for such a file to which nobody else can write: $XDG_RUNTIME_DIR, and `.sidestream` in $HOME, which is
/// created. Several nodes may share it, since file names contain the node's name. Directories of another user, or that
/// others may write to, are left out; the result may be empty.
[[nodiscard]] std::vector<std::string> address_directories();

/// The file; the destructor removes it.
class AddressFile {
 public:
  /// Records that the session `name` listens at `address`. Throws Error(usage) if there is no directory for it.
  AddressFile(const std::string& name, const std::string& address);
  ~AddressFile();
  AddressFile(const AddressFile&) = delete;
  AddressFile& operator=(const AddressFile&) = delete;

 private:
  std::vector<std::string> files_;
};

/// Address that this user's simulation recorded for `name` on this node, if any. The simulation may have died since.
[[nodiscard]] std::optional<std::string> recorded_address(const std::string& name);

}  // namespace sidestream::shared_memory
