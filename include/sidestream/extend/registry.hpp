// The registry of back ends. There is one per session; there is no global one.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "sidestream/extend/analysis.hpp"
#include "sidestream/extend/codec.hpp"
#include "sidestream/extend/partitioner.hpp"
#include "sidestream/extend/stream_kind.hpp"
#include "sidestream/extend/writer.hpp"

namespace sidestream {

/// Registered kinds by name. Adding a name twice throws Error(usage).
class Registry {
 public:
  void add(AnalysisKind kind);
  void add(WriterKind kind);
  void add(ResultFormat format);
  void add(PartitionerKind kind);
  void add(CodecKind kind);
  void add(StreamKind kind);

  [[nodiscard]] const std::map<std::string, AnalysisKind>& analyses() const noexcept { return analyses_; }
  [[nodiscard]] const std::map<std::string, WriterKind>& writers() const noexcept { return writers_; }
  /// By file ending.
  [[nodiscard]] const std::map<std::string, ResultFormat>& formats() const noexcept { return formats_; }
  [[nodiscard]] const std::map<std::string, PartitionerKind>& partitioners() const noexcept { return partitioners_; }

  /// Ways to other MPI jobs. Their outputs are no writers before a session has given them a context.
  [[nodiscard]] const std::map<std::string, StreamKind>& streams() const noexcept { return streams_; }

  /// The codecs, shared with the caller: writers see codecs of plug-ins that are loaded after them.
  [[nodiscard]] std::shared_ptr<const CodecKinds> codecs() const noexcept { return codecs_; }

 private:
  std::map<std::string, AnalysisKind> analyses_;
  std::map<std::string, WriterKind> writers_;
  std::map<std::string, ResultFormat> formats_;
  std::map<std::string, PartitionerKind> partitioners_;
  std::map<std::string, StreamKind> streams_;
  std::shared_ptr<CodecKinds> codecs_ = std::make_shared<CodecKinds>();
};

}  // namespace sidestream
