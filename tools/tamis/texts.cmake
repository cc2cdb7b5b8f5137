# SPDX-License-Identifier: BSD-2-Clause
# Makes a C file of texts that the command prints: cmake -D TO=texts.c -D TEXTS="NAME=FILE;..." -P texts.cmake
#
# Each text becomes `const char NAME[]`.  The first line of its file, which has the licence, is left out.  The
# bytes stand as numbers, so a text may have any character and any length.
set(made "/* Made by texts.cmake. */\n")
foreach(text ${TEXTS})
    string(REPLACE "=" ";" text ${text})
    list(GET text 0 name)
    list(GET text 1 file)
    file(READ ${CMAKE_CURRENT_SOURCE_DIR}/${file} content)
    string(REGEX REPLACE "^[^\n]*SPDX-License-Identifier[^\n]*\n" "" content "${content}")
    string(HEX "${content}" bytes)
    string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
    string(APPEND made "\nconst char ${name}[] = {${bytes}0};\n")
endforeach()
file(WRITE ${TO} "${made}")
