// A selection that cannot be met is refused before anything is measured or moved.
#include "data/mesh_arrays.hpp"

#include <doctest/doctest.h>

#include "sidestream/error.hpp"
#include "support/fake_domain.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

const FakeDomain domain({{0, 0, 0}, {4, 3, 2}},
                        std::make_shared<UniformGeometry>(std::array{0.0, 0.0, 0.0}, std::array{1.0, 1.0, 1.0}),
                        {{"a", [](const auto&, const Index3&, int) { return 0.0; }, Centering::cell, 2},
                         {"b", [](const auto&, const Index3&, int) { return 0.0; }}});

/// The message of the refusal, or nothing if the selection was accepted.
std::string refusal(const Selection& selection) {
  try {
    check_selection(selection, domain.metadata);
    return "";
  } catch (const Error& e) {
    return e.what();
  }
}

bool says(const Selection& selection, const char* text) { return refusal(selection).find(text) != std::string::npos; }

Selection of(const Part& part) { return {{{0, 0, part}}}; }

}  // namespace

TEST_CASE("variables that there are not") {
  CHECK(says({{{2}}}, "the variable of number 2; expected one from 0 to 1"));
  CHECK(says({{{-1}}}, "the variable of number -1"));
  CHECK(says(of(PlaneCut{{0, 0, 0}, {0, 0, 1}, 7}), "the variable of number 7"));
  CHECK(refusal(of(PlaneCut{})).empty());
}

TEST_CASE("components that a variable has not, wherever a range is asked for") {
  CHECK(refusal(of(ValuesBracketed{{0.5}, {-1, 1}})).empty());
  CHECK(says(of(ValuesBracketed{{0.5}, {-1, 2}}), "component 2 of the variable 'a'; expected one from 0 to 1"));
  CHECK(says(of(ValuesBracketed{{0.5}, {1, 1}}), "component 1 of the variable 'b'; expected one from 0 to 0"));
  CHECK(says(of(ValuesBracketed{{0.5}, {0, -1}}), "component -1 of the variable 'a'"));
  const auto all = [](const BlockSummary&) { return true; };
  CHECK(refusal(of(BlockPredicate{all, {}})).empty());
  CHECK(refusal(of(BlockPredicate{all, {0, 1}})).empty());
  CHECK(says(of(BlockPredicate{all, {1, 1}}), "component 1 of the variable 'b'"));
  Selection catalogue{{{0}}};
  catalogue.catalogue = true;
  catalogue.ranges = {{0, 1}};
  CHECK(refusal(catalogue).empty());
  catalogue.ranges = {{0, 1}, {3, 0}};
  CHECK(says(catalogue, "the variable of number 3"));
}
