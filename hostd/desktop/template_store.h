// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "hostd/base/clock.h"
#include "hostd/base/id.h"
#include "hostd/base/result.h"
#include "hostd/desktop/template_inputs.h"

namespace dormouse::desktop {

// A baked template: what is in its folder, besides template.json which says this.
struct Template {
    TemplateName name;
    std::string hash;  // of everything that went in; part of the folder's name
    std::filesystem::path folder;

    int memory_mib = 0;
    int cpus = 0;
    int screen_width = 0;
    int screen_height = 0;
    std::string kernel_arguments;
    std::string user;  // the desktop's user

    std::string description;
    std::string parent;  // the recipe that its own inherits; empty when there is none
    std::string locale;
    std::string timezone;
    // The layout that the recipe names. The virtual keyboard is a US one in X
    // whatever this says, so that what is typed through it is exact.
    std::string keyboard = "us";
    WallTime created_at;        // the epoch in templates of early versions
    InputHashes inputs;         // likewise empty
    std::string packages_hash;  // of the first stage

    // What the memory image fits to; a mismatch makes it a plain disk to boot.
    std::string accelerator;
    std::string cpu_model;
    std::string qemu_version;
    std::string command_hash;

    std::filesystem::path kernel() const { return folder / "vmlinuz"; }
    std::filesystem::path initrd() const { return folder / "initrd.img"; }
    std::filesystem::path root_disk() const { return folder / "disk.raw"; }
    std::filesystem::path disk() const { return folder / "disk.qcow2"; }  // the layer of the memory's instant
    std::filesystem::path memory_base() const { return folder / "memory.base"; }
    std::filesystem::path wake_stream() const { return folder / "wake.stream"; }
    std::filesystem::path recipe_file() const { return folder / "recipe.toml"; }
    std::filesystem::path bake_log() const { return folder / "bake.log"; }
    // All zero, of the memory's size: the base of a desktop that boots from disk.
    std::filesystem::path empty_base() const { return folder / "empty.base"; }
};

Result<> write_template_manifest(const Template& made);
Result<Template> read_template(const std::filesystem::path& folder);

// The folder of baked templates. Each name is a link to the folder of its
// newest bake; older bakes stay for as long as a desktop stands on them.
class TemplateStore {
  public:
    explicit TemplateStore(std::filesystem::path root) : root_(std::move(root)) {}

    const std::filesystem::path& root() const { return root_; }
    std::filesystem::path folder_of(const TemplateName& name, const std::string& hash) const;

    // The newest bake. Errc::Unavailable when there is none, with what to do.
    Result<Template> newest(const TemplateName& name) const;
    Result<Template> find(const TemplateName& name, const std::string& hash) const;

    // Makes a complete folder the newest, in one step.
    Result<> publish(const Template& made) const;

    // The newest bake of each name, by name. What cannot be read is left out.
    std::vector<Template> list() const;

    // Takes the name away and removes its bakes but those whose hash is in `used`.
    // Errc::NotFound when there is none of that name.
    Result<> remove(const TemplateName& name, const std::set<std::string>& used) const;

    // Removes the package sets that no template was made from, but `wanted`.
    void collect_packages(const std::string& wanted) const;

    // Removes bakes that are not the newest of their name and whose hash is not
    // in `used`. Gives the folders that it removed.
    std::vector<std::filesystem::path> collect_garbage(const std::set<std::string>& used) const;

  private:
    std::filesystem::path root_;
};

}  // namespace dormouse::desktop
