// SPDX-License-Identifier: Apache-2.0
// What `dormouse bench` is made of: measurements on a live daemon, over the API
// like any other client, on desktops that it makes and deletes.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hostd/cli/context.h"

namespace dormouse::cli::bench {

// The usual way to the same end, measured in the same run.
struct Baseline {
    std::string name;
    double median = 0;  // in the unit of the result
};

struct Measurement {
    std::string name;  // as in docs/promises.md
    std::string unit = "ms";
    std::vector<double> samples;
    std::optional<Baseline> baseline;
};

struct Summary {
    std::size_t count = 0;
    double median = 0;
    double p95 = 0;  // the smallest sample that 95 of 100 do not exceed
    double max = 0;
};
Summary summarise(std::vector<double> samples);

// {"results": [{"name","unit","count","median","p95","max","baseline"?}]}
std::string to_json(const std::vector<Measurement>& results);
std::string to_table(const std::vector<Measurement>& results, bool colour);

// Milliseconds that `body` takes; its error is passed on.
Result<double> timed(const Clock& clock, const std::function<Result<>()>& body);

// A desktop for as long as this lives; deleted afterwards, also after a failure.
class Desktop {
  public:
    static Result<Desktop> create(Context& context);
    Desktop(Desktop&& other) noexcept : context_(other.context_), name_(std::exchange(other.name_, {})) {}
    Desktop& operator=(Desktop&&) = delete;
    ~Desktop();

    const std::string& name() const { return name_; }
    // What a program inside wrote; an exit code other than 0 is an error.
    Result<std::string> run(const std::string& line,
                            std::chrono::seconds timeout = std::chrono::seconds{60}) const;
    Result<> write(const std::string& path, const std::string& content) const;
    Result<schema::ActionsResponse> act(schema::ActionsRequest request) const;
    // Opens a page in the browser that is there, and waits until it is drawn.
    Result<> open_page(const std::string& url) const;

  private:
    Desktop(Context& context, std::string name) : context_(context), name_(std::move(name)) {}
    Context& context_;
    std::string name_;
};

using Measurements = std::vector<Measurement>;

// The groups that can be named. `count`: samples of what takes little time;
// what takes long is taken less often.
Result<Measurements> create(Context& context, int count);
Result<Measurements> screenshot(Context& context, int count);
Result<Measurements> actions(Context& context, int count);
Result<Measurements> typing(Context& context, int count);

}  // namespace dormouse::cli::bench
