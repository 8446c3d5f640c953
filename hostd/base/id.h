// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <string>
#include <string_view>

#include "hostd/base/result.h"

namespace dormouse {

// Whether `text` has the one shape that every identifier and name has:
// [a-z][a-z0-9-]{0,39}. It is safe as a file name, in a URL and in a log.
bool is_identifier(std::string_view text);

// The error that tells a person what the shape is. `what` names the field.
tl::unexpected<Error> bad_identifier(std::string_view what, std::string_view text);

// A string of that shape which cannot be mistaken for one of another kind.
template <class Tag>
class Id {
  public:
    static Result<Id> parse(std::string_view text) {
        if (!is_identifier(text)) return bad_identifier(Tag::what, text);
        return Id{std::string{text}};
    }
    const std::string& str() const { return text_; }
    friend auto operator<=>(const Id&, const Id&) = default;

  private:
    explicit Id(std::string text) : text_(std::move(text)) {}
    std::string text_;
};

struct DesktopTag {
    static constexpr std::string_view what = "desktop id";
};
struct DesktopNameTag {
    static constexpr std::string_view what = "desktop name";
};
struct TemplateNameTag {
    static constexpr std::string_view what = "template name";
};
struct TokenTag {
    static constexpr std::string_view what = "token id";
};
struct OperationTag {
    static constexpr std::string_view what = "operation id";
};

using DesktopId = Id<DesktopTag>;
using DesktopName = Id<DesktopNameTag>;
using TemplateName = Id<TemplateNameTag>;
using TokenId = Id<TokenTag>;
using OperationId = Id<OperationTag>;

}  // namespace dormouse
