// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "display/frame_source.h"
#include "display/image.h"
#include "hostd/base/process.h"
#include "hostd/base/unique_fd.h"

namespace dormouse::display::testing {

// A real QEMU without disks. Blocking; for tests. Ends the process when destroyed.
class RealQemu {
  public:
    static bool installed();

    // `device` draws the screen: virtio-gpu-pci shows QEMU's placeholder until a
    // guest driver comes; VGA shows the firmware looking for something to boot.
    // `display` as its options: D-Bus, or VNC that listens nowhere.
    explicit RealQemu(const std::string& device = "virtio-gpu-pci,xres=1280,yres=800",
                      SourceKind display = SourceKind::Dbus);
    ~RealQemu();
    RealQemu(const RealQemu&) = delete;
    RealQemu& operator=(const RealQemu&) = delete;

    // Hands one end of a new socket pair to QEMU's display, gives the other.
    UniqueFd connect_display();

    // What QEMU itself says that its screen shows.
    Image screendump();

    // One QMP command as JSON text; the reply's line.
    std::string command(const std::string& json, int passed_fd = -1);

  private:
    std::string read_reply();
    std::string read_line();

    SourceKind display_;
    std::string directory_;
    Child child_;
    UniqueFd qmp_;
    std::string buffered_;
};

}  // namespace dormouse::display::testing
