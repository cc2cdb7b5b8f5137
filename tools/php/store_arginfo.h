/* This is a generated file, edit the .stub.php file instead.
 * Stub hash: 0121f17c0eff672c951f91eb9711a7c8ae208091 */

ZEND_BEGIN_ARG_INFO_EX(arginfo_class_Tamis_Store___construct, 0, 0, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, path, IS_STRING, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, create, _IS_BOOL, 0, "true")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, readOnly, _IS_BOOL, 0, "false")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, mode, IS_LONG, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, busyTimeout, IS_DOUBLE, 0, "10.0")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Tamis_Store_filter, 0, 1, Tamis\\Filter, 0)
	ZEND_ARG_TYPE_INFO(0, name, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, populate, _IS_BOOL, 0, "false")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Tamis_Store_create, 0, 1, Tamis\\Filter, 0)
	ZEND_ARG_TYPE_INFO(0, name, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, capacity, IS_LONG, 0, "0")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, fpRate, IS_DOUBLE, 0, "0.0")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, kind, IS_STRING, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, hashSet, IS_STRING, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, seed, IS_LONG, 0, "0")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, k, IS_LONG, 0, "0")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, mBits, IS_LONG, 0, "0")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, onFull, IS_STRING, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, window, IS_DOUBLE, 0, "0.0")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, windowItems, IS_LONG, 0, "0")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, slices, IS_LONG, 0, "0")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, counterBits, IS_LONG, 0, "0")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, durable, _IS_BOOL, 0, "false")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, windowFrom, IS_STRING, 0, "\"last\"")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, keyRule, IS_STRING, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Tamis_Store_openOrCreate, 0, 1, Tamis\\Filter, 0)
	ZEND_ARG_TYPE_INFO(0, name, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, capacity, IS_LONG, 0, "0")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, fpRate, IS_DOUBLE, 0, "0.0")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, kind, IS_STRING, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, hashSet, IS_STRING, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, seed, IS_LONG, 0, "0")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, k, IS_LONG, 0, "0")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, mBits, IS_LONG, 0, "0")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, onFull, IS_STRING, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, window, IS_DOUBLE, 0, "0.0")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, windowItems, IS_LONG, 0, "0")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, slices, IS_LONG, 0, "0")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, counterBits, IS_LONG, 0, "0")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, durable, _IS_BOOL, 0, "false")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, windowFrom, IS_STRING, 0, "\"last\"")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, keyRule, IS_STRING, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, whateverIsThere, _IS_BOOL, 0, "false")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Tamis_Store_build, 0, 1, Tamis\\Build, 0)
	ZEND_ARG_TYPE_INFO(0, name, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, fpRate, IS_DOUBLE, 0, "0.0")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, kind, IS_STRING, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, capacity, IS_LONG, 0, "0")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, hashSet, IS_STRING, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, ifChanged, _IS_BOOL, 0, "false")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, keep, IS_LONG, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, keyRule, IS_STRING, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tamis_Store_publishFile, 0, 2, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO(0, name, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, file, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, format, IS_STRING, 0, "\"tamis\"")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, ifChanged, _IS_BOOL, 0, "false")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, keep, IS_LONG, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, newer, _IS_BOOL, 0, "false")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tamis_Store_drop, 0, 1, IS_VOID, 0)
	ZEND_ARG_TYPE_INFO(0, name, IS_STRING, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tamis_Store_rename, 0, 2, IS_VOID, 0)
	ZEND_ARG_TYPE_INFO(0, from, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, to, IS_STRING, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tamis_Store_setPages, 0, 2, IS_VOID, 0)
	ZEND_ARG_TYPE_INFO(0, name, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, pages, IS_STRING, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tamis_Store_rollback, 0, 1, IS_VOID, 0)
	ZEND_ARG_TYPE_INFO(0, name, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, generation, IS_LONG, 0, "0")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tamis_Store_names, 0, 0, IS_ARRAY, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, prefix, IS_STRING, 0, "\"\"")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tamis_Store_has, 0, 1, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO(0, name, IS_STRING, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tamis_Store_path, 0, 0, IS_STRING, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tamis_Store_close, 0, 0, IS_VOID, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tamis_Store_count, 0, 0, IS_LONG, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Tamis_Store_getIterator, 0, 0, Iterator, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tamis_Store_offsetExists, 0, 1, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO(0, offset, IS_MIXED, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Tamis_Store_offsetGet, 0, 1, Tamis\\Filter, 0)
	ZEND_ARG_TYPE_INFO(0, offset, IS_MIXED, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tamis_Store_offsetSet, 0, 2, IS_VOID, 0)
	ZEND_ARG_TYPE_INFO(0, offset, IS_MIXED, 0)
	ZEND_ARG_TYPE_INFO(0, value, IS_MIXED, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tamis_Store_offsetUnset, 0, 1, IS_VOID, 0)
	ZEND_ARG_TYPE_INFO(0, offset, IS_MIXED, 0)
ZEND_END_ARG_INFO()


ZEND_METHOD(Tamis_Store, __construct);
ZEND_METHOD(Tamis_Store, filter);
ZEND_METHOD(Tamis_Store, create);
ZEND_METHOD(Tamis_Store, openOrCreate);
ZEND_METHOD(Tamis_Store, build);
ZEND_METHOD(Tamis_Store, publishFile);
ZEND_METHOD(Tamis_Store, drop);
ZEND_METHOD(Tamis_Store, rename);
ZEND_METHOD(Tamis_Store, setPages);
ZEND_METHOD(Tamis_Store, rollback);
ZEND_METHOD(Tamis_Store, names);
ZEND_METHOD(Tamis_Store, has);
ZEND_METHOD(Tamis_Store, path);
ZEND_METHOD(Tamis_Store, close);
ZEND_METHOD(Tamis_Store, count);
ZEND_METHOD(Tamis_Store, getIterator);
ZEND_METHOD(Tamis_Store, offsetGet);
ZEND_METHOD(Tamis_Store, offsetSet);
ZEND_METHOD(Tamis_Store, offsetUnset);


static const zend_function_entry class_Tamis_Store_methods[] = {
	ZEND_ME(Tamis_Store, __construct, arginfo_class_Tamis_Store___construct, ZEND_ACC_PUBLIC)
	ZEND_ME(Tamis_Store, filter, arginfo_class_Tamis_Store_filter, ZEND_ACC_PUBLIC)
	ZEND_ME(Tamis_Store, create, arginfo_class_Tamis_Store_create, ZEND_ACC_PUBLIC)
	ZEND_ME(Tamis_Store, openOrCreate, arginfo_class_Tamis_Store_openOrCreate, ZEND_ACC_PUBLIC)
	ZEND_ME(Tamis_Store, build, arginfo_class_Tamis_Store_build, ZEND_ACC_PUBLIC)
	ZEND_ME(Tamis_Store, publishFile, arginfo_class_Tamis_Store_publishFile, ZEND_ACC_PUBLIC)
	ZEND_ME(Tamis_Store, drop, arginfo_class_Tamis_Store_drop, ZEND_ACC_PUBLIC)
	ZEND_ME(Tamis_Store, rename, arginfo_class_Tamis_Store_rename, ZEND_ACC_PUBLIC)
	ZEND_ME(Tamis_Store, setPages, arginfo_class_Tamis_Store_setPages, ZEND_ACC_PUBLIC)
	ZEND_ME(Tamis_Store, rollback, arginfo_class_Tamis_Store_rollback, ZEND_ACC_PUBLIC)
	ZEND_ME(Tamis_Store, names, arginfo_class_Tamis_Store_names, ZEND_ACC_PUBLIC)
	ZEND_ME(Tamis_Store, has, arginfo_class_Tamis_Store_has, ZEND_ACC_PUBLIC)
	ZEND_ME(Tamis_Store, path, arginfo_class_Tamis_Store_path, ZEND_ACC_PUBLIC)
	ZEND_ME(Tamis_Store, close, arginfo_class_Tamis_Store_close, ZEND_ACC_PUBLIC)
	ZEND_ME(Tamis_Store, count, arginfo_class_Tamis_Store_count, ZEND_ACC_PUBLIC)
	ZEND_ME(Tamis_Store, getIterator, arginfo_class_Tamis_Store_getIterator, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Tamis_Store, offsetExists, has, arginfo_class_Tamis_Store_offsetExists, ZEND_ACC_PUBLIC)
	ZEND_ME(Tamis_Store, offsetGet, arginfo_class_Tamis_Store_offsetGet, ZEND_ACC_PUBLIC)
	ZEND_ME(Tamis_Store, offsetSet, arginfo_class_Tamis_Store_offsetSet, ZEND_ACC_PUBLIC)
	ZEND_ME(Tamis_Store, offsetUnset, arginfo_class_Tamis_Store_offsetUnset, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};

static zend_class_entry *register_class_Tamis_Store(zend_class_entry *class_entry_ArrayAccess, zend_class_entry *class_entry_Countable, zend_class_entry *class_entry_IteratorAggregate)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Tamis", "Store", class_Tamis_Store_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL|ZEND_ACC_NO_DYNAMIC_PROPERTIES|ZEND_ACC_NOT_SERIALIZABLE;
	zend_class_implements(class_entry, 3, class_entry_ArrayAccess, class_entry_Countable, class_entry_IteratorAggregate);

	return class_entry;
}
