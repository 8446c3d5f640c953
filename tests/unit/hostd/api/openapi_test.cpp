// SPDX-License-Identifier: Apache-2.0
// Holds docs/api/openapi.yaml and the code together, in both directions.
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "hostd/api/routes.h"
#include "hostd/schema/json.h"
#include "hostd/schema/schema.h"

namespace dormouse::api {
namespace {

using schema::Json;

const YAML::Node& document() {
    static const auto file = YAML::LoadFile(DORMOUSE_SOURCE_DIR "/docs/api/openapi.yaml");
    return file;
}

// The core schema of YAML: a plain scalar may be null, a truth or a number.
Json scalar_to_json(const YAML::Node& node) {
    const auto text = node.Scalar();
    if (node.Tag() == "!") return text;  // quoted
    if (text == "null" || text == "~" || text.empty()) return nullptr;
    if (text == "true" || text == "false") return text == "true";
    const auto number = Json::parse(text, nullptr, false);
    return number.is_number() ? number : Json(text);
}

Json to_json(const YAML::Node& node) {
    if (node.IsMap()) {
        auto json = Json::object();
        for (const auto& entry : node) json[entry.first.Scalar()] = to_json(entry.second);
        return json;
    }
    if (node.IsSequence()) {
        auto json = Json::array();
        for (const auto& item : node) json.push_back(to_json(item));
        return json;
    }
    return node.IsNull() ? Json() : scalar_to_json(node);
}

// Sorted, so that two documents are equal whatever the order of their fields.
nlohmann::json sorted(const Json& json) {
    return nlohmann::json::parse(json.dump());
}

YAML::Node resolve(const YAML::Node& node) {
    if (!node.IsMap() || !node["$ref"]) return node;
    const auto reference = node["$ref"].Scalar();
    EXPECT_EQ(reference.substr(0, 2), "#/");
    YAML::Node at = document();
    std::size_t begin = 2;
    while (begin < reference.size()) {
        const auto end = std::min(reference.find('/', begin), reference.size());
        at.reset(std::as_const(at)[reference.substr(begin, end - begin)]);
        begin = end + 1;
    }
    EXPECT_TRUE(at.IsDefined()) << reference;
    return at;
}

// What is said in JSON, in a request body or an answer; undefined when nothing is.
YAML::Node json_media(const YAML::Node& holder) {
    const auto content = holder["content"];
    return content.IsDefined() ? std::as_const(content)["application/json"] : content;
}

// Reads an example and writes it again; gives what was written, or "error: ...".
template <class T>
std::string through_codec(const std::string& text) {
    const auto value = schema::parse<T>(text);
    return value ? schema::to_json(*value) : "error: " + value.error().message;
}
std::string through_empty(const std::string& text) {
    const auto value = schema::parse<schema::EmptyRequest>(text);
    return value ? "{}" : "error: " + value.error().message;
}

const std::map<std::string, std::function<std::string(const std::string&)>> kCodecs{
    {"Health", through_codec<schema::Health>},
    {"Version", through_codec<schema::Version>},
    {"CreateDesktopRequest", through_codec<schema::CreateDesktopRequest>},
    {"EmptyRequest", through_empty},
    {"Desktop", through_codec<schema::Desktop>},
    {"DesktopList", through_codec<schema::DesktopList>},
    {"DestinationList", through_codec<schema::DestinationList>},
    {"ActionsRequest", through_codec<schema::ActionsRequest>},
    {"ExecRequest", through_codec<schema::ExecRequest>},
    {"ExecResponse", through_codec<schema::ExecResponse>},
    {"ActionsResponse", through_codec<schema::ActionsResponse>},
    {"ActionsFailure", through_codec<schema::ActionsResponse>},
    {"Operation", through_codec<schema::Operation>},
    {"OperationList", through_codec<schema::OperationList>},
    {"OperationAnswer", through_codec<schema::OperationAnswer>},
    {"OperationLog", through_codec<schema::OperationLog>},
    {"Template", through_codec<schema::Template>},
    {"TemplateList", through_codec<schema::TemplateList>},
    {"BuildTemplateRequest", through_codec<schema::BuildTemplateRequest>},
    {"UpdateDesktopRequest", through_codec<schema::UpdateDesktopRequest>},
    {"AuditPage", through_codec<schema::AuditPage>},
    {"CreateTokenRequest", through_codec<schema::CreateTokenRequest>},
    {"NewToken", through_codec<schema::NewToken>},
    {"TokenList", through_codec<schema::TokenList>},
    {"Error", through_codec<schema::ErrorBody>},
};

// Calls `check` with each operation of the file: "get", "/v1/desktops", its node.
void for_each_operation(const std::function<void(std::string, std::string, const YAML::Node&)>& check) {
    for (const auto& path : document()["paths"])
        for (const auto& entry : path.second)
            if (entry.first.Scalar() != "parameters")
                check(entry.first.Scalar(), path.first.Scalar(), entry.second);
}

std::string upper(std::string text) {
    for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return text;
}

TEST(OpenApi, HasTheRoutesOfTheCodeAndNoOthers) {
    std::set<std::string> in_code;
    for (const auto& route : route_table())
        in_code.insert(fmt::format("{} {} {}", route.method, route.pattern, route.operation_id));
    std::set<std::string> in_file;
    for_each_operation([&](const std::string& method, const std::string& path, const YAML::Node& operation) {
        in_file.insert(fmt::format("{} {} {}", upper(method), path, operation["operationId"].Scalar()));
    });
    EXPECT_EQ(in_code, in_file);
}

TEST(OpenApi, NamesTheParametersOfEveryPath) {
    for (const auto& path : document()["paths"]) {
        std::set<std::string> in_path;
        const auto pattern = path.first.Scalar();
        for (auto at = pattern.find('{'); at != std::string::npos; at = pattern.find('{', at + 1))
            in_path.insert(pattern.substr(at + 1, pattern.find('}', at) - at - 1));
        std::set<std::string> named;
        if (path.second["parameters"])
            for (const auto& parameter : path.second["parameters"])
                named.insert(resolve(parameter)["name"].Scalar());
        EXPECT_EQ(in_path, named) << pattern;
    }
}

TEST(OpenApi, SaysWhichOperationsNeedNoToken) {
    for_each_operation([](const std::string&, const std::string& path, const YAML::Node& operation) {
        const auto open = operation["security"].IsDefined() && operation["security"].size() == 0;
        for (const auto& route : route_table()) {
            if (route.operation_id != operation["operationId"].Scalar()) continue;
            EXPECT_EQ(std::holds_alternative<OpenRoute>(route.handler), open) << path;
            EXPECT_EQ(operation["responses"]["401"].IsDefined(), !open) << path;
        }
    });
}

// One media type object: its schema has a codec, and its examples go through.
int check_examples(const std::string& where, const YAML::Node& media) {
    const auto reference =
        media["schema"]["$ref"].IsDefined() ? media["schema"]["$ref"].Scalar() : std::string{};
    const auto name = reference.substr(reference.rfind('/') + 1);
    const auto codec = kCodecs.find(name);
    if (codec == kCodecs.end()) {
        ADD_FAILURE() << where << ": no codec for " << name;
        return 0;
    }
    std::vector<YAML::Node> examples;
    if (media["example"]) examples.push_back(media["example"]);
    if (media["examples"])
        for (const auto& example : media["examples"]) examples.push_back(example.second["value"]);
    for (const auto& example : examples) {
        const auto given = to_json(example);
        const auto written = codec->second(given.dump());
        const auto read = Json::parse(written, nullptr, false);
        if (read.is_discarded()) {
            ADD_FAILURE() << where << ": " << written << "\n" << given.dump(2);
            continue;
        }
        // What has defaults or two forms is written in the full one.
        const bool normalised = name == "CreateDesktopRequest" || name == "ExecRequest" ||
                                (name == "ActionsRequest" && !given.contains("actions"));
        if (!normalised) {
            EXPECT_EQ(sorted(read), sorted(given)) << where;
        }
    }
    return static_cast<int>(examples.size());
}

TEST(OpenApi, HasExamplesThatTheCodecsTake) {
    int count = 0;
    const auto check_content = [&](const std::string& where, const YAML::Node& holder) {
        const auto media = json_media(holder);
        if (!media.IsDefined()) return;
        const int here = check_examples(where, media);
        EXPECT_GT(here, 0) << where << " has no example";
        count += here;
    };
    for_each_operation([&](const std::string& method, const std::string& path, const YAML::Node& operation) {
        const auto where = method + " " + path;
        if (operation["requestBody"]) check_content(where, resolve(operation["requestBody"]));
        for (const auto& response : operation["responses"])
            check_content(where + " " + response.first.Scalar(), resolve(response.second));
    });
    EXPECT_GT(count, 50);
}

TEST(OpenApi, GivesEveryErrorExampleTheStatusOfItsCode) {
    for_each_operation([](const std::string&, const std::string& path, const YAML::Node& operation) {
        for (const auto& response : operation["responses"]) {
            const auto media = json_media(resolve(response.second));
            if (!media.IsDefined() || !media["example"].IsDefined()) continue;
            const auto error = media["example"]["error"];
            if (!error.IsDefined() || !error.IsMap()) continue;
            const auto code = schema::errc_from_name(error["code"].Scalar());
            ASSERT_TRUE(code) << path;
            EXPECT_EQ(std::to_string(schema::http_status(*code)), response.first.Scalar()) << path;
        }
    });
}

std::set<std::string> words(const YAML::Node& list) {
    std::set<std::string> out;
    for (const auto& item : list) out.insert(item.Scalar());
    return out;
}

TEST(OpenApi, HasTheClosedListsOfTheCode) {
    const auto schemas = document()["components"]["schemas"];
    std::set<std::string> codes;
    for (int code = 0; code <= static_cast<int>(Errc::Internal); ++code)
        codes.insert(std::string{errc_name(static_cast<Errc>(code))});
    EXPECT_EQ(words(schemas["ErrorObject"]["properties"]["code"]["enum"]), codes);

    std::set<std::string> states;
    for (int state = 0; state <= static_cast<int>(desktop::State::Deleting); ++state)
        states.insert(std::string{desktop::state_name(static_cast<desktop::State>(state))});
    EXPECT_EQ(words(schemas["Desktop"]["properties"]["state"]["enum"]), states);
    EXPECT_EQ(words(schemas["Network"]["properties"]["mode"]["enum"]),
              (std::set<std::string>{"open", "none"}));
    EXPECT_EQ(words(schemas["Scope"]["enum"]), (std::set<std::string>{"viewer", "agent", "admin"}));

    std::set<std::string> actions;
    for (const auto kind : schema::all_actions()) actions.insert(std::string{schema::action_name(kind)});
    std::set<std::string> mapped;
    std::set<std::string> defined;
    for (const auto& entry : schemas["Action"]["discriminator"]["mapping"])
        mapped.insert(entry.first.Scalar());
    for (const auto& one : schemas["Action"]["oneOf"])
        defined.merge(words(resolve(one)["properties"]["action"]["enum"]));
    EXPECT_EQ(mapped, actions);
    EXPECT_EQ(defined, actions);
}

TEST(OpenApi, DescribesEveryFieldThatIsWritten) {
    const auto fields_of = [](const std::string& json) {
        std::set<std::string> names;
        const auto read = Json::parse(json);
        for (const auto& [name, value] : read.items()) names.insert(name);
        return names;
    };
    const auto described = [](const char* name) {
        std::set<std::string> names;
        for (const auto& entry : document()["components"]["schemas"][name]["properties"])
            names.insert(entry.first.Scalar());
        return names;
    };
    EXPECT_EQ(described("Desktop"), fields_of(schema::to_json(schema::Desktop{})));
    EXPECT_EQ(described("Token"), fields_of(schema::to_json(schema::Token{})));
    EXPECT_EQ(described("Operation"), fields_of(schema::to_json(schema::Operation{})));
    EXPECT_EQ(described("OperationLog"), fields_of(schema::to_json(schema::OperationLog{})));
    EXPECT_EQ(described("Template"), fields_of(schema::to_json(schema::Template{})));
    EXPECT_EQ(described("BuildTemplateRequest"),
              fields_of(schema::to_json(schema::BuildTemplateRequest{"a", "b"})));
    EXPECT_EQ(described("Version"), fields_of(schema::to_json(schema::Version{})));
    EXPECT_EQ(described("CreateTokenRequest"),
              fields_of(schema::to_json(schema::CreateTokenRequest{
                  .name = "a", .scope = "b", .limits = {{"a"}, "b", {"c"}}, .expires_at = WallTime{}})));
    EXPECT_EQ(described("AuditEntry"), fields_of(schema::to_json(schema::AuditEntry{})));
    EXPECT_EQ(
        described("CreateDesktopRequest"),
        fields_of(schema::to_json(schema::CreateDesktopRequest{"a", "b", schema::Network{}, {{"k", "v"}}})));
}

}  // namespace
}  // namespace dormouse::api
