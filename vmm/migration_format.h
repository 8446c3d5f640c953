// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

// The numbers of QEMU's migration stream; for its reader and its writer only.
namespace dormouse::vmm::stream {

constexpr std::uint32_t kMagic = 0x5145564d;  // "QEVM"
constexpr std::uint32_t kVersion = 3;

constexpr unsigned kEof = 0x00;
constexpr unsigned kSectionStart = 0x01;
constexpr unsigned kSectionPart = 0x02;
constexpr unsigned kSectionEnd = 0x03;
constexpr unsigned kSectionFull = 0x04;
constexpr unsigned kSubsection = 0x05;
constexpr unsigned kDescription = 0x06;
constexpr unsigned kConfiguration = 0x07;
constexpr unsigned kCommand = 0x08;
constexpr unsigned kFooter = 0x7e;

constexpr std::string_view kRamSection = "ram";
constexpr std::uint32_t kRamInstance = 0;
constexpr std::uint32_t kRamVersion = 4;

// The low twelve bits of a record of the RAM section.
constexpr std::uint64_t kFlagFull = 0x001;
constexpr std::uint64_t kFlagZero = 0x002;
constexpr std::uint64_t kFlagSizes = 0x004;
constexpr std::uint64_t kFlagPage = 0x008;
constexpr std::uint64_t kFlagEnd = 0x010;
constexpr std::uint64_t kFlagContinue = 0x020;  // the block of the record before; no name follows
constexpr std::uint64_t kFlagXbzrle = 0x040;
constexpr std::uint64_t kFlagHook = 0x080;
constexpr std::uint64_t kFlagCompressed = 0x100;
constexpr std::uint64_t kFlagMask = 0xfff;

constexpr std::uint32_t kLongestMachineType = 255;

}  // namespace dormouse::vmm::stream
