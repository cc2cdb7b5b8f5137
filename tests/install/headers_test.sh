#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Each installed header compiles alone, as C and as C++, with nothing included before it.
# shellcheck source=tests/install/support.sh
. "$(dirname "$0")/support.sh"

headers=$(cd "$TAMIS_PREFIX/include" && echo *)
names=(tamis.h tamis_{build,check,errors,exchange,ffi,fields,filter,keys,labels,library,memory,merge,sizing,stat,store,types}.h)
expect "${names[*]}" "$headers" "installed headers"
for header in ${headers/tamis_ffi.h/}; do # which is for no compiler: ffi_test.sh
    for standard in c11 c++11 c++20; do
        echo "#include <$header>" >"alone.c"
        case $standard in
        c11) compiler=("$CC" -xc -Wpedantic) ;;
        *) compiler=(g++ -xc++) ;;
        esac
        "${compiler[@]}" "-std=$standard" -Wall -Wextra -Werror -fsyntax-only \
            -I"$TAMIS_PREFIX/include" alone.c || fail "$header does not compile alone as $standard"
        echo "$header: $standard"
    done
done
