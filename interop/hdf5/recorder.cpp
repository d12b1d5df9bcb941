#include "recorder.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>

#include "taken_write.hpp"

namespace sidestream::interposed {

namespace {

using Json = nlohmann::json;
constexpr std::int64_t most_lines = 20000;
constexpr std::size_t most_listed = 10;

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
  Json boxes = Json::array();
  for (std::size_t n = 0; n < std::min(w.boxes.size(), most_listed); ++n) {
    boxes.push_back(Json::array({w.boxes[n].start, w.boxes[n].count}));
  }
  line(text_of({"write", w.dataset.file, member_name(w.dataset.path, w.member), w.type, w.stored, w.dataset.size,
                w.dataset.endless, boxes, w.boxes.size(), w.why}));
}

}  // namespace sidestream::interposed
