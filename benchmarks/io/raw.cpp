// One file of raw values per rank, all at once: the limit of disk and kernel.
#include "plain_file.hpp"

namespace io {

namespace {

class Raw final : public Method {
 public:
  explicit Raw(std::string folder) : folder_(std::move(folder)) {}
  void write(const Fields& fields, int step, Sync sync) override {
    PlainFile file(step_file(folder_, step, fields.rank, "raw"), O_WRONLY | O_CREAT | O_TRUNC);
    for (const auto& values : fields.values) file.write(values.data(), fields.bytes_here(values));
    if (sync == Sync::yes) file.sync();
    file.close();
  }

 private:
  std::string folder_;
};

}  // namespace

MethodKind raw_method() {
  return {"raw", "a file per rank, values alone",
          [](const Options&, const std::string& folder) { return std::make_unique<Raw>(folder); }};
}

}  // namespace io
