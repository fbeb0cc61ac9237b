// tests/support/json.h -- reads JSON, so that tests can look at it.

#ifndef GORGE_TESTS_SUPPORT_JSON_H_
#define GORGE_TESTS_SUPPORT_JSON_H_

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gorge::testing {

// A value. Asked for what it does not have, it returns the empty value, so that
// a test can write down a whole path and compare what is at its end.
class Json {
 public:
  // nullopt if `text` is anything but one valid value.
  static std::optional<Json> Parse(std::string_view text);

  const Json& operator[](const std::string& member) const;
  const Json& operator[](std::size_t index) const;
  std::size_t size() const { return elements_.size() + members_.size(); }

  // Each the empty one, unless the value is of this type.
  double number() const { return number_; }
  bool boolean() const { return word_ == "true"; }
  const std::string& string() const { return string_; }

 private:
  class Parser;

  double number_ = 0;
  std::string word_;  // true, false or null.
  std::string string_;
  std::vector<Json> elements_;
  std::map<std::string, Json> members_;
};

}  // namespace gorge::testing

#endif  // GORGE_TESTS_SUPPORT_JSON_H_
