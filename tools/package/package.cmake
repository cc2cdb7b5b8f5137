# SPDX-License-Identifier: BSD-2-Clause
# The target `package`: Debian packages by CPack, one for each component that the install rules have.  The target
# `uninstall`: the opposite of the last `cmake --install`.
add_custom_target(uninstall COMMAND ${CMAKE_COMMAND} -D BUILD=${CMAKE_BINARY_DIR}
                  -P ${CMAKE_CURRENT_LIST_DIR}/uninstall.cmake VERBATIM)

find_program(TAMIS_GZIP gzip)
find_program(TAMIS_DPKG_SHLIBDEPS dpkg-shlibdeps)
find_program(TAMIS_FILE file) # CPack asks it which files dpkg-shlibdeps is to read
if(NOT TAMIS_GZIP OR NOT TAMIS_DPKG_SHLIBDEPS OR NOT TAMIS_FILE)
    message(STATUS "gzip, dpkg-shlibdeps or file is missing, so there is no target `package`; on Debian, install dpkg-dev and file")
    return()
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_VENDOR "The Tamis authors")
set(CPACK_PACKAGE_CONTACT "The Tamis authors <tamis@example.org>")
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR})
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
    WORLD_READ WORLD_EXECUTE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/prepare.cmake)
set(this_version "${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}")

# tamis_package(COMPONENT PACKAGE SECTION SUMMARY MORE [DEPENDS...]): what the package of a component is.  MORE is the rest
# of its description; DEPENDS is what dpkg-shlibdeps cannot see.
function(tamis_package component package section summary more)
    string(TOUPPER ${component} upper)
    string(JOIN ", " depends ${ARGN})
    foreach(pair IN ITEMS "NAME=${package}" "SECTION=${section}" "DEPENDS=${depends}")
        string(REGEX MATCH "^([A-Z]+)=(.*)$" pair "${pair}")
        set(CPACK_DEBIAN_${upper}_PACKAGE_${CMAKE_MATCH_1} "${CMAKE_MATCH_2}" PARENT_SCOPE)
    endforeach()
    set(common "Tamis keeps sets of keys in memory-mapped Bloom filters that\nmany processes share without a server.")
    set(CPACK_COMPONENT_${upper}_DESCRIPTION "${summary}\n${common}\n${more}" PARENT_SCOPE)
    set(TAMIS_PACKAGE_${component} ${package} PARENT_SCOPE)
endfunction()
tamis_package(library libtamis0 libs "persistent filters shared by processes (library)"
    "This package has the shared library.")
set(static_needs) # of who links libtamis.a
if(TAMIS_WITH_MD5)
    list(APPEND static_needs libmd-dev)
endif()
if(TAMIS_WITH_SIP)
    list(APPEND static_needs libsodium-dev)
endif()
if(TAMIS_WITH_IDN)
    list(APPEND static_needs libidn2-dev libunistring-dev)
endif()
tamis_package(development libtamis-dev libdevel "persistent filters shared by processes (development)"
    "This package has the headers, the static library, files\nfor pkg-config and CMake, and a manual page for each call."
    "libtamis0 (= ${this_version})" libc6-dev liblmdb-dev libxxhash-dev ${static_needs})
tamis_package(command tamis utils "persistent filters shared by processes (command)"
    "This package has the command, its manual, its completions for\nbash and zsh, and the documents.")
set(CPACK_DEBIAN_COMMAND_PACKAGE_RECOMMENDS "libcurl4 | libcurl4t64") # tamis pull loads it
tamis_package(redis tamis-redis database "persistent filters shared by processes (Redis module)"
    "This package has the module for redis-server and Valkey, with the\ncommands of RedisBloom.")
set(CPACK_DEBIAN_REDIS_PACKAGE_RECOMMENDS "redis-server (>= 5:7.0) | valkey-server")
tamis_package(python python3-tamis python "persistent filters shared by processes (Python 3)"
    "This package has the Python module." "python3 (>= 3.11)")
# Which interface of PHP the extension was built for; php-config says it.
set(php_needs php-cli)
find_program(TAMIS_PHP_CONFIG php-config)
if(TAMIS_PHP_CONFIG)
    execute_process(COMMAND ${TAMIS_PHP_CONFIG} --phpapi OUTPUT_VARIABLE php_api OUTPUT_STRIP_TRAILING_WHITESPACE)
    execute_process(COMMAND ${TAMIS_PHP_CONFIG} --version OUTPUT_VARIABLE php_version)
    string(REGEX MATCH "^[0-9]+\\.[0-9]+" php_version "${php_version}")
    # What runs PHP is named first: of all that have this interface apt would choose the debugger.
    set(php_needs "php${php_version}-cli | phpapi-${php_api}")
endif()
tamis_package(php php-tamis php "persistent filters shared by processes (PHP)"
    "This package has the PHP extension, and classes that take the place of\nhand-written ones on Redis." ${php_needs})
set(CPACK_DEBIAN_PHP_PACKAGE_SUGGESTS "php-redis | php-predis")

# What every Debian package has: copyright, changelog, and why lintian is wrong where it is.
set(papers ${CMAKE_BINARY_DIR}/package)
file(MAKE_DIRECTORY ${papers})
file(READ ${PROJECT_SOURCE_DIR}/LICENSE license)
string(REGEX REPLACE "^BSD 2-Clause License\n\n(Copyright[^\n]*)\n\n" "" license "${license}")
string(REGEX REPLACE "^Copyright \\(c\\) " "" holder "${CMAKE_MATCH_1}")
string(REGEX REPLACE "\n+$" "" license "${license}")
string(REGEX REPLACE "\n\n" "\n.\n" license "${license}")
string(REGEX REPLACE "\n" "\n " license "${license}")
configure_file(${CMAKE_CURRENT_LIST_DIR}/copyright.in ${papers}/copyright @ONLY)
get_cmake_property(components COMPONENTS)
list(REMOVE_ITEM components Unspecified)
foreach(component IN LISTS components)
    if(NOT DEFINED TAMIS_PACKAGE_${component})
        message(FATAL_ERROR "an install rule has the component '${component}', which tools/package/package.cmake does not know")
    endif()
    set(package ${TAMIS_PACKAGE_${component}})
    configure_file(${CMAKE_CURRENT_LIST_DIR}/changelog.in ${papers}/${package}/changelog.Debian @ONLY)
    file(COPY_FILE ${PROJECT_SOURCE_DIR}/docs/CHANGELOG.md ${papers}/${package}/changelog ONLY_IF_DIFFERENT)
    install(FILES ${papers}/copyright ${papers}/${package}/changelog ${papers}/${package}/changelog.Debian
            DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${package} COMPONENT ${component} EXCLUDE_FROM_ALL)
    if(EXISTS ${CMAKE_CURRENT_LIST_DIR}/lintian/${package})
        install(FILES ${CMAKE_CURRENT_LIST_DIR}/lintian/${package}
                DESTINATION ${CMAKE_INSTALL_DATADIR}/lintian/overrides COMPONENT ${component} EXCLUDE_FROM_ALL)
    endif()
endforeach()

# What dpkg-shlibdeps reads for programs that need the library, and the trigger that has ldconfig run.
file(WRITE ${papers}/shlibs "libtamis ${PROJECT_VERSION_MAJOR} libtamis0 (>= ${PROJECT_VERSION})\n")
file(WRITE ${papers}/triggers "activate-noawait ldconfig\n")
get_property(calls GLOBAL PROPERTY TAMIS_CALLS)
list(SORT calls)
list(TRANSFORM calls REPLACE "(.+)" " \\1@TAMIS_0 ${PROJECT_VERSION}")
string(JOIN "\n" calls "libtamis.so.${PROJECT_VERSION_MAJOR} libtamis0 #MINVER#" " TAMIS_0@TAMIS_0 ${PROJECT_VERSION}" ${calls})
file(WRITE ${papers}/symbols "${calls}\n")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA ${papers}/shlibs ${papers}/triggers ${papers}/symbols)
# The extension is on when its package is installed, for all ways to run PHP, as those of Debian are.  prepare.cmake brings
# tamis.ini to /etc.
if(TAMIS_BUILD_PHP)
    string(REGEX MATCH "[0-9]+\\.[0-9]+" php_version ${TAMIS_PHP_INI_DIR})
    file(WRITE ${papers}/conffiles "/${TAMIS_PHP_INI_DIR}/tamis.ini\n")
    foreach(pair IN ITEMS "postinst configure enmod" "prerm remove dismod")
        string(REPLACE " " ";" pair ${pair})
        list(GET pair 0 script)
        list(GET pair 1 php_when)
        list(GET pair 2 php_call)
        configure_file(${CMAKE_CURRENT_LIST_DIR}/php-module.in ${papers}/${script} @ONLY)
    endforeach()
    configure_file(${CMAKE_CURRENT_LIST_DIR}/php-purge.in ${papers}/postrm @ONLY)
    set(CPACK_DEBIAN_PHP_PACKAGE_CONTROL_EXTRA ${papers}/conffiles ${papers}/postinst ${papers}/prerm ${papers}/postrm)
endif()
# Root's __pycache__ goes with the modules.
set(package ${TAMIS_PACKAGE_python})
configure_file(${CMAKE_CURRENT_LIST_DIR}/python-prerm.in ${papers}/${package}/prerm @ONLY)
set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA ${papers}/${package}/prerm)
set(CPACK_COMPONENTS_ALL ${components})
include(CPack)
