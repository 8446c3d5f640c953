// SPDX-License-Identifier: Apache-2.0
#include "vmm/memory_image.h"

#include <fcntl.h>
#include <poll.h>
#include <sodium.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "hostd/base/file.h"
#include "vmm/migration_stream.h"
#include "vmm/migration_writer.h"

namespace dormouse::vmm {

namespace fs = std::filesystem;

namespace {

using Cancelled = std::function<bool()>;

constexpr std::size_t kChunk = 1 << 20;

bool asked_to_stop(const Cancelled& cancelled) {
    return cancelled && cancelled();
}

tl::unexpected<Error> interrupted() {
    return fail(Errc::Interrupted, "the work on the memory image was cancelled");
}

Result<> write_at(int fd, std::span<const std::byte> bytes, std::uint64_t offset) {
    while (!bytes.empty()) {
        const auto written = ::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset));
        if (written < 0) {
            if (errno == EINTR) continue;
            return fail_errno("cannot write the memory image");
        }
        bytes = bytes.subspan(static_cast<std::size_t>(written));
        offset += static_cast<std::uint64_t>(written);
    }
    return {};
}

// The number of bytes read, less than asked for only at the end of the file.
Result<std::size_t> read_at(int fd, std::span<std::byte> into, std::uint64_t offset) {
    std::size_t done = 0;
    while (done < into.size()) {
        const auto got =
            ::pread(fd, into.data() + done, into.size() - done, static_cast<off_t>(offset + done));
        if (got < 0) {
            if (errno == EINTR) continue;
            return fail_errno("cannot read the memory image");
        }
        if (got == 0) break;
        done += static_cast<std::size_t>(got);
    }
    return done;
}

class Digest {
  public:
    Digest() { crypto_generichash_init(&state_, nullptr, 0, crypto_generichash_BYTES); }
    void add(std::span<const std::byte> bytes) {
        crypto_generichash_update(&state_, reinterpret_cast<const unsigned char*>(bytes.data()),
                                  bytes.size());
    }
    void add(std::uint64_t number) {
        std::array<std::byte, 8> bytes;
        for (auto& byte : bytes) {
            byte = static_cast<std::byte>(number >> 56);
            number <<= 8;
        }
        add(bytes);
    }
    std::string hex() {
        std::array<unsigned char, crypto_generichash_BYTES> hash;
        crypto_generichash_final(&state_, hash.data(), hash.size());
        std::string text;
        for (const auto byte : hash) text += fmt::format("{:02x}", byte);
        return text;
    }

  private:
    crypto_generichash_state state_;
};

// Writes pages at their offsets, neighbours in one go.
class ImageWriter final : public PageSink {
  public:
    ImageWriter(int fd, std::uint64_t length) : fd_(fd), written_(length / kPageSize) {
        run_.reserve(kChunk);
    }

    Result<> on_page(std::uint64_t offset, std::span<const std::byte> page) override {
        if (offset != run_start_ + run_.size() || run_.size() >= kChunk) {
            DORMOUSE_TRY(flush());
            run_start_ = offset;
        }
        run_.insert(run_.end(), page.begin(), page.end());
        written_[offset / kPageSize] = true;
        return {};
    }
    Result<> on_zero(std::uint64_t offset) override {
        static constexpr std::array<std::byte, kPageSize> kZero{};
        // A hole already, unless an earlier record of the same page is to be undone.
        if (!written_[offset / kPageSize]) return {};
        return on_page(offset, kZero);
    }
    Result<> flush() {
        auto done = write_at(fd_, run_, run_start_);
        run_.clear();
        return done;
    }

  private:
    int fd_;
    std::vector<bool> written_;
    std::vector<std::byte> run_;
    std::uint64_t run_start_ = 0;
};

Result<MachineState> read_stream(int stream_fd, ImageWriter& pages, std::uint64_t ram_bytes,
                                 const Cancelled& cancelled) {
    StreamLimits limits;
    limits.main_length = ram_bytes;
    StreamSplitter splitter{pages, limits};
    // Fewer and larger reads where it is a pipe; elsewhere it fails and does no harm.
    ::fcntl(stream_fd, F_SETPIPE_SZ, static_cast<int>(kChunk));
    std::vector<std::byte> buffer(kChunk);
    for (;;) {
        if (asked_to_stop(cancelled)) return interrupted();
        pollfd ready{stream_fd, POLLIN, 0};
        if (::poll(&ready, 1, 200) == 0) continue;
        const auto got = ::read(stream_fd, buffer.data(), buffer.size());
        if (got < 0) {
            if (errno == EINTR || errno == EAGAIN) continue;
            return fail_errno("cannot read the migration stream");
        }
        if (got == 0) break;
        DORMOUSE_TRY(splitter.feed(std::span{buffer}.first(static_cast<std::size_t>(got))));
    }
    DORMOUSE_TRY_ASSIGN(auto state, splitter.finish());
    if (state.main_length != ram_bytes)
        return fail(Errc::Corrupt, fmt::format("migration stream: main memory of {} bytes, {} expected",
                                               state.main_length, ram_bytes));
    DORMOUSE_TRY(pages.flush());
    return state;
}

Result<> sync_file(int fd, const fs::path& path) {
    if (::fsync(fd) != 0) return fail_errno(fmt::format("cannot sync {}", path.string()));
    return {};
}

// The length and the allocated bytes; no digest yet.
Result<ImageFile> file_sizes(int fd, const fs::path& path) {
    struct stat info {};
    if (::fstat(fd, &info) != 0) return fail_errno(fmt::format("cannot look at {}", path.string()));
    return ImageFile{
        static_cast<std::uint64_t>(info.st_size), static_cast<std::uint64_t>(info.st_blocks) * 512, {}};
}

// Adds the pages of [start, end) that are not zero.
Result<> digest_extent(int fd, std::uint64_t start, std::uint64_t end, Digest& digest,
                       const Cancelled& cancelled) {
    std::vector<std::byte> buffer(kChunk);
    start -= start % kPageSize;
    while (start < end) {
        if (asked_to_stop(cancelled)) return interrupted();
        DORMOUSE_TRY_ASSIGN(auto count, read_at(fd, buffer, start));
        if (count == 0) break;
        std::fill(buffer.begin() + static_cast<std::ptrdiff_t>(count), buffer.end(), std::byte{0});
        count = std::min<std::uint64_t>(count, end - start);
        for (std::size_t at = 0; at < count; at += kPageSize) {
            const auto page = std::span{buffer}.subspan(at, kPageSize);
            if (is_zero_page(page)) continue;
            digest.add(start + at);
            digest.add(page);
        }
        start += kChunk;
    }
    return {};
}

// Over what a reader sees, not over what the file system allocated: a copy of
// the file with other holes has the same digest.
Result<std::string> digest_base(int fd, std::uint64_t size, const Cancelled& cancelled) {
    Digest digest;
    digest.add(size);
    std::uint64_t at = 0;
    while (at < size) {
        const auto data = ::lseek(fd, static_cast<off_t>(at), SEEK_DATA);
        if (data < 0 && errno == ENXIO) break;  // only holes from here on
        const auto hole = data < 0 ? data : ::lseek(fd, data, SEEK_HOLE);
        if (hole < 0) return fail_errno("cannot find the data in the memory image");
        const auto from = std::max(at, static_cast<std::uint64_t>(data));
        // Where an extent ends inside a page, that page is taken whole with it.
        const auto end = (static_cast<std::uint64_t>(hole) + kPageSize - 1) / kPageSize * kPageSize;
        DORMOUSE_TRY(digest_extent(fd, from, end, digest, cancelled));
        at = end;
    }
    return digest.hex();
}

Result<std::string> digest_file(int fd, const Cancelled& cancelled) {
    Digest digest;
    std::vector<std::byte> buffer(kChunk);
    for (std::uint64_t at = 0;;) {
        if (asked_to_stop(cancelled)) return interrupted();
        DORMOUSE_TRY_ASSIGN(const auto count, read_at(fd, buffer, at));
        if (count == 0) return digest.hex();
        digest.add(std::span{buffer}.first(count));
        at += count;
    }
}

Result<ImageFile> write_wake(const MachineState& state, const fs::path& path, const Cancelled& cancelled) {
    DORMOUSE_TRY_ASSIGN(const auto file, open_file(path, O_RDWR | O_CREAT | O_TRUNC));
    DORMOUSE_TRY(write_stream(state, [&](std::span<const std::byte> bytes) {
        return write_all(file.get(), {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    }));
    DORMOUSE_TRY(sync_file(file.get(), path));
    DORMOUSE_TRY_ASSIGN(auto result, file_sizes(file.get(), path));
    DORMOUSE_TRY_ASSIGN(result.digest, digest_file(file.get(), cancelled));
    return result;
}

Result<MemoryImage> make_image(int stream_fd, const fs::path& folder, std::uint64_t ram_bytes,
                               const Cancelled& cancelled) {
    const auto base_path = folder / kBaseFile;
    DORMOUSE_TRY(create_blank_base(base_path, ram_bytes));
    DORMOUSE_TRY_ASSIGN(const auto base, open_file(base_path, O_RDWR));
    ImageWriter pages{base.get(), ram_bytes};
    DORMOUSE_TRY_ASSIGN(const auto state, read_stream(stream_fd, pages, ram_bytes, cancelled));

    MemoryImage image;
    image.machine_type = state.machine_type;
    DORMOUSE_TRY_ASSIGN(image.wake, write_wake(state, folder / kWakeFile, cancelled));
    DORMOUSE_TRY_ASSIGN(auto digest, digest_base(base.get(), ram_bytes, cancelled));
    DORMOUSE_TRY(sync_file(base.get(), base_path));
    DORMOUSE_TRY_ASSIGN(image.base, file_sizes(base.get(), base_path));
    image.base.digest = std::move(digest);
    DORMOUSE_TRY(sync_directory(folder));
    return image;
}

Result<> verify_file(const fs::path& path, const ImageFile& expected, bool is_base,
                     const Cancelled& cancelled) {
    DORMOUSE_TRY_ASSIGN(const auto file, open_file(path, O_RDONLY));
    DORMOUSE_TRY_ASSIGN(const auto actual, file_sizes(file.get(), path));
    if (actual.size != expected.size)
        return fail(Errc::Corrupt,
                    fmt::format("{} has {} bytes instead of {}", path.string(), actual.size, expected.size));
    DORMOUSE_TRY_ASSIGN(const auto digest, is_base ? digest_base(file.get(), actual.size, cancelled)
                                                   : digest_file(file.get(), cancelled));
    if (digest != expected.digest)
        return fail(Errc::Corrupt,
                    fmt::format("{} is not as it was written: its digest differs", path.string()));
    return {};
}

}  // namespace

Result<MemoryImage> split_into_image(int stream_fd, const fs::path& folder, std::uint64_t ram_bytes,
                                     const Cancelled& cancelled) {
    if (ram_bytes == 0 || ram_bytes % kPageSize != 0)
        return fail(Errc::InvalidArgument, fmt::format("main memory cannot have {} bytes", ram_bytes));
    auto image = make_image(stream_fd, folder, ram_bytes, cancelled);
    if (!image) {
        ::unlink((folder / kBaseFile).c_str());
        ::unlink((folder / kWakeFile).c_str());
    }
    return image;
}

Result<> verify_image(const fs::path& folder, const MemoryImage& image, const Cancelled& cancelled) {
    DORMOUSE_TRY(verify_file(folder / kBaseFile, image.base, true, cancelled));
    return verify_file(folder / kWakeFile, image.wake, false, cancelled);
}

Result<> create_blank_base(const fs::path& path, std::uint64_t ram_bytes) {
    // Never written over: another machine may have the old one mapped.
    if (::unlink(path.c_str()) != 0 && errno != ENOENT)
        return fail_errno(fmt::format("cannot replace {}", path.string()));
    DORMOUSE_TRY_ASSIGN(const auto file, open_file(path, O_RDWR | O_CREAT | O_EXCL));
    if (::ftruncate(file.get(), static_cast<off_t>(ram_bytes)) != 0)
        return fail_errno(fmt::format("cannot make {}", path.string()));
    return {};
}

}  // namespace dormouse::vmm
