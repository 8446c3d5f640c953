// SPDX-License-Identifier: Apache-2.0
#include "hostd/cli/exit_code.h"

namespace dormouse::cli {

ExitCode exit_code_of(Errc code) {
    switch (code) {
        case Errc::InvalidArgument:
            return kUsage;
        case Errc::NotFound:
            return kNotFound;
        case Errc::Conflict:
            return kConflict;
        case Errc::Unauthenticated:
        case Errc::Denied:
            return kDenied;
        case Errc::TooLarge:
        case Errc::RateLimited:
        case Errc::Unavailable:
        case Errc::Timeout:
        case Errc::Interrupted:
        case Errc::Io:
        case Errc::Corrupt:
        case Errc::Internal:
            return kFailure;
    }
    return kFailure;
}

}  // namespace dormouse::cli
