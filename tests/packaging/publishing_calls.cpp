// Every way to publish from C++, old and new: older programs still compile, and no call is ambiguous. Headers.cmake
// compiles it as C++17 and C++20, and looks for the warnings about calls without a length (BARE).
#include <sidestream/sidestream.hpp>

#include <array>
#include <cstdint>
#include <vector>
#if __cplusplus >= 202002L
#include <span>
#endif

using namespace sidestream;

void with_length(Session& s, double* p, float* q, Handle v, Handle w) {
  const std::vector<double> a;
  const std::vector<std::array<double, 3>> places;
  const std::vector<std::int64_t> links;
  const std::array<int, 3> few{};
  double table[8][8] = {};
  s.publish("t", 0, a), s.publish("t", 0, places), s.publish("t", 0, few), s.publish("t", 0, links);
  s.publish("t", 0, p, 3), s.publish("t", 0, {p, 3}), s.publish("t", 0, Values(table));
  s.publish("t", 0, Values(Type::int8, p, 3)), s.publish("t", 0, {Type::float64, p, 3}),
      s.publish(v, {Type::float64, p, 3});
  s.publish("t", 0, sidestream::ProgramArray{}), s.publish("t", 0, {Type::float64, p, 1, nullptr, nullptr});
  s.publish("t", 0, {p, {1, 2, 3}, {1, 4, 5}}), s.publish("t", 0, {p, {1, 2, 3}, {1, 4, 5}, 0});
  s.publish(v, a), s.publish(v, p, 3), s.publish(v, {p, 3});
  s.publish({v, w}, {a, links}), s.publish({v, w}, {{p, 3}, {q, 4}});
  s.publish_components("v", 0, {a, a, a}), s.publish_components("v", 0, {{p, 3}, {p, 3}});
  s.publish_block(0, {{"a", a}, {"b", {p, 3}}}), s.publish_block(0, {{"a", a}, {"b", links}});
  static_cast<void>(s.alloc<double>("t", 0, 3));
#if __cplusplus >= 202002L
  s.publish("t", 0, std::span(p, 3)), s.publish("t", 0, std::span<const float>(q, 3));
#endif
}

#ifdef BARE
void without(Session& s, double* p, float* q, Handle v, Handle w) {
  double table[8] = {};
  s.publish("t", 0, p), s.publish("t", 0, table), s.publish("t", 0, nullptr);
  s.publish("t", 0, p, {1, 2, 3, 4});
  s.publish(v, p), s.publish({v, w}, {p, p}), s.publish({v, w}, {p, q}), s.publish({v, w, v}, {p, p, p});
  s.publish_components("v", 0, {p, p}), s.publish_components("v", 0, {p, p, p});
  s.publish_block(0, {{"a", p}, {"b", p}}), s.publish_block(0, {{"a", p}}), s.publish_block(0, {{"a", p}, {"b", q}});
  static_cast<void>(s.alloc("t", 0));
}
#endif
