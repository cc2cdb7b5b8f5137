/* SPDX-License-Identifier: BSD-2-Clause */
/* network.c: see network.h.  The numbers are f_type of statfs(2), from linux/magic.h and the file
 * systems. */
#include "os/network.h"

#include "os/io.h"

static const struct {
    uint32_t type;
    const char *name;
} networks[] = {
    {0x00006969, "NFS"},      {0x0000517B, "SMB"},   {0xFF534D42, "CIFS"},   {0xFE534D42, "SMB2"},
    {0x0000564C, "NCP"},      {0x00C36400, "Ceph"},  {0x5346414F, "AFS"},    {0x6B414653, "AFS"},
    {0x01021997, "9p"},       {0x73757245, "Coda"},  {0x0BD00BD0, "Lustre"}, {0x47504653, "GPFS"},
    {0x01161970, "GFS2"},     {0x7461636F, "OCFS2"}, {0x65735546, "FUSE"},   {0x19830326, "BeeGFS"},
    {0x20030528, "OrangeFS"}, {0xAAD7AAEA, "PanFS"}, {0xBEEFDEAD, "SNFS"},   {0xBACBACBC, "vmhgfs"},
    {0x786F4256, "vboxsf"},   {0x013111A8, "IBRIX"}, {0x61636673, "ACFS"},
};

#ifdef TAMIS_TEST_POINTS
uint32_t tamis__network_type;
#define TEST_TYPE tamis__network_type
#else
#define TEST_TYPE 0
#endif

int tamis__refuse_network(int fd, const char *what)
{
    uint32_t type = 0;
    const int rc = tamis__file_system_type(fd, what, &type);
    if (rc < 0) return rc;
    if (TEST_TYPE != 0) type = TEST_TYPE;
    for (size_t i = 0; i < sizeof networks / sizeof networks[0]; i++)
        if (networks[i].type == type)
            return tamis__fail_at(
                TAMIS_EUNSUPPORTED, what,
                "the store %s is on %s, which other machines may have mounted too: what they write "
                "to shared files would be lost, locks or not; have it on a local disk, or run "
                "that risk with --force-network-fs (TAMIS_OPEN_FORCE_NETWORK_FS)",
                what, networks[i].name);
    return 0;
}
