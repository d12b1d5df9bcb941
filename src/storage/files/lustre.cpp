// Calls liblustreapi where the machine has it, without needing it to build.
#include "storage/files/lustre.hpp"

#include <dlfcn.h>

#include <cerrno>
#include <cstdlib>

namespace sidestream {

namespace {

/// int llapi_file_create(name, stripe_size, stripe_offset, stripe_count, stripe_pattern): 0 or a negative error number.
using CreateFile = int (*)(const char*, unsigned long long, int, int, int);

class Lustre final : public StripingBackEnd {
 public:
  explicit Lustre(CreateFile function) noexcept : create_(function) {}

  int create(const std::string& path, const StripeRule& rule) const override {
    constexpr int any_target = -1, plain = 0;
    return std::abs(create_(path.c_str(), rule.size, any_target, rule.count, plain));
  }

 private:
  CreateFile create_;
};

}  // namespace

std::unique_ptr<StripingBackEnd> find_lustre() {
  // The library stays loaded: other sessions of the process may use it.
  for (const char* name : {"liblustreapi.so.1", "liblustreapi.so"}) {
    void* const library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) continue;
    const auto create = reinterpret_cast<CreateFile>(dlsym(library, "llapi_file_create"));
    if (create != nullptr) return std::make_unique<Lustre>(create);
  }
  return nullptr;
}

}  // namespace sidestream
