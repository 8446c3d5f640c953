// SPDX-License-Identifier: Apache-2.0
#include "display/scale.h"

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace dormouse::display {

namespace {

// What one pixel of a side is made of: `first` and the pixels after it.
struct Share {
    std::size_t first = 0;
    std::vector<float> weights;  // sum up to 1
};

// In units of 1/to of a source pixel everything is a whole number.
std::vector<Share> shares_of_smaller(int from, int to) {
    std::vector<Share> shares;
    for (std::int64_t i = 0; i < to; ++i) {
        const auto begin = i * from;
        const auto end = begin + from;
        Share share{static_cast<std::size_t>(begin / to), {}};
        for (auto pixel = begin / to; pixel * to < end; ++pixel) {
            const auto covered = std::min(end, (pixel + 1) * to) - std::max(begin, pixel * to);
            share.weights.push_back(static_cast<float>(covered) / static_cast<float>(from));
        }
        shares.push_back(std::move(share));
    }
    return shares;
}

std::vector<Share> shares_of_larger(int from, int to) {
    std::vector<Share> shares;
    for (int i = 0; i < to; ++i) {
        const double center = (i + 0.5) * from / to - 0.5;
        const double inside = std::clamp(center, 0.0, from - 1.0);
        const auto first = static_cast<std::size_t>(inside);
        const auto rest = static_cast<float>(inside - std::floor(inside));
        Share share{first, {1 - rest}};
        if (rest > 0) share.weights.push_back(rest);
        shares.push_back(std::move(share));
    }
    return shares;
}

std::vector<Share> shares(int from, int to) {
    return to <= from ? shares_of_smaller(from, to) : shares_of_larger(from, to);
}

constexpr std::size_t kChannels = 3;

// One row of the picture between the two passes: already its height, still the
// source's width. Channel after channel, which compilers can make vector code of.
class Row {
  public:
    explicit Row(std::size_t width) : width_(width), values_(width * kChannels) {}

    void clear() { std::fill(values_.begin(), values_.end(), 0.0F); }
    void add(std::span<const Pixel> pixels, float weight) {
        for (std::size_t channel = 0; channel < kChannels; ++channel) {
            float* values = values_.data() + channel * width_;
            const auto shift = static_cast<unsigned>(channel * 8);
            for (std::size_t x = 0; x < width_; ++x)
                values[x] += weight * static_cast<float>(static_cast<int>((pixels[x] >> shift) & 0xff));
        }
    }
    Pixel at(const Share& share) const {
        Pixel pixel = 0xff000000;
        for (std::size_t channel = 0; channel < kChannels; ++channel) {
            const float* values = values_.data() + channel * width_ + share.first;
            float sum = 0.5F;  // rounds
            for (std::size_t i = 0; i < share.weights.size(); ++i) sum += values[i] * share.weights[i];
            const auto value = static_cast<Pixel>(std::clamp(static_cast<int>(sum), 0, 255));
            pixel |= value << (channel * 8);
        }
        return pixel;
    }

  private:
    std::size_t width_;
    std::vector<float> values_;
};

}  // namespace

Image scale_image(const ImageView& from, Size size) {
    const auto columns = shares(from.size.width, size.width);
    const auto rows = shares(from.size.height, size.height);
    Image image{size};
    Row sum{static_cast<std::size_t>(from.size.width)};
    for (int y = 0; y < size.height; ++y) {
        const auto& share = rows[static_cast<std::size_t>(y)];
        sum.clear();
        for (std::size_t i = 0; i < share.weights.size(); ++i)
            sum.add(from.row(static_cast<int>(share.first + i)), share.weights[i]);
        const auto out = image.row(y);
        for (std::size_t x = 0; x < out.size(); ++x) out[x] = sum.at(columns[x]);
    }
    return image;
}

}  // namespace dormouse::display
