/* SPDX-License-Identifier: BSD-2-Clause */
/* object.c: what the classes of stores, filters and builds have in common. */
#include "php_tamis.h"

void class_prepare(zend_class_entry *class, zend_object_handlers *to, int offset,
                   zend_object *(*create)(zend_class_entry *), void (*release)(zend_object *))
{
    class->create_object = create;
    memcpy(to, zend_get_std_object_handlers(), sizeof *to);
    to->offset = offset;
    to->free_obj = release;
    to->clone_obj = NULL;
    to->compare = zend_objects_not_comparable;
}

zend_object *object_new(zend_class_entry *class, const zend_object_handlers *of, size_t bytes)
{
    zend_object *object = (zend_object *)((char *)zend_object_alloc(bytes, class) + of->offset);

    zend_object_std_init(object, class);
    object_properties_init(object, class);
    object->handlers = of;
    return object;
}
