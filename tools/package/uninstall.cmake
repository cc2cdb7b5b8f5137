# SPDX-License-Identifier: BSD-2-Clause
# uninstall.cmake: removes what the last `cmake --install BUILD` has written, by the list that it left, and the directories of
# ours that are empty then.  Stores are elsewhere, and stay.
set(manifest ${BUILD}/install_manifest.txt)
if(NOT EXISTS ${manifest})
    message(FATAL_ERROR "${manifest} is not there: nothing was installed from this build directory by `cmake --install`, or "
            "it was removed already")
endif()
file(STRINGS ${manifest} files)
set(removed 0)
foreach(file IN LISTS files)
    cmake_path(SET file NORMALIZE "$ENV{DESTDIR}${file}") # docs/. in it would hide whose directory it is
    if(EXISTS "${file}" OR IS_SYMLINK "${file}")
        file(REMOVE "${file}")
        if(EXISTS "${file}" OR IS_SYMLINK "${file}")
            message(FATAL_ERROR "${file} could not be removed; run this as the user that has installed it")
        endif()
        math(EXPR removed "${removed} + 1")
    endif()
    get_filename_component(directory "${file}" DIRECTORY)
    list(APPEND directories "${directory}")
endforeach()

# Directories that only we make have our name in their path.  The deepest first.
list(REMOVE_DUPLICATES directories)
list(SORT directories ORDER DESCENDING)
foreach(directory IN LISTS directories)
    while(directory MATCHES "/tamis(/[a-z]+(/[a-z]+)?)?$" AND IS_DIRECTORY "${directory}")
        file(REMOVE_RECURSE "${directory}/__pycache__") # what Python made of our modules
        file(GLOB left LIST_DIRECTORIES true "${directory}/*" "${directory}/.*")
        if(left)
            break()
        endif()
        file(REMOVE_RECURSE "${directory}")
        get_filename_component(directory "${directory}" DIRECTORY)
    endwhile()
endforeach()
file(REMOVE ${manifest})
message(STATUS "removed ${removed} files; run ldconfig if the library was among them")
