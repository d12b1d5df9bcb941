#include "sidestream/extend/registry.hpp"

#include "config/sections.hpp"
#include "sidestream/kit/base/fail.hpp"

namespace sidestream {

namespace {

void check_new(bool known, const std::string& what, const std::string& name) {
  if (name.empty()) fail(Code::usage, "{} is registered without a name; give it one", what);
  if (known) fail(Code::usage, "{} '{}' is registered twice; register it once, or under another name", what, name);
}

/// A kind's options are listed with the options of every task and must not hide them.
void check_options(const std::vector<Option>& options, const std::string& what, const std::string& name) {
  for (const Option& option : options) {
    for (const Option& common : task_options()) {
      if (option.name == common.name) {
        fail(Code::usage, "{} '{}' declares the option '{}', which every task has; give it another name", what, name,
             option.name);
      }
    }
  }
}

}  // namespace

void Registry::add(AnalysisKind kind) {
  check_new(analyses_.contains(kind.name), "the analysis", kind.name);
  check_options(kind.options, "the analysis", kind.name);
  analyses_.emplace(kind.name, std::move(kind));
}

void Registry::add(WriterKind kind) {
  check_new(writers_.contains(kind.name), "the output", kind.name);
  check_options(kind.options, "the output", kind.name);
  writers_.emplace(kind.name, std::move(kind));
}

void Registry::add(ResultFormat format) {
  check_new(formats_.contains(format.ending), "the result format", format.ending);
  if (format.ending.front() != '.') {
    fail(Code::usage, "the result format '{}' does not begin with a point; write '.{}'", format.ending, format.ending);
  }
  formats_.emplace(format.ending, std::move(format));
}

void Registry::add(PartitionerKind kind) {
  check_new(partitioners_.contains(kind.name), "the partitioner", kind.name);
  partitioners_.emplace(kind.name, std::move(kind));
}

void Registry::add(StreamKind kind) {
  check_new(streams_.contains(kind.name), "the stream", kind.name);
  streams_.emplace(kind.name, std::move(kind));
}

void Registry::add(CodecKind kind) {
  check_new(codecs_->contains(kind.name), "the codec", kind.name);
  if (kind.name.find_first_of(" :") != std::string::npos) {
    fail(Code::usage,
         "the codec '{}' has a space or a colon in its name, which lists of codecs are divided by; rename it",
         kind.name);
  }
  codecs_->emplace(kind.name, std::move(kind));
}

}  // namespace sidestream
