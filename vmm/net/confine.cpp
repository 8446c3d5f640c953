// SPDX-License-Identifier: Apache-2.0
#include "vmm/net/confine.h"

#include <fcntl.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <memory>

namespace dormouse::net {

namespace {

// libslirp keeps up to 256 KiB for each of 512 connections.
constexpr rlim_t kMostMemory = rlim_t{512} << 20;
constexpr rlim_t kMostDescriptors = 1024;

// Sanitizers need more of everything: they map terabytes, read /proc, and look
// into their own process from another.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

Result<> limit(int resource, rlim_t most, const char* what) {
    rlimit limits{};
    if (::getrlimit(static_cast<__rlimit_resource_t>(resource), &limits) != 0) return fail_errno(what);
    if (limits.rlim_max != RLIM_INFINITY && limits.rlim_max < most) most = limits.rlim_max;
    limits = {most, most};
    if (::setrlimit(static_cast<__rlimit_resource_t>(resource), &limits) != 0) return fail_errno(what);
    return {};
}

struct Release {
    void operator()(void* filter) const noexcept { seccomp_release(filter); }
};
using Filter = std::unique_ptr<void, Release>;

Result<> check(int status, const char* what) {
    if (status == 0) return {};
    return fail_errno(fmt::format("cannot forbid system calls ({})", what), -status);
}

Result<> allow_plain(void* filter) {
    constexpr std::array kCalls{SCMP_SYS(read),
                                SCMP_SYS(write),
                                SCMP_SYS(readv),
                                SCMP_SYS(writev),
                                SCMP_SYS(close),
                                SCMP_SYS(lseek),
                                SCMP_SYS(pread64),
                                SCMP_SYS(fstat),
                                SCMP_SYS(newfstatat),
                                SCMP_SYS(stat),
                                SCMP_SYS(statx),
                                SCMP_SYS(fcntl),
                                SCMP_SYS(poll),
                                SCMP_SYS(ppoll),
                                SCMP_SYS(select),
                                SCMP_SYS(pselect6),
                                SCMP_SYS(recvfrom),
                                SCMP_SYS(recvmsg),
                                SCMP_SYS(sendto),
                                SCMP_SYS(sendmsg),
                                SCMP_SYS(bind),
                                SCMP_SYS(connect),
                                SCMP_SYS(accept4),
                                SCMP_SYS(shutdown),
                                SCMP_SYS(getsockname),
                                SCMP_SYS(getpeername),
                                SCMP_SYS(getsockopt),
                                SCMP_SYS(setsockopt),
                                SCMP_SYS(brk),
                                SCMP_SYS(munmap),
                                SCMP_SYS(mremap),
                                SCMP_SYS(madvise),
                                SCMP_SYS(futex),
                                SCMP_SYS(clock_gettime),
                                SCMP_SYS(clock_nanosleep),
                                SCMP_SYS(gettimeofday),
                                SCMP_SYS(time),
                                SCMP_SYS(getrandom),
                                SCMP_SYS(getpid),
                                SCMP_SYS(gettid),
                                SCMP_SYS(getuid),
                                SCMP_SYS(geteuid),
                                SCMP_SYS(getgid),
                                SCMP_SYS(getegid),
                                SCMP_SYS(rt_sigreturn),
                                SCMP_SYS(rt_sigaction),
                                SCMP_SYS(rt_sigprocmask),
                                SCMP_SYS(sigaltstack),
                                SCMP_SYS(restart_syscall),
                                SCMP_SYS(sched_yield),
                                SCMP_SYS(exit),
                                SCMP_SYS(exit_group)};
    for (const int call : kCalls)
        DORMOUSE_TRY(check(seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 0), "list"));
    return {};
}

// Those that depend on what they are asked.
Result<> allow_some(void* filter) {
    const auto allow = [&](int call, auto... arguments) {
        return check(seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, sizeof...(arguments), arguments...),
                     "arguments");
    };
    // Connections, questions to name servers, and the list of this host's
    // addresses. No unix sockets: the keeper and QEMU listen on some.
    for (const int family : {AF_INET, AF_INET6, AF_NETLINK})
        DORMOUSE_TRY(allow(SCMP_SYS(socket), SCMP_A0(SCMP_CMP_EQ, static_cast<scmp_datum_t>(family))));
    constexpr scmp_datum_t kWrites = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND;
    DORMOUSE_TRY(allow(SCMP_SYS(openat), SCMP_A2(SCMP_CMP_MASKED_EQ, kWrites, 0)));
    for (const int call : {SCMP_SYS(mmap), SCMP_SYS(mprotect)})
        DORMOUSE_TRY(allow(call, SCMP_A2(SCMP_CMP_MASKED_EQ, scmp_datum_t{PROT_EXEC}, 0)));
    return {};
}

}  // namespace

Result<> confine_this_process() {
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return fail_errno("cannot give up new privileges");
    DORMOUSE_TRY(limit(RLIMIT_CORE, 0, "cannot forbid core files"));
    DORMOUSE_TRY(limit(RLIMIT_NOFILE, kMostDescriptors, "cannot limit descriptors"));
    if (kSanitized) return {};
    // Same user as QEMU: neither may look into the other.
    if (::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return fail_errno("cannot become undumpable");
    DORMOUSE_TRY(limit(RLIMIT_DATA, kMostMemory, "cannot limit memory"));
    const Filter filter{seccomp_init(SCMP_ACT_ERRNO(EPERM))};
    if (!filter) return fail(Errc::Internal, "cannot forbid system calls");
    DORMOUSE_TRY(allow_plain(filter.get()));
    DORMOUSE_TRY(allow_some(filter.get()));
    return check(seccomp_load(filter.get()), "load");
}

}  // namespace dormouse::net
