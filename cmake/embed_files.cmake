# SPDX-License-Identifier: Apache-2.0
set(declarations "")
set(definitions "")
foreach(pair IN LISTS PAIRS)
    string(REGEX REPLACE "=.*$" "" name "${pair}")
    string(REGEX REPLACE "^[^=]+=" "" file "${pair}")
    file(READ ${ROOT}/${file} hex HEX)
    string(LENGTH "${hex}" digits)
    math(EXPR size "${digits} / 2")
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
    string(APPEND declarations "extern const std::string_view k${name};\n")
    string(APPEND definitions
        "static const unsigned char data_${name}[] = {${bytes}0};\n"
        "extern const std::string_view k${name}{reinterpret_cast<const char*>(data_${name}), ${size}};\n")
endforeach()
file(WRITE ${HEADER} "#pragma once\n#include <string_view>\nnamespace ${NAMESPACE} {\n${declarations}}\n")
file(WRITE ${SOURCE} "#include <string_view>\nnamespace ${NAMESPACE} {\n${definitions}}\n")
