/* This is a generated file, edit the .stub.php file instead.
 * Stub hash: e1eb28b44208267bb9d2345e97a311ff9b702146 */




static const zend_function_entry class_Tamis_Exception_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Tamis_Exception_ClosedException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Tamis_Exception_InvalidException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Tamis_Exception_NotFoundException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Tamis_Exception_ExistsException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Tamis_Exception_MismatchException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Tamis_Exception_NoStoreException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Tamis_Exception_ReadOnlyException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Tamis_Exception_AccessException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Tamis_Exception_NoSpaceException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Tamis_Exception_NoMemoryException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Tamis_Exception_IoException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Tamis_Exception_CorruptException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Tamis_Exception_ForeignException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Tamis_Exception_VersionException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Tamis_Exception_DroppedException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Tamis_Exception_UnsupportedException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Tamis_Exception_LimitException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Tamis_Exception_SystemException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Tamis_Exception_FullException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Tamis_Exception_BusyException_methods[] = {
	ZEND_FE_END
};

static zend_class_entry *register_class_Tamis_Exception(zend_class_entry *class_entry_RuntimeException)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Tamis", "Exception", class_Tamis_Exception_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_RuntimeException);

	zval property_answers_default_value;
	ZVAL_NULL(&property_answers_default_value);
	zend_string *property_answers_name = zend_string_init("answers", sizeof("answers") - 1, 1);
	zend_declare_typed_property(class_entry, property_answers_name, &property_answers_default_value, ZEND_ACC_PUBLIC, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_ARRAY|MAY_BE_NULL));
	zend_string_release(property_answers_name);

	return class_entry;
}

static zend_class_entry *register_class_Tamis_Exception_ClosedException(zend_class_entry *class_entry_Tamis_Exception)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Tamis\\Exception", "ClosedException", class_Tamis_Exception_ClosedException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Tamis_Exception);

	return class_entry;
}

static zend_class_entry *register_class_Tamis_Exception_InvalidException(zend_class_entry *class_entry_Tamis_Exception)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Tamis\\Exception", "InvalidException", class_Tamis_Exception_InvalidException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Tamis_Exception);

	return class_entry;
}

static zend_class_entry *register_class_Tamis_Exception_NotFoundException(zend_class_entry *class_entry_Tamis_Exception)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Tamis\\Exception", "NotFoundException", class_Tamis_Exception_NotFoundException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Tamis_Exception);

	return class_entry;
}

static zend_class_entry *register_class_Tamis_Exception_ExistsException(zend_class_entry *class_entry_Tamis_Exception)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Tamis\\Exception", "ExistsException", class_Tamis_Exception_ExistsException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Tamis_Exception);

	return class_entry;
}

static zend_class_entry *register_class_Tamis_Exception_MismatchException(zend_class_entry *class_entry_Tamis_Exception)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Tamis\\Exception", "MismatchException", class_Tamis_Exception_MismatchException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Tamis_Exception);

	return class_entry;
}

static zend_class_entry *register_class_Tamis_Exception_NoStoreException(zend_class_entry *class_entry_Tamis_Exception)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Tamis\\Exception", "NoStoreException", class_Tamis_Exception_NoStoreException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Tamis_Exception);

	return class_entry;
}

static zend_class_entry *register_class_Tamis_Exception_ReadOnlyException(zend_class_entry *class_entry_Tamis_Exception)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Tamis\\Exception", "ReadOnlyException", class_Tamis_Exception_ReadOnlyException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Tamis_Exception);

	return class_entry;
}

static zend_class_entry *register_class_Tamis_Exception_AccessException(zend_class_entry *class_entry_Tamis_Exception)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Tamis\\Exception", "AccessException", class_Tamis_Exception_AccessException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Tamis_Exception);

	return class_entry;
}

static zend_class_entry *register_class_Tamis_Exception_NoSpaceException(zend_class_entry *class_entry_Tamis_Exception)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Tamis\\Exception", "NoSpaceException", class_Tamis_Exception_NoSpaceException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Tamis_Exception);

	return class_entry;
}

static zend_class_entry *register_class_Tamis_Exception_NoMemoryException(zend_class_entry *class_entry_Tamis_Exception)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Tamis\\Exception", "NoMemoryException", class_Tamis_Exception_NoMemoryException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Tamis_Exception);

	return class_entry;
}

static zend_class_entry *register_class_Tamis_Exception_IoException(zend_class_entry *class_entry_Tamis_Exception)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Tamis\\Exception", "IoException", class_Tamis_Exception_IoException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Tamis_Exception);

	return class_entry;
}

static zend_class_entry *register_class_Tamis_Exception_CorruptException(zend_class_entry *class_entry_Tamis_Exception)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Tamis\\Exception", "CorruptException", class_Tamis_Exception_CorruptException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Tamis_Exception);

	return class_entry;
}

static zend_class_entry *register_class_Tamis_Exception_ForeignException(zend_class_entry *class_entry_Tamis_Exception)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Tamis\\Exception", "ForeignException", class_Tamis_Exception_ForeignException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Tamis_Exception);

	return class_entry;
}

static zend_class_entry *register_class_Tamis_Exception_VersionException(zend_class_entry *class_entry_Tamis_Exception)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Tamis\\Exception", "VersionException", class_Tamis_Exception_VersionException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Tamis_Exception);

	return class_entry;
}

static zend_class_entry *register_class_Tamis_Exception_DroppedException(zend_class_entry *class_entry_Tamis_Exception)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Tamis\\Exception", "DroppedException", class_Tamis_Exception_DroppedException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Tamis_Exception);

	return class_entry;
}

static zend_class_entry *register_class_Tamis_Exception_UnsupportedException(zend_class_entry *class_entry_Tamis_Exception)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Tamis\\Exception", "UnsupportedException", class_Tamis_Exception_UnsupportedException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Tamis_Exception);

	return class_entry;
}

static zend_class_entry *register_class_Tamis_Exception_LimitException(zend_class_entry *class_entry_Tamis_Exception)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Tamis\\Exception", "LimitException", class_Tamis_Exception_LimitException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Tamis_Exception);

	return class_entry;
}

static zend_class_entry *register_class_Tamis_Exception_SystemException(zend_class_entry *class_entry_Tamis_Exception)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Tamis\\Exception", "SystemException", class_Tamis_Exception_SystemException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Tamis_Exception);

	return class_entry;
}

static zend_class_entry *register_class_Tamis_Exception_FullException(zend_class_entry *class_entry_Tamis_Exception)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Tamis\\Exception", "FullException", class_Tamis_Exception_FullException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Tamis_Exception);

	return class_entry;
}

static zend_class_entry *register_class_Tamis_Exception_BusyException(zend_class_entry *class_entry_Tamis_Exception)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Tamis\\Exception", "BusyException", class_Tamis_Exception_BusyException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Tamis_Exception);

	return class_entry;
}
