// SPDX-License-Identifier: Apache-2.0
#include "fake_rfb_server.h"

#include <gtest/gtest.h>
#include <rfb/rfb.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <future>

namespace dormouse::display::testing {

namespace {

// The server keeps red in the lowest byte, unlike us: what arrives right was
// converted as the client asked for.
Pixel server_pixel(Pixel pixel) {
    return ((pixel >> 16) & 0xff) | (pixel & 0xff00) | ((pixel & 0xff) << 16);
}

void be_quiet(const char*, ...) {}

rfbCursorPtr make_cursor(Size size, int hot_x, int hot_y, Pixel pixel) {
    auto* cursor = static_cast<rfbCursorPtr>(std::calloc(1, sizeof(rfbCursor)));
    const auto count = static_cast<std::size_t>(size.width) * static_cast<std::size_t>(size.height);
    const auto mask_row = (static_cast<std::size_t>(size.width) + 7) / 8;
    cursor->cleanup = cursor->cleanupMask = cursor->cleanupRichSource = TRUE;
    cursor->width = static_cast<unsigned short>(size.width);
    cursor->height = static_cast<unsigned short>(size.height);
    cursor->xhot = static_cast<unsigned short>(hot_x);
    cursor->yhot = static_cast<unsigned short>(hot_y);
    auto* colours = static_cast<Pixel*>(std::malloc(count * sizeof(Pixel)));
    std::fill_n(colours, count, server_pixel(pixel));
    cursor->richSource = reinterpret_cast<unsigned char*>(colours);
    cursor->mask = static_cast<unsigned char*>(std::malloc(mask_row * static_cast<std::size_t>(size.height)));
    std::fill_n(cursor->mask, mask_row * static_cast<std::size_t>(size.height),
                static_cast<unsigned char>(0xff));
    cursor->mask[0] = 0x7f;
    return cursor;
}

}  // namespace

FakeRfbServer::FakeRfbServer(Size size)
    : pixels_(static_cast<std::size_t>(size.width) * static_cast<std::size_t>(size.height)) {
    rfbLog = rfbErr = be_quiet;
    std::array<int, 2> ends{-1, -1};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
    client_end_ = UniqueFd{ends[0]};
    server_end_ = UniqueFd{ends[1]};
    screen_ = rfbGetScreen(nullptr, nullptr, size.width, size.height, 8, 3, 4);
    screen_->frameBuffer = reinterpret_cast<char*>(pixels_.data());
    screen_->port = 0;
    screen_->autoPort = FALSE;
    screen_->httpDir = nullptr;
    screen_->deferUpdateTime = 0;
    screen_->screenData = this;
    screen_->setXCutText = [](char*, int, rfbClientRec* client) {
        ++static_cast<FakeRfbServer*>(client->screen->screenData)->clipboards_;
    };
    thread_ = std::thread{[this] { serve(); }};
}

FakeRfbServer::~FakeRfbServer() {
    stopping_ = true;
    thread_.join();
    screen_->frameBuffer = nullptr;
    rfbScreenCleanup(screen_);
}

void FakeRfbServer::serve() {
    rfbNewClient(screen_, server_end_.release());
    while (!stopping_) {
        rfbProcessEvents(screen_, 2000);
        std::vector<std::function<void()>> jobs;
        {
            const std::lock_guard lock{mutex_};
            jobs.swap(jobs_);
        }
        for (const auto& job : jobs) job();
    }
    rfbShutdownServer(screen_, TRUE);
}

void FakeRfbServer::run(const std::function<void()>& job) {
    std::promise<void> done;
    {
        const std::lock_guard lock{mutex_};
        jobs_.emplace_back([&] {
            job();
            done.set_value();
        });
    }
    done.get_future().wait();
}

void FakeRfbServer::fill(const Rect& rect, Pixel pixel) {
    run([&] {
        for (int y = rect.y; y < rect.bottom(); ++y)
            std::fill_n(pixels_.begin() + std::ptrdiff_t{y} * screen_->width + rect.x, rect.width,
                        server_pixel(pixel));
        rfbMarkRectAsModified(screen_, rect.x, rect.y, rect.right(), rect.bottom());
    });
}

void FakeRfbServer::resize(Size size, Pixel pixel) {
    run([&] {
        retired_ = std::move(pixels_);
        pixels_.assign(static_cast<std::size_t>(size.width) * static_cast<std::size_t>(size.height),
                       server_pixel(pixel));
        rfbNewFramebuffer(screen_, reinterpret_cast<char*>(pixels_.data()), size.width, size.height, 8, 3, 4);
    });
}

void FakeRfbServer::show_cursor(Size size, int hot_x, int hot_y, Pixel pixel) {
    run([&] { rfbSetCursor(screen_, make_cursor(size, hot_x, hot_y, pixel)); });
}

void FakeRfbServer::move_cursor(int x, int y) {
    run([&] {
        screen_->cursorX = x;
        screen_->cursorY = y;
        auto* clients = rfbGetClientIterator(screen_);
        while (auto* client = rfbClientIteratorNext(clients)) client->cursorWasMoved = TRUE;
        rfbReleaseClientIterator(clients);
    });
}

void FakeRfbServer::close_connection() {
    run([&] {
        auto* clients = rfbGetClientIterator(screen_);
        while (auto* client = rfbClientIteratorNext(clients)) rfbCloseClient(client);
        rfbReleaseClientIterator(clients);
    });
}

}  // namespace dormouse::display::testing
