// SPDX-License-Identifier: Apache-2.0
#include "hostd/cli/doctor_view.h"

#include <fcntl.h>
#include <linux/fscrypt.h>
#include <netdb.h>
#include <pwd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>

#include "hostd/base/file.h"
#include "hostd/base/process.h"

namespace dormouse::cli::doctor {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMostRead = 1 << 20;
constexpr unsigned kPermissions = 07777;

FileKind kind_of(mode_t mode) {
    if (S_ISDIR(mode)) return FileKind::Folder;
    if (S_ISREG(mode)) return FileKind::File;
    return S_ISLNK(mode) ? FileKind::Link : FileKind::Other;
}

std::optional<pid_t> pid_of(const fs::path& folder) {
    const auto name = folder.filename().string();
    pid_t pid = 0;
    const auto parsed = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (parsed.ec != std::errc{} || parsed.ptr != name.data() + name.size()) return std::nullopt;
    return pid;
}

}  // namespace

uid_t RealHostView::uid() {
    return ::geteuid();
}

Result<std::string> RealHostView::run(const std::vector<std::string>& command) {
    return run_checked({.argv = command}, {.timeout = std::chrono::seconds{20}});
}

bool RealHostView::in_path(const std::string& program) {
    const char* value = ::getenv("PATH");
    std::string_view path = value ? value : "";
    while (!path.empty()) {
        const auto end = std::min(path.find(':'), path.size());
        const auto candidate = fs::path{path.substr(0, end)} / program;
        if (end > 0 && ::access(candidate.c_str(), X_OK) == 0) return true;
        path.remove_prefix(std::min(end + 1, path.size()));
    }
    return false;
}

bool RealHostView::has_user(const std::string& name) {
    return ::getpwnam(name.c_str()) != nullptr;
}

std::vector<ProcessFacts> RealHostView::processes() {
    std::vector<ProcessFacts> all;
    for (const auto& entry : list("/proc")) {
        const auto pid = pid_of(entry);
        if (!pid || *pid == ::getpid()) continue;
        auto command = read(entry / "cmdline");
        if (!command) continue;  // it has ended
        std::replace(command->begin(), command->end(), '\0', ' ');
        all.push_back({*pid, std::move(*command)});
    }
    return all;
}

Result<std::string> RealHostView::read(const fs::path& file) {
    return read_file(file, kMostRead);
}

Result<FileFacts> RealHostView::look(const fs::path& path) {
    struct stat info {};
    if (::lstat(path.c_str(), &info) != 0) {
        if (errno == ENOENT) return fail(Errc::NotFound, path.string() + " is not there");
        return fail_errno(path.string());
    }
    const auto changed =
        std::chrono::seconds{info.st_mtim.tv_sec} + std::chrono::nanoseconds{info.st_mtim.tv_nsec};
    return FileFacts{kind_of(info.st_mode), info.st_uid, info.st_mode & kPermissions, WallTime{changed}};
}

std::vector<fs::path> RealHostView::list(const fs::path& folder) {
    std::vector<fs::path> all;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator{folder, error}) all.push_back(entry.path());
    std::sort(all.begin(), all.end());
    return all;
}

fs::path RealHostView::resolve(const fs::path& path) {
    std::error_code error;
    auto resolved = fs::canonical(path, error);
    return error ? fs::path{} : resolved;
}

bool RealHostView::may_open(const fs::path& path) {
    return ::access(path.c_str(), R_OK | W_OK) == 0;
}

Result<std::uint64_t> RealHostView::free_bytes(const fs::path& folder) {
    struct statvfs info {};
    if (::statvfs(folder.c_str(), &info) != 0) return fail_errno(folder.string());
    return std::uint64_t{info.f_bavail} * info.f_frsize;
}

bool RealHostView::is_encrypted_folder(const fs::path& folder) {
    const auto fd = open_file(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (!fd) return false;
    fscrypt_get_policy_ex_arg policy{};
    policy.policy_size = sizeof policy.policy;
    return ::ioctl(fd->get(), FS_IOC_GET_ENCRYPTION_POLICY_EX, &policy) == 0;
}

bool RealHostView::is_locked(const fs::path& file) {
    std::error_code error;
    if (!fs::exists(file, error)) return false;
    const auto lock = lock_file(file);
    return !lock && lock.error().code == Errc::Conflict;
}

int RealHostView::why_not_listen(const Config& config) {
    const addrinfo wanted{.ai_flags = AI_NUMERICSERV, .ai_socktype = SOCK_STREAM};
    addrinfo* found = nullptr;
    const auto port = std::to_string(config.listen_port);
    if (::getaddrinfo(config.listen_address.c_str(), port.c_str(), &wanted, &found) != 0)
        return EADDRNOTAVAIL;
    const UniqueFd fd{::socket(found->ai_family, found->ai_socktype | SOCK_CLOEXEC, 0)};
    // As servers do: what is left of closed connections is in nobody's way.
    const int yes = 1;
    int why = 0;
    if (!fd || ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0 ||
        ::bind(fd.get(), found->ai_addr, found->ai_addrlen) != 0 || ::listen(fd.get(), 1) != 0)
        why = errno;
    ::freeaddrinfo(found);
    return why;
}

}  // namespace dormouse::cli::doctor
