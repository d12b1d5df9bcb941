#include <sidestream/extend/analysis.hpp>

using namespace sidestream;

class Lines : public Task {
 public:
  /* @BLOCK@ */
  Bytes local(const LocalInput& input) override { return Bytes(input.at(0).size() + input.at(1).size()); }
  Bytes combine(const CombineInput&) override { return {}; }

 private:
  std::int32_t variable_ = 0;
};

Lines lines;
