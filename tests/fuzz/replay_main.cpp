// SPDX-License-Identifier: Apache-2.0
// Runs a fuzz target over the files of a folder, and over mutations of them that
// are the same in every run: what a fuzzer found once stays found.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

void run(const std::string& input) {
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
}

std::string mutate(std::string input, std::mt19937& random) {
    const auto below = [&](std::size_t limit) { return limit ? random() % limit : 0; };
    for (auto rounds = 1 + below(4); rounds > 0; --rounds) {
        switch (below(5)) {
            case 0:
                if (!input.empty()) input[below(input.size())] ^= static_cast<char>(1u << below(8));
                break;
            case 1:
                if (!input.empty()) input[below(input.size())] = static_cast<char>(random());
                break;
            case 2:
                input.insert(below(input.size() + 1), 1, static_cast<char>(random()));
                break;
            case 3:
                if (!input.empty()) input.erase(below(input.size()), 1 + below(8));
                break;
            case 4:
                input.resize(below(input.size() + 1));
                break;
        }
    }
    return input;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: %s CORPUS_FOLDER\n", argv[0]);
        return 2;
    }
    std::vector<std::filesystem::path> files;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator{argv[1], error})
        files.push_back(entry.path());
    if (files.empty()) {
        std::fprintf(stderr, "%s: no inputs to replay\n", argv[1]);
        return 1;
    }
    std::size_t count = 0;
    run({});
    for (const auto& file : files) {
        std::ifstream stream{file, std::ios::binary};
        const std::string input{std::istreambuf_iterator<char>{stream}, {}};
        run(input);
        std::mt19937 random{12345};
        const std::size_t mutations = input.size() > 100'000 ? 50 : 2000;
        for (std::size_t i = 0; i < mutations; ++i) run(mutate(input, random));
        count += mutations + 1;
    }
    std::printf("%zu inputs replayed from %zu files\n", count, files.size());
    return 0;
}
