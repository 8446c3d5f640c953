# SPDX-License-Identifier: Apache-2.0
if(DORMOUSE_SANITIZE)
    add_compile_options(-fsanitize=${DORMOUSE_SANITIZE} -fno-omit-frame-pointer -g1)
    add_link_options(-fsanitize=${DORMOUSE_SANITIZE})
    if(DORMOUSE_SANITIZE MATCHES "undefined")
        add_compile_options(-fno-sanitize-recover=undefined)
    endif()
endif()
