// SPDX-License-Identifier: BSD-2-Clause

package tamis

// #include "shim.h"
import "C"

import (
	"time"
	"unsafe"
)

// FieldsOf says whose fields a table has.
type FieldsOf uint32

const (
	FieldsOfFilter  FieldsOf = C.TAMIS_FIELDS_FILTER
	FieldsOfSegment FieldsOf = C.TAMIS_FIELDS_SEGMENT
)

// ShownBy says which fields, and in which order.
type ShownBy uint32

const (
	ShownAnywhere   ShownBy = C.TAMIS_SHOWN_ANYWHERE
	ShownByInfo     ShownBy = C.TAMIS_SHOWN_BY_INFO // those of `tamis info`
	ShownByReply    ShownBy = C.TAMIS_SHOWN_BY_REPLY
	ShownByBindings ShownBy = C.TAMIS_SHOWN_BY_BINDINGS
)

// A Field is one that is known of a filter or a segment, for programs that print all of them.
type Field struct {
	Name, InfoName, ReplyName string // as C, `tamis info` and TAMIS.INFO name it; "": it is not shown there
	Unit, Sentence, Lacking   string
	Number, Type, Sum         uint32 // enum tamis_field_type and tamis_field_sum
	Value                     any    // nil, string, uint64, bool, float64, time.Time or time.Duration; of Filter.Fields
}

// eachField calls f for each field of the table.
func eachField(of FieldsOf, by ShownBy, f func(c *C.struct_tamis_field, field Field) error) error {
	for i := C.uint32_t(0); ; i++ {
		c := C.struct_tamis_field{size: C.sizeof_struct_tamis_field}
		rc, err := plain(func() C.int { return C.tamis_field(C.uint32_t(of), C.uint32_t(by), i, &c) })
		if err != nil || rc == 0 {
			return err
		}
		field := Field{Name: C.GoString(c.name), InfoName: C.GoString(c.info_name), ReplyName: C.GoString(c.reply_name),
			Unit: C.GoString(c.unit), Sentence: C.GoString(c.sentence), Lacking: C.GoString(c.lacking), Number: uint32(c.number),
			Type: uint32(c._type), Sum: uint32(c.sum)}
		if err = f(&c, field); err != nil {
			return err
		}
	}
}

// Fields returns the table of fields, without values.
func Fields(of FieldsOf, by ShownBy) ([]Field, error) {
	var fields []Field
	err := eachField(of, by, func(_ *C.struct_tamis_field, field Field) error {
		fields = append(fields, field)
		return nil
	})
	return fields, err
}

// Fields returns all that is known of the filter, with values.
func (f *Filter) Fields(by ShownBy) ([]Field, error) {
	stat := C.struct_tamis_filter_stat{size: C.sizeof_struct_tamis_filter_stat}
	if err := f.quick(func() C.int { return C.tamis_filter_stat(f.c, &stat) }); err != nil {
		return nil, err
	}
	var fields []Field
	err := eachField(FieldsOfFilter, by, func(c *C.struct_tamis_field, field Field) (err error) {
		field.Value, err = value(c, &stat)
		fields = append(fields, field)
		return err
	})
	return fields, err
}

// value returns that of a field; of those that are made of others it is nil.
func value(field *C.struct_tamis_field, stat *C.struct_tamis_filter_stat) (any, error) {
	c := C.struct_tamis_field_value{size: C.sizeof_struct_tamis_field_value}
	var made any
	_, err := plain(func() C.int {
		rc := C.tamis_field_get(field, unsafe.Pointer(stat), &c)
		if rc > 0 {
			made = valueOf(field, &c)
		}
		return rc
	})
	return made, err
}

func valueOf(field *C.struct_tamis_field, c *C.struct_tamis_field_value) any {
	switch field._type {
	case C.TAMIS_FIELD_TEXT, C.TAMIS_FIELD_WORD:
		if c.text == nil {
			return nil
		}
		return C.GoString(c.text)
	case C.TAMIS_FIELD_NUMBER:
		return uint64(c.number)
	case C.TAMIS_FIELD_LIMIT:
		if limit(c.number) < 0 {
			return nil
		}
		return uint64(c.number)
	case C.TAMIS_FIELD_YES:
		return c.number != 0
	case C.TAMIS_FIELD_REAL:
		return float64(c.real)
	case C.TAMIS_FIELD_TIME:
		return untilTime(c.ns)
	case C.TAMIS_FIELD_SPAN:
		return time.Duration(c.ns)
	}
	return nil
}
