/* Device asserts end the run. Not guarded: NDEBUG may change between inclusions. */
#undef assert
#ifdef NDEBUG
#define assert(condition) ((void)0)
#else
#define assert(condition)                                                                                    \
    ((condition) ? (void)0 : cupel_emu_assert_fail(#condition, __FILE__, __LINE__, __PRETTY_FUNCTION__))
#endif
