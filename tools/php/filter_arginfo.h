/* This is a generated file, edit the .stub.php file instead.
 * Stub hash: e24a875a88ab886c100180161007ed2bb367653a */

ZEND_BEGIN_ARG_INFO_EX(arginfo_class_Tamis_Filter___construct, 0, 0, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tamis_Filter_add, 0, 1, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO(0, key, IS_STRING, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Tamis_Filter_has arginfo_class_Tamis_Filter_add

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tamis_Filter_hasName, 0, 1, IS_STRING, 1)
	ZEND_ARG_TYPE_INFO(0, name, IS_STRING, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Tamis_Filter_remove arginfo_class_Tamis_Filter_add

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tamis_Filter_count, 0, 0, IS_LONG, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, key, IS_STRING, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tamis_Filter_items, 0, 0, IS_LONG, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tamis_Filter_addMany, 0, 1, IS_ARRAY, 0)
	ZEND_ARG_OBJ_TYPE_MASK(0, keys, Traversable, MAY_BE_ARRAY, NULL)
ZEND_END_ARG_INFO()

#define arginfo_class_Tamis_Filter_hasMany arginfo_class_Tamis_Filter_addMany

#define arginfo_class_Tamis_Filter_removeMany arginfo_class_Tamis_Filter_addMany

#define arginfo_class_Tamis_Filter_countMany arginfo_class_Tamis_Filter_addMany

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tamis_Filter_stat, 0, 0, IS_ARRAY, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tamis_Filter_sync, 0, 0, IS_VOID, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Tamis_Filter_rotate arginfo_class_Tamis_Filter_sync

#define arginfo_class_Tamis_Filter_accept arginfo_class_Tamis_Filter_sync

#define arginfo_class_Tamis_Filter_close arginfo_class_Tamis_Filter_sync

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tamis_Filter_offsetExists, 0, 1, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO(0, offset, IS_MIXED, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Tamis_Filter_offsetGet arginfo_class_Tamis_Filter_offsetExists

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tamis_Filter_offsetSet, 0, 2, IS_VOID, 0)
	ZEND_ARG_TYPE_INFO(0, offset, IS_MIXED, 0)
	ZEND_ARG_TYPE_INFO(0, value, IS_MIXED, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tamis_Filter_offsetUnset, 0, 1, IS_VOID, 0)
	ZEND_ARG_TYPE_INFO(0, offset, IS_MIXED, 0)
ZEND_END_ARG_INFO()


ZEND_METHOD(Tamis_Filter, __construct);
ZEND_METHOD(Tamis_Filter, add);
ZEND_METHOD(Tamis_Filter, has);
ZEND_METHOD(Tamis_Filter, hasName);
ZEND_METHOD(Tamis_Filter, remove);
ZEND_METHOD(Tamis_Filter, count);
ZEND_METHOD(Tamis_Filter, items);
ZEND_METHOD(Tamis_Filter, addMany);
ZEND_METHOD(Tamis_Filter, hasMany);
ZEND_METHOD(Tamis_Filter, removeMany);
ZEND_METHOD(Tamis_Filter, countMany);
ZEND_METHOD(Tamis_Filter, stat);
ZEND_METHOD(Tamis_Filter, sync);
ZEND_METHOD(Tamis_Filter, rotate);
ZEND_METHOD(Tamis_Filter, accept);
ZEND_METHOD(Tamis_Filter, close);
ZEND_METHOD(Tamis_Filter, offsetExists);
ZEND_METHOD(Tamis_Filter, offsetSet);
ZEND_METHOD(Tamis_Filter, offsetUnset);


static const zend_function_entry class_Tamis_Filter_methods[] = {
	ZEND_ME(Tamis_Filter, __construct, arginfo_class_Tamis_Filter___construct, ZEND_ACC_PRIVATE)
	ZEND_ME(Tamis_Filter, add, arginfo_class_Tamis_Filter_add, ZEND_ACC_PUBLIC)
	ZEND_ME(Tamis_Filter, has, arginfo_class_Tamis_Filter_has, ZEND_ACC_PUBLIC)
	ZEND_ME(Tamis_Filter, hasName, arginfo_class_Tamis_Filter_hasName, ZEND_ACC_PUBLIC)
	ZEND_ME(Tamis_Filter, remove, arginfo_class_Tamis_Filter_remove, ZEND_ACC_PUBLIC)
	ZEND_ME(Tamis_Filter, count, arginfo_class_Tamis_Filter_count, ZEND_ACC_PUBLIC)
	ZEND_ME(Tamis_Filter, items, arginfo_class_Tamis_Filter_items, ZEND_ACC_PUBLIC)
	ZEND_ME(Tamis_Filter, addMany, arginfo_class_Tamis_Filter_addMany, ZEND_ACC_PUBLIC)
	ZEND_ME(Tamis_Filter, hasMany, arginfo_class_Tamis_Filter_hasMany, ZEND_ACC_PUBLIC)
	ZEND_ME(Tamis_Filter, removeMany, arginfo_class_Tamis_Filter_removeMany, ZEND_ACC_PUBLIC)
	ZEND_ME(Tamis_Filter, countMany, arginfo_class_Tamis_Filter_countMany, ZEND_ACC_PUBLIC)
	ZEND_ME(Tamis_Filter, stat, arginfo_class_Tamis_Filter_stat, ZEND_ACC_PUBLIC)
	ZEND_ME(Tamis_Filter, sync, arginfo_class_Tamis_Filter_sync, ZEND_ACC_PUBLIC)
	ZEND_ME(Tamis_Filter, rotate, arginfo_class_Tamis_Filter_rotate, ZEND_ACC_PUBLIC)
	ZEND_ME(Tamis_Filter, accept, arginfo_class_Tamis_Filter_accept, ZEND_ACC_PUBLIC)
	ZEND_ME(Tamis_Filter, close, arginfo_class_Tamis_Filter_close, ZEND_ACC_PUBLIC)
	ZEND_ME(Tamis_Filter, offsetExists, arginfo_class_Tamis_Filter_offsetExists, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Tamis_Filter, offsetGet, offsetExists, arginfo_class_Tamis_Filter_offsetGet, ZEND_ACC_PUBLIC)
	ZEND_ME(Tamis_Filter, offsetSet, arginfo_class_Tamis_Filter_offsetSet, ZEND_ACC_PUBLIC)
	ZEND_ME(Tamis_Filter, offsetUnset, arginfo_class_Tamis_Filter_offsetUnset, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};

static zend_class_entry *register_class_Tamis_Filter(zend_class_entry *class_entry_ArrayAccess, zend_class_entry *class_entry_Countable)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Tamis", "Filter", class_Tamis_Filter_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL|ZEND_ACC_NO_DYNAMIC_PROPERTIES|ZEND_ACC_NOT_SERIALIZABLE;
	zend_class_implements(class_entry, 2, class_entry_ArrayAccess, class_entry_Countable);


	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "add", sizeof("add") - 1), 0, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "has", sizeof("has") - 1), 0, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "hasname", sizeof("hasname") - 1), 0, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "remove", sizeof("remove") - 1), 0, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "count", sizeof("count") - 1), 0, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	return class_entry;
}
