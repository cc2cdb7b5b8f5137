// SPDX-License-Identifier: BSD-2-Clause

package tamis

// #include "shim.h"
// #include <stdlib.h>
import "C"

import (
	"context"
	"runtime"
	"sync"
	"time"
	"unsafe"
)

// A Light is 16 bytes by which a Cabinet asks a small filter in a drawer (InDrawer) that is not open.
type Light struct{ c C.struct_tamis_light }

// A Cabinet asks very many small filters that are not open.
type Cabinet struct {
	uses    uses
	turn    sync.Mutex
	c       *C.tamis_cabinet
	cleanup runtime.Cleanup
}

// Cabinet makes a cabinet that maps so many drawers at once, 1 to 65,536.
func (s *Store) Cabinet(most int) (*Cabinet, error) {
	var c *C.tamis_cabinet
	err := s.on(context.Background(), func() C.int { return C.tamis_cabinet_open(s.c, C.uint32_t(most), &c) })
	if err != nil {
		return nil, err
	}
	made := &Cabinet{c: c}
	made.uses.open()
	made.cleanup = runtime.AddCleanup(made, func(c *C.tamis_cabinet) { C.tamis_cabinet_close(c) }, c)
	return made, nil
}

// Close gives the cabinet back.
func (c *Cabinet) Close() error {
	return c.uses.close(func() error {
		c.cleanup.Stop()
		C.tamis_cabinet_close(c.c)
		return nil
	})
}

// on makes a call of C on the cabinet: true if that returned 1.
func (c *Cabinet) on(ctx context.Context, f func() C.int) (bool, error) {
	if err := c.uses.enter(); err != nil {
		return false, err
	}
	defer runtime.KeepAlive(c)
	defer c.uses.leave()
	c.turn.Lock()
	defer c.turn.Unlock()
	rc, err := call(ctx, f)
	return rc > 0, err
}

// Light makes the light handle of an open filter.  False: it has none, because it is not in a drawer, has grown or the like.
func (f *Filter) Light() (Light, bool, error) {
	var light Light
	var rc C.int
	err := f.quick(func() C.int {
		rc = C.tamis_light_of(f.c, &light.c)
		return rc
	})
	return light, rc > 0, err
}

// Find makes the light handle of a filter that is not open.  createdAt is when it was created, or zero if that does not matter.
func (c *Cabinet) Find(ctx context.Context, name string, createdAt time.Time) (Light, bool, error) {
	var light Light
	text, err := cstring("the name of a filter", name)
	if err != nil {
		return light, false, err
	}
	defer free(text)
	var ns C.int64_t
	if !createdAt.IsZero() {
		ns = C.int64_t(createdAt.UnixNano())
	}
	found, err := c.on(ctx, func() C.int { return C.tamis_light_find(c.c, text, ns, &light.c) })
	return light, found, err
}

// Ask asks for keys, at most 4,096 and 512 KiB of them; answers has room for an Answer for each.  False: there is no answer, open the filter.
func (c *Cabinet) Ask(light Light, keys [][]byte, answers []Answer) (bool, error) {
	if len(answers) < len(keys) {
		return false, invalid("%d keys, and room for %d answers; give room for all", len(keys), len(answers))
	}
	a := arenas.Get().(*arena)
	defer arenas.Put(a)
	defer a.clear()
	if fill(a, keys) < len(keys) {
		return false, invalid("%d keys are more than one call takes; ask in parts", len(keys))
	}
	return c.on(context.Background(), func() C.int {
		return C.tamis_light_ask(c.c, &light.c, a.all(), C.size_t(len(keys)), (*C.uint8_t)(unsafe.SliceData(answers)))
	})
}

// Forget unmaps the drawer that has the segment of this number.
func (c *Cabinet) Forget(number uint64) error {
	_, err := c.on(context.Background(), func() C.int {
		C.tamis_cabinet_forget(c.c, C.uint64_t(number))
		return 0
	})
	return err
}

// Tidy looks at some of the drawers, and unmaps those whose filters are all gone; with unused also those that were not asked since the
// last look at them.  It returns how many drawers are mapped.
func (c *Cabinet) Tidy(looks int, unused bool) (int, error) {
	var mapped C.int64_t
	_, err := c.on(context.Background(), func() C.int {
		mapped = C.tamis_cabinet_tidy(c.c, C.uint32_t(looks), C.int(flag[C.uint32_t](unused, 1)))
		return C.int(min(mapped, 0))
	})
	return int(mapped), err
}
