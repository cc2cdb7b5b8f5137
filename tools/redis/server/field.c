/* SPDX-License-Identifier: BSD-2-Clause */
/* field.c: see field.h. */
#include "server/field.h"

#include <stdlib.h>
#include <string.h>

bool server_field(RedisModuleCtx *ctx, const char *section, const char *name, char text[FIELD_ROOM])
{
    RedisModuleServerInfoData *info = RedisModule_GetServerInfo(ctx, section);
    const char *told = RedisModule_ServerInfoGetFieldC(info, name);
    const bool fits = told != NULL && strlen(told) < FIELD_ROOM;
    (void)strcpy(text, fits ? told : "");
    RedisModule_FreeServerInfo(ctx, info);
    return fits;
}
