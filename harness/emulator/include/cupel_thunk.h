/* How the runtime calls a kernel it knows by name only: a function that takes the arguments by address, and a description of the
 * parameters, both made from the kernel's own type. The text appended to each source lists its entries with CUPEL_ENTRY. */
#ifndef CUPEL_THUNK_H
#define CUPEL_THUNK_H

namespace cupel_thunk {

template <class T> constexpr uint32_t kind_of() {
    if (std::is_pointer<T>::value) return 1;
    if (std::is_same<T, bool>::value) return 5;
    if (std::is_same<T, __half>::value || std::is_same<T, __nv_bfloat16>::value) return 4;
    if (std::is_floating_point<T>::value) return 4;
    if (std::is_enum<T>::value) return 3;
    if (std::is_integral<T>::value) return std::is_signed<T>::value ? 2 : 3;
    return 0;
}

template <class T> struct size_of { static constexpr uint32_t value = sizeof(T); };
template <> struct size_of<void> { static constexpr uint32_t value = 0; };

/* The name of T, cut out of this function's own: "... spelling() [T = const float *]". */
template <class T> constexpr auto spelling() {
    constexpr size_t size = sizeof(__PRETTY_FUNCTION__);
    struct {
        char text[size];
    } result{};
    const char *p = __PRETTY_FUNCTION__;
    size_t end = size - 1, begin = 0, n = 0;
    while (!(p[begin] == '[' && p[begin + 1] == 'T' && p[begin + 2] == ' ')) begin++;
    for (size_t i = begin + 5; i + 1 < end; i++) result.text[n++] = p[i];
    return result;
}
template <class T> struct name_of { static constexpr auto value = spelling<T>(); };

template <class T> constexpr cupel_emu_param describe() {
    typedef std::remove_pointer_t<T> pointee;
    typedef std::remove_cv_t<pointee> plain;
    constexpr bool pointer = std::is_pointer<T>::value;
    return cupel_emu_param{(uint32_t)sizeof(T),
                           kind_of<T>(),
                           pointer ? size_of<plain>::value : 0u,
                           pointer ? kind_of<plain>() : 0u,
                           pointer && std::is_const<pointee>::value,
                           name_of<T>::value.text};
}

/* The last one keeps the array from being empty. */
template <class... P> struct parameters {
    static constexpr cupel_emu_param list[] = {describe<P>()..., cupel_emu_param{}};
};

/* The argument list is the harness's memory, not the kernel's: reading it is not checked. */
#define CUPEL_UNCHECKED __attribute__((no_sanitize("kernel-address")))

template <auto F> struct of;
template <class... P, void (*F)(P...)> struct of<F> {
    static constexpr uint32_t count = sizeof...(P);
    static constexpr const cupel_emu_param *list = parameters<P...>::list;
    template <size_t... I> CUPEL_UNCHECKED static __device__ void apply(void *const *args, std::index_sequence<I...>) {
        (void)args;
        F(*(std::remove_cv_t<P> *)args[I]...);
    }
    CUPEL_UNCHECKED static __device__ void call(void *const *args) { apply(args, std::index_sequence_for<P...>()); }
};

} // namespace cupel_thunk

#define CUPEL_ENTRY(text, bound, ...)                                                                               \
    cupel_emu_kernel{text, &cupel_thunk::of<&__VA_ARGS__>::call, cupel_thunk::of<&__VA_ARGS__>::count,       \
                     cupel_thunk::of<&__VA_ARGS__>::list, (uint32_t)bound},
#define CUPEL_EXPORT extern "C" __device__ __attribute__((used))

#endif
