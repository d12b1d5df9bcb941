#include "recorder.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>

namespace sidestream::interposed {

namespace {

using Json = nlohmann::json;
constexpr std::int64_t most_lines = 20000;

std::string text_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"; }

}  // namespace

Recorder::~Recorder() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void Recorder::line(const std::string& text) {
  if (failed_ || ++lines_ > most_lines) return;
  if (descriptor_ < 0) {
    std::array<char, 256> host{};
    ::gethostname(host.data(), host.size() - 1);
    ::mkdir(directory_.c_str(), 0777);
    const std::string name = directory_ + "/" + host.data() + "-" + std::to_string(::getpid()) + ".record";
    descriptor_ = ::open(name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  }
  if (descriptor_ < 0 || ::write(descriptor_, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    failed_ = true;
    std::fprintf(stderr, "sidestream: cannot record in the folder '%s' (SIDESTREAM_HDF5_RECORD)\n", directory_.c_str());
  }
}

void Recorder::file(const std::string& name) { line(text_of({"open", name})); }

void Recorder::name(Id number, const Dataset& dataset) {
  for (RecordedWrite& write : std::exchange(nameless_, {})) {
    if (write.number != number) {
      nameless_.push_back(write);
      continue;
    }
    write.dataset = dataset;
    if (!dataset.path.empty()) this->write(write);
  }
}

void Recorder::write(const RecordedWrite& w) {
  if (w.dataset.path.empty()) {
    if (nameless_.size() < 1000) nameless_.push_back(w);
    return;
  }
  line(text_of({"write", w.dataset.file, w.dataset.path, w.type, w.dataset.size, w.dataset.endless, w.box.start,
                w.box.count, w.why}));
}

}  // namespace sidestream::interposed
