#include "amr_codec/tree_codec.hpp"

#include "amr_codec/values/value_coder.hpp"

namespace sidestream {

namespace {

class ValuesOfTrees final : public TreeCodec {
 public:
  [[nodiscard]] std::string name() const override { return "tree"; }
  [[nodiscard]] Bytes encode_cells(BytesView values, const TreeChunk& chunk, const Relations& relations,
                                   bool hurries) const override {
    TreeCoding how;
    if (hurries) how = {TreeMethod::zstd, how.header_bits, 1};
    return encode_tree_values(values, chunk, relations, how);
  }
  [[nodiscard]] TreeStreamNeeds needs(BytesView stream) const override { return tree_stream_needs(stream); }
  void decode_cells(BytesView stream, const TreeChunk& chunk, const Relations& relations,
                    std::span<std::byte> values) const override {
    decode_tree_values(stream, chunk, relations, values);
  }
};

}  // namespace

CodecKind tree_codec_kind() {
  CodecKind kind;
  kind.name = "tree";
  kind.text = "Predicts values in cells of octrees from their parents, their neighbours and declared relations.";
  kind.create = [](const std::string&) { return std::make_shared<ValuesOfTrees>(); };
  return kind;
}

}  // namespace sidestream
