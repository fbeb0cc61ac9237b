#include "gorge/examples/pipeline/kind.h"

#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace pipeline {
namespace {

constexpr absl::string_view kCKeywords =
    " auto break case char const continue default do double else enum extern "
    "float for goto if inline int long register restrict return short signed "
    "sizeof static struct switch typedef union unsigned void volatile while "
    "define defined elif endif error ifdef ifndef include line pragma undef "
    // C++ from here on; C headers use it under __cplusplus.
    "alignas alignof and asm bool catch class concept const_cast consteval "
    "constexpr constinit co_await co_return co_yield decltype delete "
    "dynamic_cast explicit export false friend mutable namespace new noexcept "
    "not nullptr operator or private protected public reinterpret_cast "
    "requires static_assert static_cast template this thread_local throw true "
    "try typeid typename using virtual ";

constexpr absl::string_view kScriptKeywords =
    " and as assert async await break case class continue def del do done elif "
    "else end esac except exit export False fi finally for from function "
    "global if import in is lambda local my nil None nonlocal not or pass "
    "print raise return self set sub then True try until unless use while with "
    "yield ";

constexpr Kind kKinds[] = {
    {"C++", Syntax::kSlash,
     " .cc .cpp .cxx .c++ .hh .hpp .hxx .ipp .ixx .tcc .tpp .inl ", kCKeywords},
    {"C", Syntax::kSlash, " .c .h ", kCKeywords},
    {"Go, Rust, Java", Syntax::kSlash,
     " .go .rs .java .kt .swift .cs .js .ts .proto ", kCKeywords},
    {"scripts", Syntax::kHash,
     " .py .pyi .sh .bash .pl .pm .rb .tcl .cmake .mk .bzl .gyp .gypi ",
     kScriptKeywords},
    {"text", Syntax::kProse, " .md .txt .rst .html .xml .tex .csv .json ", ""},
};
// In /usr/include, most of these are C++ headers.
constexpr Kind kNoExtension = {"no extension", Syntax::kSlash, "", kCKeywords};
constexpr Kind kOther = {"other", Syntax::kSlash, "", kCKeywords};

bool Lists(absl::string_view list, absl::string_view item) {
  return absl::StrContains(list, absl::StrCat(" ", item, " "));
}

}  // namespace

const Kind* KindOf(absl::string_view path) {
  const absl::string_view name = path.substr(path.rfind('/') + 1);
  const std::size_t dot = name.rfind('.');
  if (dot == name.npos || dot == 0) return &kNoExtension;
  const std::string extension = absl::AsciiStrToLower(name.substr(dot));
  for (const Kind& kind : kKinds) {
    if (Lists(kind.extensions, extension)) return &kind;
  }
  return &kOther;
}

bool IsKeyword(const Kind& kind, absl::string_view word) {
  return Lists(kind.keywords, word);
}

}  // namespace pipeline
