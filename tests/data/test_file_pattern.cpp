// File names with the iteration in them.
#include "sidestream/kit/data/file_pattern.hpp"

#include <doctest/doctest.h>

#include "sidestream/error.hpp"

using namespace sidestream;

namespace {

std::string expand(const std::string& pattern) { return expand_pattern(pattern, {7, 140, 0.25}, 3); }

std::string error_of(const std::string& pattern) {
  try {
    check_pattern(pattern);
  } catch (const Error& error) {
    CHECK(error.code() == Code::configuration);
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("fields and widths") {
  CHECK(expand("plain.csv") == "plain.csv");
  CHECK(expand("a-{index}.png") == "a-7.png");
  CHECK(expand("a-{index:05}.png") == "a-00007.png");
  CHECK(expand("a-{index:5}.png") == "a-00007.png");
  CHECK(expand("{cycle:06}/{server:02}.h5") == "000140/03.h5");
  CHECK(expand("{cycle:2}") == "140");
  CHECK(expand("t{time}") == "t0.25");
  CHECK(expand("t{time:.4}") == "t0.2500");
  CHECK(expand("t{time:.0}") == "t0");
  CHECK(expand("{{index}}-{index}") == "{index}-7");
  CHECK(expand("{index}{index}") == "77");
  CHECK(expand_pattern("{cycle:04}", {0, -5, 0}, 0) == "-005");
  CHECK(expand_pattern("{time}", {0, 0, 1e-30}, 0) == "1e-30");
  CHECK(expand_pattern("{index}", {1'000'000'000'000, 0, 0}, 0) == "1000000000000");
}

TEST_CASE("whether iterations get files of their own") {
  CHECK(names_iteration("a-{index}.png"));
  CHECK(names_iteration("a-{cycle:06}.png"));
  CHECK(names_iteration("a-{time:.3}.png"));
  CHECK(!names_iteration("a.csv"));
  CHECK(!names_iteration("a-{server}.csv"));
  CHECK(!names_iteration("a-{{index}}.csv"));
}

TEST_CASE("patterns that cannot be read") {
  for (const char* bad : {"{step}", "{}", "{index:x}", "{index:}", "{index:-1}", "{index:31}", "{index:.3}", "{time:3}",
                          "{time:.}", "{Index}", "a{", "a}", "{index", "index}", "{{index}", "{index:5 }"}) {
    CAPTURE(bad);
    const std::string message = error_of(bad);
    CHECK(message.find("found the file name '" + std::string(bad) + "'") == 0);
    CHECK(message.find("expected {index}, {cycle}, {time} or {server}") != std::string::npos);
    CHECK_THROWS_AS(static_cast<void>(expand(bad)), Error);
    CHECK_THROWS_AS(static_cast<void>(names_iteration(bad)), Error);
  }
  CHECK(error_of("").find("found an empty file name") == 0);
  CHECK(error_of("a-{step}.png").find("'{step}' is not known") != std::string::npos);
  CHECK(error_of("{{x}}{index:03}") == "no error");
  CHECK(error_of("h-%05d.csv").find("did you mean '{index:05}' or '{cycle:05}'?") != std::string::npos);
  CHECK(error_of("h-%i.csv").find("did you mean '{index}' or '{cycle}'?") != std::string::npos);
  CHECK(error_of("50%-{index}.csv") == "no error");
  CHECK(error_of("%d-{index}.csv") == "no error");
  CHECK(error_of("100%ds.csv") != "no error");
}

TEST_CASE("the stem of a series is what its files share") {
  CHECK(series_stem("surface-{cycle:06}.vtp") == "surface");
  CHECK(series_stem("{index}.vtp") == "series");
  CHECK(series_stem("{index:05}-surface.vtp") == "surface");
  CHECK(series_stem("a/b/x_{time:.4}_y.png") == "a/b/x_y");
  CHECK(series_stem("run/{cycle}/surface.vtp") == "run/surface");
  CHECK(series_stem("run/{cycle}/{index}.vtp") == "run/series");
  CHECK(series_stem("run{cycle}/s.vtp") == "run-s");
  CHECK(series_stem("/tmp/s-{index}.vtp") == "/tmp/s");
  CHECK(series_stem("/{index}.vtp") == "/series");
  CHECK(series_stem("a.b/c") == "a.b/c");
  CHECK(series_stem("a{{b}}-{index}.vtp") == "a{{b}}");
  CHECK(series_stem("a-{server:02}-{index}.vtp") == "a-{server:02}");
}

TEST_CASE("which fields a pattern names") {
  CHECK(names_field("a-{cycle:06}.h5", "cycle"));
  CHECK(!names_field("a-{cycle:06}.h5", "index"));
  CHECK(names_field("{time}-{index}", "time"));
  CHECK(!names_field("{{cycle}}", "cycle"));
}
