# SPDX-License-Identifier: Apache-2.0
# -Wrestrict: GCC 12 warns of std::string where nothing is wrong (its bug 105651).
add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wold-style-cast
    -Wcast-align -Woverloaded-virtual -Wno-missing-field-initializers -Wno-restrict -Wimplicit-fallthrough -Wswitch -Werror=unused-result)
if(DORMOUSE_WERROR)
    add_compile_options(-Werror)
endif()
# The same sources give the same binary in any checkout: the cache of baked
# templates is keyed by what is in them.
add_compile_options(-ffile-prefix-map=${CMAKE_SOURCE_DIR}/=)
