# SPDX-License-Identifier: BSD-2-Clause
# Writes tamis_ffi.h: the public headers as foreign-function interfaces take them, without preprocessor lines,
# attributes and system headers; whole-number constants become an enum.  LuaJIT knows none of more than 32 bits: those are left out.
#   cmake -DCC=COMPILER -DINCLUDE=store/include -DHEADERS="tamis.h tamis_errors.h ..." -DWORK=DIRECTORY -DOUT=tamis_ffi.h -P ffi_header.cmake
cmake_minimum_required(VERSION 3.18)

set(constants "")
separate_arguments(headers UNIX_COMMAND "${HEADERS}")
string(REPEAT "[0-9a-fA-F]" 9 nine_digits)
foreach(header IN LISTS headers)
    file(READ ${INCLUDE}/${header} text)
    # What <stddef.h> and <stdint.h> declare, every such interface knows by itself.
    string(REGEX REPLACE "#include <[a-z]+\\.h>\n" "" bare "${text}")
    file(WRITE ${WORK}/${header} "${bare}")
    string(REGEX REPLACE "[ \t]*\\\\\n[ \t]*" " " joined "${text}")
    string(REGEX MATCHALL "#define +TAMIS_[A-Z_0-9]+ +(0x[0-9a-fA-F]+|[0-9]+)u?[ \t]*(\n|/)" found "${joined}")
    foreach(line IN LISTS found)
        string(REGEX REPLACE "#define +(TAMIS_[A-Z_0-9]+) +(0x[0-9a-fA-F]+|[0-9]+)u?[ \t]*(\n|/)"
               "    \\1 = \\2,\n" line "${line}")
        if(NOT line MATCHES "= ([0-9][0-9]|0x)${nine_digits}")
            string(APPEND constants "${line}")
        endif()
    endforeach()
endforeach()
# Labels and filters in memory are for servers in C.
set(included "")
foreach(header IN LISTS headers)
    if(NOT header MATCHES "^tamis(_labels|_memory)?\\.h$")
        string(APPEND included "#include \"${header}\"\n")
    endif()
endforeach()
file(WRITE ${WORK}/all.c "${included}")
# Without __GNUC__ the headers have no attributes.
execute_process(COMMAND ${CC} -E -P -nostdinc -U__GNUC__ -I${WORK} ${WORK}/all.c
                OUTPUT_VARIABLE declarations RESULT_VARIABLE result)
if(NOT result EQUAL 0)
    message(FATAL_ERROR "${CC} cannot preprocess the public headers")
endif()
string(REGEX REPLACE "\n\n+" "\n" declarations "${declarations}")
file(WRITE ${OUT} "/* SPDX-License-Identifier: BSD-2-Clause */
/* tamis_ffi.h: tamis.h and all that it includes, without tamis_labels.h and tamis_memory.h, for foreign-function interfaces, such as Python's cffi and PHP's FFI;
 * made from them by the build.  What the calls do is said there.  C and C++ programs include these. */
${declarations}enum tamis_constants {
${constants}};
")
