/* This is a generated file, edit the .stub.php file instead.
 * Stub hash: 37d28422296f1fbaf54a3409cee3927a394639e7 */

ZEND_BEGIN_ARG_INFO_EX(arginfo_class_Tamis_Build___construct, 0, 0, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tamis_Build_addMany, 0, 1, IS_VOID, 0)
	ZEND_ARG_OBJ_TYPE_MASK(0, keys, Traversable, MAY_BE_ARRAY, NULL)
ZEND_END_ARG_INFO()

#define arginfo_class_Tamis_Build_against arginfo_class_Tamis_Build_addMany

#define arginfo_class_Tamis_Build_except arginfo_class_Tamis_Build_addMany

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tamis_Build_publish, 0, 0, IS_ARRAY, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tamis_Build_close, 0, 0, IS_VOID, 0)
ZEND_END_ARG_INFO()


ZEND_METHOD(Tamis_Build, __construct);
ZEND_METHOD(Tamis_Build, addMany);
ZEND_METHOD(Tamis_Build, against);
ZEND_METHOD(Tamis_Build, except);
ZEND_METHOD(Tamis_Build, publish);
ZEND_METHOD(Tamis_Build, close);


static const zend_function_entry class_Tamis_Build_methods[] = {
	ZEND_ME(Tamis_Build, __construct, arginfo_class_Tamis_Build___construct, ZEND_ACC_PRIVATE)
	ZEND_ME(Tamis_Build, addMany, arginfo_class_Tamis_Build_addMany, ZEND_ACC_PUBLIC)
	ZEND_ME(Tamis_Build, against, arginfo_class_Tamis_Build_against, ZEND_ACC_PUBLIC)
	ZEND_ME(Tamis_Build, except, arginfo_class_Tamis_Build_except, ZEND_ACC_PUBLIC)
	ZEND_ME(Tamis_Build, publish, arginfo_class_Tamis_Build_publish, ZEND_ACC_PUBLIC)
	ZEND_ME(Tamis_Build, close, arginfo_class_Tamis_Build_close, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};

static zend_class_entry *register_class_Tamis_Build(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Tamis", "Build", class_Tamis_Build_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL|ZEND_ACC_NO_DYNAMIC_PROPERTIES|ZEND_ACC_NOT_SERIALIZABLE;

	return class_entry;
}
