// SPDX-License-Identifier: Apache-2.0
#include "guest/agent/program.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <memory>

#include "guest/protocol/messages.h"

namespace dormouse::agent {

namespace {

constexpr Duration kKillGrace = std::chrono::seconds{2};
constexpr std::size_t kReadSize = 64 << 10;
// So that one program that writes without end leaves the loop time for others.
constexpr int kReadsInARow = 4;

struct Pipe {
    UniqueFd reader;
    UniqueFd writer;
};

Result<Pipe> make_pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return fail_errno("cannot make a pipe");
    return Pipe{UniqueFd{ends[0]}, UniqueFd{ends[1]}};
}

void make_nonblocking(const UniqueFd& fd) {
    ::fcntl(fd.get(), F_SETFL, ::fcntl(fd.get(), F_GETFL) | O_NONBLOCK);
}

// One program that runs. Kept alive by the coroutine that waits for it.
class Running {
  public:
    Running(EventLoop& loop, std::string input)
        : loop_(loop),
          input_(std::move(input)),
          out_(guest::kMaxOutput),
          err_(guest::kMaxOutput),
          ended_(loop) {}
    ~Running() {
        loop_.cancel_timer(timer_);
        if (!ended_.done()) ::kill(-child_.pid, SIGKILL);
    }

    Result<> start(CommandLine command, Duration timeout) {
        DORMOUSE_TRY_ASSIGN(auto in, make_pipe());
        DORMOUSE_TRY_ASSIGN(auto out, make_pipe());
        DORMOUSE_TRY_ASSIGN(auto err, make_pipe());
        command.new_session = true;
        command.descriptors = {{0, in.reader.get()}, {1, out.writer.get()}, {2, err.writer.get()}};
        ForkSpawner spawner;
        DORMOUSE_TRY_ASSIGN(child_, spawner.start(command));
        in_ = std::move(in.writer);
        out_fd_ = std::move(out.reader);
        err_fd_ = std::move(err.reader);
        for (const auto* fd : {&in_, &out_fd_, &err_fd_}) make_nonblocking(*fd);
        if (input_.empty())
            in_.reset();
        else
            in_watch_ = loop_.watch(in_.get(), POLLOUT, [this](short) { feed(); });
        out_watch_ = loop_.watch(out_fd_.get(), POLLIN, [this](short) { read(out_fd_, out_, out_watch_); });
        err_watch_ = loop_.watch(err_fd_.get(), POLLIN, [this](short) { read(err_fd_, err_, err_watch_); });
        exit_watch_ = loop_.watch(child_.pidfd.get(), POLLIN, [this](short) { on_exit(); });
        timer_ = loop_.after(timeout, [this] { on_timeout(); });
        return {};
    }

    Completion<bool> ended() const { return ended_; }

    ProgramOutcome outcome() {
        return {status_, timed_out_, out_.take(), err_.take(), out_.left_out(), err_.left_out()};
    }

  private:
    void feed() {
        const auto written = ::write(in_.get(), input_.data() + fed_, input_.size() - fed_);
        if (written > 0) fed_ += static_cast<std::size_t>(written);
        const bool broken = written < 0 && errno != EAGAIN && errno != EINTR;
        if (broken || fed_ == input_.size()) {
            in_watch_.reset();
            in_.reset();
        }
    }

    void read(const UniqueFd& fd, OutputKeeper& keeper, EventLoop::IoWatch& watch) {
        char buffer[kReadSize];
        for (int i = 0; i < kReadsInARow; ++i) {
            const auto got = ::read(fd.get(), buffer, sizeof buffer);
            if (got > 0) {
                keeper.add({buffer, static_cast<std::size_t>(got)});
                continue;
            }
            if (got == 0 || (errno != EAGAIN && errno != EINTR)) watch.reset();
            return;
        }
    }

    void on_timeout() {
        if (timed_out_) {
            ::kill(-child_.pid, SIGKILL);
            return;
        }
        timed_out_ = true;
        ::kill(-child_.pid, SIGTERM);
        timer_ = loop_.after(kKillGrace, [this] { on_timeout(); });
    }

    void on_exit() {
        exit_watch_.reset();
        // Once more for what it wrote last; a pipe holds less than this reads.
        if (out_watch_) read(out_fd_, out_, out_watch_);
        if (err_watch_) read(err_fd_, err_, err_watch_);
        out_watch_.reset();
        err_watch_.reset();
        in_watch_.reset();
        status_ = wait_exit(child_);
        if (timed_out_) ::kill(-child_.pid, SIGKILL);
        ended_.complete(true);
    }

    EventLoop& loop_;
    std::string input_;
    std::size_t fed_ = 0;
    OutputKeeper out_;
    OutputKeeper err_;
    Completion<bool> ended_;
    Child child_;
    ExitStatus status_;
    bool timed_out_ = false;
    UniqueFd in_;
    UniqueFd out_fd_;
    UniqueFd err_fd_;
    EventLoop::IoWatch in_watch_;
    EventLoop::IoWatch out_watch_;
    EventLoop::IoWatch err_watch_;
    EventLoop::IoWatch exit_watch_;
    EventLoop::TimerId timer_ = 0;
};

}  // namespace

void OutputKeeper::add(std::string_view bytes) {
    const auto to_head = std::min(bytes.size(), half_ - head_.size());
    head_ += bytes.substr(0, to_head);
    tail_ += bytes.substr(to_head);
    // Cut seldom: each cut moves what stays.
    if (tail_.size() > 2 * half_) {
        left_out_ += tail_.size() - half_;
        tail_.erase(0, tail_.size() - half_);
    }
}

std::string OutputKeeper::take() {
    if (tail_.size() > half_) {
        left_out_ += tail_.size() - half_;
        tail_.erase(0, tail_.size() - half_);
    }
    if (left_out_ > 0) head_ += fmt::format("\n[... {} bytes left out ...]\n", left_out_);
    return std::move(head_) + tail_;
}

Task<Result<ProgramOutcome>> run_program(EventLoop& loop, CommandLine command, std::string input,
                                         Duration timeout) {
    const auto running = std::make_shared<Running>(loop, std::move(input));
    DORMOUSE_CO_TRY(running->start(std::move(command), timeout));
    auto ended = running->ended();
    (void)co_await ended;
    co_return running->outcome();
}

}  // namespace dormouse::agent
