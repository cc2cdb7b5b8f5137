# SPDX-License-Identifier: BSD-2-Clause
# Builds what `go build` links: internal/library/libtamis.a, which has the library and LMDB in it.
#   cmake -P library.cmake         or `go generate`, in this folder of a checkout
# It takes cmake, a C compiler, binutils, pkg-config, liblmdb-dev and libxxhash-dev.  The archive has one object, in which all names but
# tamis_* are local: a Go program may link another LMDB, as some packages bring one.  The hash sets md5 and sip are left out of it.
cmake_minimum_required(VERSION 3.20)
get_filename_component(top ${CMAKE_CURRENT_LIST_DIR}/../.. REALPATH)
set(into ${CMAKE_CURRENT_LIST_DIR}/internal/library)
if(NOT EXISTS ${top}/store/include/tamis.h)
    message(FATAL_ERROR "library.cmake: the sources of Tamis are not two folders above this one.  Use a whole checkout, or install "
            "libtamis and build with -tags tamis_installed")
endif()
if(NOT WORK)
    set(WORK ${top}/.build/go-library)
endif()

# run(COMMAND WORD...): ends all where it fails.
function(run)
    execute_process(COMMAND ${ARGN} WORKING_DIRECTORY ${WORK} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

find_program(LD ld REQUIRED)
find_program(OBJCOPY objcopy REQUIRED)
find_program(AR ar REQUIRED)
find_program(CC NAMES cc gcc clang REQUIRED)
execute_process(COMMAND ${CC} -print-file-name=liblmdb.a OUTPUT_VARIABLE lmdb OUTPUT_STRIP_TRAILING_WHITESPACE)
if(NOT IS_ABSOLUTE "${lmdb}")
    message(FATAL_ERROR "library.cmake: there is no liblmdb.a; install liblmdb-dev")
endif()
file(MAKE_DIRECTORY ${WORK})
set(options)
foreach(option BUILD_TOOLS BUILD_REDIS BUILD_PYTHON BUILD_PHP BUILD_TESTS WITH_MD5 WITH_SIP WITH_IDN)
    list(APPEND options -DTAMIS_${option}=OFF)
endforeach()
cmake_host_system_information(RESULT processors QUERY NUMBER_OF_LOGICAL_CORES)
run(${CMAKE_COMMAND} -S ${top} -B ${WORK} ${options})
run(${CMAKE_COMMAND} --build ${WORK} --target tamis_static -j ${processors})

run(${LD} -r --whole-archive store/libtamis.a --no-whole-archive ${lmdb} -o tamis.o)
run(${OBJCOPY} --wildcard --keep-global-symbol=tamis_* tamis.o)
file(REMOVE ${WORK}/libtamis.a)
run(${AR} -rcD libtamis.a tamis.o)
file(COPY ${WORK}/libtamis.a DESTINATION ${into})
# The go command sees a change of a header in the folder of a package, and neither one of an archive nor one of a header elsewhere:
# without this it would go on with programs that have the library of before.
file(SHA256 ${WORK}/libtamis.a digest)
file(CONFIGURE OUTPUT ${into}/digest.h CONTENT "#define TAMIS_GO_LIBRARY \"@digest@\"\n" @ONLY)
message(STATUS "The library for Go is in ${into}")
