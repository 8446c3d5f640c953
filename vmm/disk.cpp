// SPDX-License-Identifier: Apache-2.0
#include "vmm/disk.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "hostd/base/file.h"

namespace dormouse::vmm {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

Result<> check_arguments(std::initializer_list<fs::path> paths, const std::string& format) {
    for (const auto& path : paths)
        if (!path.is_absolute())
            return fail(Errc::InvalidArgument,
                        fmt::format("a disk image needs an absolute path: \"{}\"", path.string()));
    if (format != "raw" && format != "qcow2")
        return fail(Errc::InvalidArgument, fmt::format("no format of a disk image: \"{}\"", format));
    return {};
}

// qemu-img may put warnings around its JSON.
json parse_object(const std::string& text) {
    const auto from = text.find('{');
    const auto to = text.rfind('}');
    if (from == std::string::npos || to == std::string::npos || to < from) return {};
    return json::parse(text.begin() + static_cast<std::ptrdiff_t>(from),
                       text.begin() + static_cast<std::ptrdiff_t>(to) + 1, nullptr, false);
}

template <class T>
T field(const json& object, const char* name, T otherwise) {
    const auto at = object.find(name);
    if (at == object.end()) return otherwise;
    if constexpr (std::is_same_v<T, std::string>)
        return at->is_string() ? at->get<T>() : otherwise;
    else if constexpr (std::is_same_v<T, bool>)
        return at->is_boolean() ? at->get<T>() : otherwise;
    else
        return at->is_number_unsigned() ? at->get<T>() : otherwise;
}

std::string last_line(std::string text) {
    while (!text.empty() && text.back() == '\n') text.pop_back();
    const auto at = text.rfind('\n');
    return at == std::string::npos ? text : text.substr(at + 1);
}

}  // namespace

CommandLine overlay_command(const fs::path& path, const fs::path& backing, const std::string& backing_format,
                            std::optional<std::uint64_t> size) {
    CommandLine command;
    command.argv = {"qemu-img", "create",         "-q",         "-f", "qcow2", "-F", backing_format,
                    "-b",       backing.string(), path.string()};
    if (size) command.argv.push_back(std::to_string(*size));
    return command;
}

CommandLine info_command(const fs::path& path, const std::string& format, bool in_use) {
    CommandLine command;
    command.argv = {"qemu-img", "info", "--output=json", "-f", format};
    if (in_use) command.argv.push_back("-U");
    command.argv.push_back(path.string());
    return command;
}

CommandLine check_command(const fs::path& path) {
    CommandLine command;
    command.argv = {"qemu-img", "check", "--output=json", "-f", "qcow2", path.string()};
    return command;
}

Result<> set_backing_beside(const fs::path& path, const std::string& name, const std::string& format) {
    DORMOUSE_TRY(check_arguments({path}, format));
    if (name.empty() || name.find('/') != std::string::npos || name.find(':') != std::string::npos)
        return fail(Errc::InvalidArgument, fmt::format("no name of a file beside a disk: \"{}\"", name));
    const CommandLine command{
        .argv = {"qemu-img", "rebase", "-q", "-u", "-f", "qcow2", "-F", format, "-b", name, path.string()}};
    if (const auto done = run_checked(command); !done)
        return fail_in(fmt::format("cannot change the header of {}", path.string()), done.error());
    return {};
}

Result<> create_overlay(const fs::path& path, const fs::path& backing, const std::string& backing_format,
                        std::optional<std::uint64_t> size) {
    DORMOUSE_TRY(check_arguments({path, backing}, backing_format));
    // qemu-img would empty an image that is there.
    if (::access(path.c_str(), F_OK) == 0)
        return fail(Errc::Conflict, fmt::format("{} is already there", path.string()));
    auto created = run_checked(overlay_command(path, backing, backing_format, size));
    if (!created) {
        ::unlink(path.c_str());
        return fail_in(fmt::format("cannot make the disk {}", path.string()), created.error());
    }
    DORMOUSE_TRY_ASSIGN(const auto file, open_file(path, O_RDWR));
    if (::fchmod(file.get(), 0600) != 0 || ::fsync(file.get()) != 0)
        return fail_errno(fmt::format("cannot sync {}", path.string()));
    return sync_directory(path.parent_path());
}

Result<DiskInfo> disk_info(const fs::path& path, const std::string& format, bool in_use) {
    DORMOUSE_TRY(check_arguments({path}, format));
    const auto output = run_checked(info_command(path, format, in_use));
    if (!output) return fail_in(fmt::format("cannot look at the disk {}", path.string()), output.error());
    return parse_disk_info(*output);
}

Result<DiskInfo> parse_disk_info(const std::string& text) {
    const auto object = parse_object(text);
    if (!object.is_object()) return fail(Errc::Corrupt, "qemu-img info did not answer with JSON");
    DiskInfo info;
    info.format = field(object, "format", std::string{});
    info.virtual_size = field(object, "virtual-size", std::uint64_t{0});
    info.actual_size = field(object, "actual-size", std::uint64_t{0});
    if (info.format.empty() || info.virtual_size == 0)
        return fail(Errc::Corrupt, "qemu-img info did not say format and size");
    const auto name = field(object, "backing-filename", std::string{});
    info.backing_file = field(object, "full-backing-filename", name);
    info.backing_format = field(object, "backing-filename-format", std::string{});
    info.dirty = field(object, "dirty-flag", false);
    const auto specific = object.find("format-specific");
    if (specific != object.end() && specific->is_object()) {
        const auto data = specific->find("data");
        if (data != specific->end() && data->is_object()) info.corrupt = field(*data, "corrupt", false);
    }
    return info;
}

Result<DiskCheck> check_disk(const fs::path& path) {
    DORMOUSE_TRY(check_arguments({path}, "qcow2"));
    RunOptions options;
    options.timeout = std::chrono::minutes{10};
    DORMOUSE_TRY_ASSIGN(const auto run, run_command(check_command(path), options));
    if (run.status.signal != 0)
        return fail(Errc::Io, fmt::format("qemu-img check ended with {}", run.status.to_text()));
    auto check = parse_disk_check(run.status.code, run.output);
    if (!check) return fail_in(fmt::format("cannot check the disk {}", path.string()), check.error());
    return check;
}

Result<DiskCheck> parse_disk_check(int exit_code, const std::string& text) {
    // 0 clean, 2 damaged, 3 leaks; 1 and 63 are failures of the check itself.
    if (exit_code != 0 && exit_code != 2 && exit_code != 3) return fail(Errc::Io, last_line(text));
    const auto object = parse_object(text);
    if (!object.is_object())
        return fail(Errc::Corrupt, "qemu-img check did not answer with JSON: " + last_line(text));
    const auto corruptions = field(object, "corruptions", std::uint64_t{0});
    const auto errors = field(object, "check-errors", std::uint64_t{0});
    const auto leaks = field(object, "leaks", std::uint64_t{0});
    if (errors != 0) return fail(Errc::Io, fmt::format("{} errors while checking", errors));
    if (exit_code == 2 || corruptions != 0)
        return DiskCheck{DiskHealth::Damaged, fmt::format("{} damaged places, {} leaks", corruptions, leaks)};
    if (exit_code == 3 || leaks != 0) return DiskCheck{DiskHealth::Leaks, fmt::format("{} leaks", leaks)};
    return DiskCheck{};
}

}  // namespace dormouse::vmm
