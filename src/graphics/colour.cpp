#include "graphics/colour.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

namespace sidestream::rendering {
namespace {

constexpr std::pair<std::string_view, Colour> named[] = {
    {"white", {255, 255, 255}}, {"black", {0, 0, 0}},       {"grey", {128, 128, 128}},  {"silver", {192, 196, 202}},
    {"red", {200, 52, 44}},     {"green", {62, 142, 78}},   {"blue", {44, 92, 178}},    {"orange", {230, 134, 46}},
    {"gold", {222, 178, 60}},   {"teal", {38, 140, 138}},   {"purple", {126, 78, 160}}, {"steelblue", {92, 140, 190}},
    {"coral", {228, 108, 82}},  {"ivory", {244, 238, 220}}, {"navy", {24, 38, 78}},
};

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// Both directions of the sRGB transfer function (IEC 61966-2-1), made once.
struct Tables {
  std::array<std::uint16_t, 256> linear;
  std::array<std::uint8_t, 4096> srgb;
  Tables() {
    for (int i = 0; i < 256; ++i) {
      const double s = i / 255.0;
      const double l = s <= 0.04045 ? s / 12.92 : std::pow((s + 0.055) / 1.055, 2.4);
      linear[i] = static_cast<std::uint16_t>(std::lround(l * 65535));
    }
    // Entry e stands for the linear values 16 e ... 16 e + 15: take the middle, then keep the ends and the
    // exact inverses of the other table, so that a plain colour comes back unchanged.
    for (int e = 0; e < 4096; ++e) {
      const double l = (e * 16 + 8) / 65536.0;
      const double s = l <= 0.0031308 ? 12.92 * l : 1.055 * std::pow(l, 1 / 2.4) - 0.055;
      srgb[e] = static_cast<std::uint8_t>(std::clamp<long>(std::lround(s * 255), 0, 255));
    }
    for (int i = 0; i < 256; ++i) srgb[linear[i] >> 4] = static_cast<std::uint8_t>(i);
  }
};

const Tables& tables() {
  static const Tables made;
  return made;
}

}  // namespace

std::optional<Colour> parse_colour(const std::string& text) {
  for (const auto& [name, colour] : named) {
    if (text == name) return colour;
  }
  if (text.empty() || text[0] != '#' || (text.size() != 7 && text.size() != 4)) return std::nullopt;
  std::array<int, 3> value{};
  const std::size_t width = text.size() == 7 ? 2 : 1;
  for (std::size_t c = 0; c < 3; ++c) {
    const int high = digit(text[1 + c * width]), low = digit(text[c * width + width]);
    if (high < 0 || low < 0) return std::nullopt;
    value[c] = high * 16 + low;
  }
  return Colour{static_cast<std::uint8_t>(value[0]), static_cast<std::uint8_t>(value[1]),
                static_cast<std::uint8_t>(value[2])};
}

std::vector<std::string> colour_names() {
  std::vector<std::string> names;
  for (const auto& entry : named) names.emplace_back(entry.first);
  return names;
}

std::uint16_t to_linear(std::uint8_t value) { return tables().linear[value]; }

std::uint8_t to_srgb(std::uint32_t value) { return tables().srgb[std::min<std::uint32_t>(value, 65535) >> 4]; }

Colour mix(Colour a, Colour b, double t) {
  const auto channel = [t](std::uint8_t x, std::uint8_t y) {
    const double l = to_linear(x) * (1 - t) + to_linear(y) * t;
    return to_srgb(static_cast<std::uint32_t>(std::clamp(l, 0.0, 65535.0)));
  };
  return {channel(a.red, b.red), channel(a.green, b.green), channel(a.blue, b.blue)};
}

Colour ink_on(Colour background) {
  const double light =
      0.2126 * to_linear(background.red) + 0.7152 * to_linear(background.green) + 0.0722 * to_linear(background.blue);
  // 18 % is where black and white text have about the same contrast.
  return light > 0.18 * 65535 ? Colour{34, 38, 44} : Colour{236, 238, 242};
}

}  // namespace sidestream::rendering
