# SPDX-License-Identifier: Apache-2.0
# dormouse_embed(<target> <namespace> NAME=FILE...)
#
# Writes the bytes of each FILE into a generated source of <target>, as
# `const std::string_view k<NAME>` in <namespace>, declared in
# "<target>_embedded.h". Files are read again when they change.
function(dormouse_embed target namespace)
    set(header ${CMAKE_CURRENT_BINARY_DIR}/${target}_embedded.h)
    set(source ${CMAKE_CURRENT_BINARY_DIR}/${target}_embedded.cpp)
    set(files "")
    foreach(pair IN LISTS ARGN)
        string(REGEX REPLACE "^[^=]+=" "" file "${pair}")
        list(APPEND files ${CMAKE_CURRENT_SOURCE_DIR}/${file})
    endforeach()
    add_custom_command(
        OUTPUT ${header} ${source}
        COMMAND ${CMAKE_COMMAND} -DHEADER=${header} -DSOURCE=${source} -DNAMESPACE=${namespace}
                "-DPAIRS=${ARGN}" -DROOT=${CMAKE_CURRENT_SOURCE_DIR} -P ${CMAKE_SOURCE_DIR}/cmake/embed_files.cmake
        DEPENDS ${files} ${CMAKE_SOURCE_DIR}/cmake/embed_files.cmake
        VERBATIM)
    target_sources(${target} PRIVATE ${source} ${header})
    target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR})
endfunction()
