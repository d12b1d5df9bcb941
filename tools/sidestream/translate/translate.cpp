#include "config/config.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "translate/damaris.hpp"
#include "translate/sensei.hpp"
#include "translate/translation.hpp"

namespace sidestream {

Translation translate(const std::string& format, const std::string& file) {
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
  const std::string near = did_you_mean(format, {"damaris", "sensei"});
  fail(Code::usage, "translate: found '{}', expected damaris or sensei{}", format,
       near.empty() ? "" : "; did you mean '" + near + "'?");
}

}  // namespace sidestream
