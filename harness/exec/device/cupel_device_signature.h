/* The parameters of a kernel as the compiler knows them, written into a device variable of constant content, which is read
 * back out of the PTX: cupel_signature_K for entry K. */
#ifndef CUPEL_DEVICE_SIGNATURE_H
#define CUPEL_DEVICE_SIGNATURE_H

namespace cupel_signature {

/* Kinds as in cupel_emu_param. Small floats that CUDA spells as classes are told by their names. */
template <class T> constexpr unsigned kind_of() {
    if (std::is_pointer<T>::value) return 1;
    if (std::is_same<T, bool>::value) return 5;
    if (std::is_floating_point<T>::value) return 4;
    if (std::is_enum<T>::value) return 3;
    if (std::is_integral<T>::value) return std::is_signed<T>::value ? 2 : 3;
    return 0;
}

template <class T> struct size_of { static constexpr unsigned value = sizeof(T); };
template <> struct size_of<void> { static constexpr unsigned value = 0; };

struct parameter {
    unsigned size, kind, pointee, pointee_kind, is_const;
    char type[108];
};

/* The name of T stands between "T = " and the last bracket of this function's own name. */
template <class T> constexpr parameter describe() {
    typedef std::remove_pointer_t<T> pointee;
    typedef std::remove_cv_t<pointee> plain;
    constexpr bool pointer = std::is_pointer<T>::value;
    parameter p{};
    p.size = sizeof(T);
    p.kind = kind_of<std::remove_cv_t<T>>();
    p.pointee = pointer ? size_of<plain>::value : 0u;
    p.pointee_kind = pointer ? kind_of<plain>() : 0u;
    p.is_const = pointer && std::is_const<pointee>::value;
    const char *text = __PRETTY_FUNCTION__;
    unsigned i = 0, n = 0;
    while (text[i] && !(text[i] == 'T' && text[i + 1] == ' ' && text[i + 2] == '=')) i++;
    for (i += text[i] ? 4 : 0; text[i] && text[i + 1] && n + 1 < sizeof p.type; i++) p.type[n++] = text[i];
    return p;
}

template <class F> struct of;
template <class... P> struct of<void (*)(P...)> {
    struct table {
        unsigned count;
        parameter list[sizeof...(P) + 1];
    };
    static __device__ constexpr table make() { return table{sizeof...(P), {describe<P>()..., parameter{}}}; }
};

} // namespace cupel_signature

#define CUPEL_SIGNATURE(k, ...)                                                                                        \
    extern "C" __device__ cupel_signature::of<decltype(&__VA_ARGS__)>::table cupel_signature_##k =                       \
        cupel_signature::of<decltype(&__VA_ARGS__)>::make();

#endif
