// SPDX-License-Identifier: Apache-2.0
#include "hostd/schema/time.h"

#include <fmt/chrono.h>

#include <cctype>

namespace dormouse::schema {

namespace {

// Takes characters from the front of `rest_`; remembers whether all went well.
class Scanner {
  public:
    explicit Scanner(std::string_view text) : rest_(text) {}

    int digits(int count) {
        int value = 0;
        for (; count > 0; --count) {
            if (rest_.empty() || !is_digit(rest_.front())) return bad();
            value = value * 10 + (rest_.front() - '0');
            rest_.remove_prefix(1);
        }
        return value;
    }
    void one_of(std::string_view allowed) {
        if (rest_.empty() || allowed.find(rest_.front()) == std::string_view::npos) {
            ok_ = false;
            return;
        }
        taken_ = rest_.front();
        rest_.remove_prefix(1);
    }
    char taken() const { return taken_; }
    bool next_is(char c) const { return !rest_.empty() && rest_.front() == c; }
    bool next_is_digit() const { return !rest_.empty() && is_digit(rest_.front()); }
    bool ok() const { return ok_; }
    bool at_end() const { return rest_.empty(); }

  private:
    static bool is_digit(char c) { return c >= '0' && c <= '9'; }
    int bad() {
        ok_ = false;
        return 0;
    }
    std::string_view rest_;
    char taken_ = 0;
    bool ok_ = true;
};

std::chrono::nanoseconds scan_fraction(Scanner& in) {
    if (!in.next_is('.')) return std::chrono::nanoseconds{0};
    in.one_of(".");
    long value = in.digits(1);
    long unit = 100'000'000;
    value *= unit;
    while (in.ok() && in.next_is_digit()) {
        unit /= 10;
        value += in.digits(1) * unit;
    }
    return std::chrono::nanoseconds{value};
}

std::chrono::minutes scan_offset(Scanner& in) {
    in.one_of("Zz+-");
    if (!in.ok() || in.taken() == 'Z' || in.taken() == 'z') return std::chrono::minutes{0};
    const int sign = in.taken() == '-' ? -1 : 1;
    const int hours = in.digits(2);
    in.one_of(":");
    const int minutes = in.digits(2);
    return sign * std::chrono::minutes{hours > 23 || minutes > 59 ? 24 * 60 : hours * 60 + minutes};
}

}  // namespace

std::string format_time(WallTime time) {
    using namespace std::chrono;
    const auto day = floor<days>(time);
    const year_month_day date{day};
    const hh_mm_ss clock{floor<milliseconds>(time) - day};
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", static_cast<int>(date.year()),
                       static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                       clock.hours().count(), clock.minutes().count(), clock.seconds().count(),
                       clock.subseconds().count());
}

Result<WallTime> parse_time(std::string_view text) {
    using namespace std::chrono;
    Scanner in{text};
    const int year_number = in.digits(4);
    in.one_of("-");
    const int month_number = in.digits(2);
    in.one_of("-");
    const int day_number = in.digits(2);
    in.one_of("Tt ");
    const int hour = in.digits(2);
    in.one_of(":");
    const int minute = in.digits(2);
    in.one_of(":");
    const int second = in.digits(2);
    const auto fraction = scan_fraction(in);
    const auto offset = scan_offset(in);

    const year_month_day date{year{year_number}, month{static_cast<unsigned>(month_number)},
                              day{static_cast<unsigned>(day_number)}};
    // 64 bits of nanoseconds end in 2262.
    const bool in_range = year_number >= 1678 && year_number <= 2261 && date.ok() && hour < 24 &&
                          minute < 60 && second <= 60 && abs(offset) < hours{24};
    if (!in.ok() || !in.at_end() || !in_range)
        return fail(Errc::InvalidArgument, "not a time as in RFC 3339", "for example 2026-11-30T12:53:14Z");
    return WallTime{sys_days{date} + hours{hour} + minutes{minute} + seconds{second} + fraction - offset};
}

}  // namespace dormouse::schema
