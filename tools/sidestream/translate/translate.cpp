#include "translate/translation.hpp"

#include "sidestream/kit/base/fail.hpp"

#include "translate/ascent.hpp"

// Without tinyxml2 there are no translations of XML.
#ifdef SIDESTREAM_HAS_TINYXML2
#include "config/config.hpp"
#include "sidestream/kit/base/names.hpp"
#include "translate/damaris.hpp"
#include "translate/sensei.hpp"
#endif

namespace sidestream {

#ifdef SIDESTREAM_HAS_TINYXML2

Translation translate(const std::string& format, const std::string& file) {
  if (format == "ascent") return ascent::translated(file);
  Remarks remarks(file);
  if (format == "damaris") {
    const damaris::Model model = damaris::read_model(XmlFile(file, "simulation"), remarks);
    std::string configuration = damaris::written(model, remarks);
    return {std::move(configuration), remarks.text()};
  }
  if (format == "sensei") {
    std::string configuration = sensei::translated(XmlFile(file, "sensei"), remarks);
    return {std::move(configuration), remarks.text()};
  }
  const std::string near = did_you_mean(format, {"ascent", "damaris", "sensei"});
  fail(Code::usage, "translate: found '{}', expected ascent, damaris or sensei{}", format,
       near.empty() ? "" : "; did you mean '" + near + "'?");
}

#else

Translation translate(const std::string& format, const std::string& file) {
  if (format == "ascent") return ascent::translated(file);
  fail(
      Code::configuration,
      "translating '{}' takes tinyxml2, which was not found when this tool was built; install it (libtinyxml2-dev) and "
      "build again",
      file);
}

#endif

}  // namespace sidestream
