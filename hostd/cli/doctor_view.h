// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "hostd/base/clock.h"
#include "hostd/base/config.h"
#include "hostd/base/result.h"

namespace dormouse::cli::doctor {

enum class FileKind { Folder, File, Link, Other };
struct FileFacts {
    FileKind kind = FileKind::File;
    uid_t owner = 0;
    unsigned mode = 0;  // permission bits
    WallTime changed;   // its content
};
struct ProcessFacts {
    pid_t pid = 0;
    std::string command;  // with its arguments, separated by spaces
};

// This machine as the doctor sees it. Looks only. Real: RealHostView; tests say
// what there is to be seen.
class HostView {
  public:
    virtual ~HostView() = default;
    virtual uid_t uid() = 0;
    virtual WallTime now() = 0;
    // Runs a program and gives what it says; an error when it cannot, or fails.
    virtual Result<std::string> run(const std::vector<std::string>& command) = 0;
    virtual bool in_path(const std::string& program) = 0;
    virtual bool has_user(const std::string& name) = 0;
    virtual std::vector<ProcessFacts> processes() = 0;

    virtual Result<std::string> read(const std::filesystem::path& file) = 0;  // at most 1 MiB
    virtual Result<FileFacts> look(const std::filesystem::path& path) = 0;    // Errc::NotFound when absent
    virtual std::vector<std::filesystem::path> list(const std::filesystem::path& folder) = 0;  // sorted paths
    virtual std::filesystem::path resolve(
        const std::filesystem::path& path) = 0;                    // through links; "" when broken
    virtual bool may_open(const std::filesystem::path& path) = 0;  // for reading and writing
    virtual Result<std::uint64_t> free_bytes(const std::filesystem::path& folder) = 0;
    // By the file system itself (fscrypt).
    virtual bool is_encrypted_folder(const std::filesystem::path& folder) = 0;
    virtual bool is_locked(const std::filesystem::path& file) = 0;  // by somebody else, as lock_file() does
    // What keeps a daemon from listening there: an errno, 0 when nothing does.
    virtual int why_not_listen(const Config& config) = 0;
};

class RealHostView final : public HostView {
  public:
    explicit RealHostView(const Clock& clock) : clock_(clock) {}
    uid_t uid() override;
    WallTime now() override { return clock_.wall(); }
    Result<std::string> run(const std::vector<std::string>& command) override;
    bool in_path(const std::string& program) override;
    bool has_user(const std::string& name) override;
    std::vector<ProcessFacts> processes() override;
    Result<std::string> read(const std::filesystem::path& file) override;
    Result<FileFacts> look(const std::filesystem::path& path) override;
    std::vector<std::filesystem::path> list(const std::filesystem::path& folder) override;
    std::filesystem::path resolve(const std::filesystem::path& path) override;
    bool may_open(const std::filesystem::path& path) override;
    Result<std::uint64_t> free_bytes(const std::filesystem::path& folder) override;
    bool is_encrypted_folder(const std::filesystem::path& folder) override;
    bool is_locked(const std::filesystem::path& file) override;
    int why_not_listen(const Config& config) override;

  private:
    const Clock& clock_;
};

}  // namespace dormouse::cli::doctor
