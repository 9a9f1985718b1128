/* What emulated device code asks of the runtime: registers, accesses and their widths, warp operations,
 * atomics; how kernels describe themselves; integer intrinsics. */
#include "device_testing.h"

#include <signal.h>

#include "philox.h"

static void parameters_are_described(void **state) {
    (void)state;
    device d;
    device_open(&d,
                "#include <cuda_fp16.h>\nenum E { A }; struct S { int a[5]; };\n"
                "template <class T> __global__ void k(const T *a, half *b, int n, unsigned long long u, "
                "float f, bool c, void *v, S s, E e, "
                "__nv_bfloat16 h, const int *const *pp) {}\n__global__ void none() {}\nnamespace a { "
                "namespace { template <int N> "
                "__global__ void deep(short *x) { x[0] = N; } } }\n",
                3, (const char *const[]){"k<double>", "none", "a::deep<7>"});
    static const cupel_emu_param want[] = {{8, 1, 8, 4, 1, "const double *"},
                                           {8, 1, 2, 4, 0, "__half *"},
                                           {4, 2, 0, 0, 0, "int"},
                                           {8, 3, 0, 0, 0, "unsigned long long"},
                                           {4, 4, 0, 0, 0, "float"},
                                           {1, 5, 0, 0, 0, "bool"},
                                           {8, 1, 0, 0, 0, "void *"},
                                           {20, 0, 0, 0, 0, "S"},
                                           {4, 3, 0, 0, 0, "E"},
                                           {2, 4, 0, 0, 0, "__nv_bfloat16"},
                                           {8, 1, 8, 1, 1, "const int *const *"}};
    const cupel_emu_kernel *k = d.candidate->kernels;
    assert_string_equal(k[0].entry, "k<double>");
    assert_int_equal(k[0].param_count, sizeof want / sizeof *want);
    for (uint32_t i = 0; i < k[0].param_count; i++) {
        const cupel_emu_param *got = &k[0].params[i];
        assert_string_equal(got->type, want[i].type);
        assert_int_equal(got->size, want[i].size);
        assert_int_equal(got->kind, want[i].kind);
        assert_int_equal(got->pointee, want[i].pointee);
        assert_int_equal(got->pointee_kind, want[i].pointee_kind);
        assert_int_equal(got->is_const, want[i].is_const);
    }
    assert_int_equal(k[1].param_count, 0);
    device_call(&d, 1, NULL);
    short x = 0;
    void *px = &x;
    device_call(&d, 2, (void *[]){&px});
    assert_int_equal(x, 7);
    device_close(&d);
}

static void launch_bounds(void **state) {
    (void)state;
    device d;
    device_open(&d,
                "constexpr int kFour = 4;\n#define WARP 32\nnamespace n { constexpr int kHidden = 8; }\n"
                "__global__ void __launch_bounds__(128) a() {}\n__global__ void b() {}\n"
                "template <class T, int B = (2 > 1 ? 64 : 1), int W = WARP> __global__ void "
                "__launch_bounds__(B * kFour, 2) c(T *x) {}\n"
                "namespace n { __global__ __launch_bounds__(kHidden) void e() {} }\n",
                4, (const char *const[]){"a", "b", "c<float, 16>", "c<float>"});
    static const uint32_t want[] = {128, 0, 64, 256};
    for (int i = 0; i < 4; i++) assert_int_equal(d.candidate->kernels[i].max_threads, want[i]);
    device_close(&d);
    device_open(
        &d, "namespace n { constexpr int kHidden = 8; __global__ __launch_bounds__(kHidden) void e() {} }\n",
        1, (const char *const[]){"n::e"});
    assert_int_equal(d.candidate->kernels[0].max_threads, 0); /* not told: no limit that might be wrong */
    device_close(&d);
}

static void registers(void **state) {
    (void)state;
    device d;
    device_open(
        &d,
        "__device__ int from_function() { return threadIdx.y; }\n__global__ void k(unsigned *o, float *f) {\n"
        "  auto t = threadIdx; dim3 b = blockDim; const uint3 q = blockIdx; dim3 g(gridDim);\n"
        "  o[0] = t.x; o[1] = from_function(); o[2] = threadIdx.z; o[3] = q.x; o[4] = blockIdx.y; o[5] = "
        "blockIdx.z;\n"
        "  o[6] = b.x; o[7] = blockDim.y; o[8] = b.z; o[9] = g.x; o[10] = gridDim.y; o[11] = g.z;\n"
        "  extern __shared__ float s[]; s[1] = 5.f; o[12] = warpSize; o[13] = min(blockDim.x, 3u);\n}\n",
        1, (const char *const[]){"k"});
    float shared[4] = {0};
    *d.candidate->registers = (cupel_emu_registers_t){.thread = {1, 2, 3},
                                                      .block = {4, 5, 6},
                                                      .block_dim = {7, 8, 9},
                                                      .grid_dim = {10, 11, 12},
                                                      .dynamic_shared = shared};
    unsigned out[14];
    void *po = out, *pf = shared;
    device_call(&d, 0, (void *[]){&po, &pf});
    for (unsigned i = 0; i < 12; i++) assert_int_equal(out[i], i + 1);
    assert_int_equal(out[12], 32);
    assert_int_equal(out[13], 3);
    assert_true(shared[1] == 5.f);
    assert_int_equal(told.loads[1] + told.loads[2] + told.loads[4] + told.loads[8],
                     0); /* registers are not accesses */
    device_close(&d);
}

static sigjmp_buf before_access;
static void jump_back(int number) {
    (void)number;
    siglongjmp(before_access, 1);
}

/* A copy of a vector type is one access of its width, at its alignment. */
static void vectors_are_accessed_whole(void **state) {
    (void)state;
    static const struct {
        const char *type;
        int size, accesses, width;
    } cases[] = {{"float4", 16, 1, 16},  {"float2", 8, 1, 8},         {"int4", 16, 1, 16},
                 {"uint2", 8, 1, 8},     {"char4", 4, 1, 4},          {"uchar2", 2, 1, 2},
                 {"short4", 8, 1, 8},    {"ushort2", 4, 1, 4},        {"double2", 16, 1, 16},
                 {"double4", 32, 2, 16}, {"longlong2", 16, 1, 16},    {"ulonglong4", 32, 2, 16},
                 {"half2", 4, 1, 4},     {"__nv_bfloat162", 4, 1, 4}, {"half", 2, 1, 2},
                 {"float", 4, 1, 4},     {"double", 8, 1, 8},         {"half", 2, 1, 2}};
    enum { CASES = sizeof cases / sizeof *cases };
    fixture m = fixture_open();
    const char *names[2 * CASES];
    char *text = cupel_arena_text(m.arena, "", 0);
    for (int i = 0; i < CASES; i++) {
        names[2 * i] = cupel_arena_printf(m.arena, "copy%d", i);
        names[2 * i + 1] = cupel_arena_printf(m.arena, "part%d", i);
        text = cupel_arena_printf(
            m.arena,
            "%s__global__ void copy%d(const %s *a, %s *b) { b[0] = a[0]; }\n"
            "__global__ void part%d(const char *a, float *b) { %s v = *reinterpret_cast<const %s *>(a);\n"
            "  float s; memcpy(&s, &v, sizeof v < 4 ? sizeof v : 4); b[0] = s; }\n",
            text, i, cases[i].type, cases[i].type, i, cases[i].type, cases[i].type);
    }
    device d;
    device_open(&d, text, 2 * CASES, names);
    _Alignas(32) unsigned char from[64], to[64];
    for (int i = 0; i < CASES; i++) {
        for (int k = 0; k < 64; k++) from[k] = (unsigned char)(k + 1), to[k] = 0;
        const void *pf = from;
        void *pt = to;
        device_call(&d, 2 * i, (void *[]){&pf, &pt});
        assert_memory_equal(from, to, (size_t)cases[i].size);
        assert_int_equal(to[cases[i].size], 0);
        if (told.loads[cases[i].width] != cases[i].accesses ||
            told.stores[cases[i].width] != cases[i].accesses)
            fail_msg("%s: %d loads and %d stores of %d bytes", cases[i].type, told.loads[cases[i].width],
                     told.stores[cases[i].width], cases[i].width);
        assert_int_equal(told.misaligned, 0);
        if (cases[i].width >= 8 || strcmp(cases[i].type, "half2") == 0) {
            /* a misaligned one shows, even when only a part is used, before the processor refuses it */
            pf = from + (cases[i].width == 4 ? 2 : 4);
            void (*old)(int) = signal(SIGSEGV, jump_back);
            if (sigsetjmp(before_access, 1) == 0) device_call(&d, 2 * i + 1, (void *[]){&pf, &pt});
            signal(SIGSEGV, old);
            if (!told.misaligned) fail_msg("%s: a misaligned load did not show", cases[i].type);
        }
    }
    device_close(&d);
    fixture_close(&m);
}

static void shuffles_carry_every_type(void **state) {
    (void)state;
    static const char *const types[] = {"int",  "unsigned", "long long",     "float", "double",
                                        "half", "half2",    "__nv_bfloat16", "char",  "unsigned short"};
    static const int sizes[] = {4, 4, 8, 4, 8, 2, 4, 2, 1, 2};
    static const char *const names[] = {"__shfl_sync", "__shfl_up_sync", "__shfl_down_sync",
                                        "__shfl_xor_sync"};
    fixture m = fixture_open();
    char *text = cupel_arena_text(m.arena, "", 0);
    const char *entries[40];
    for (int t = 0; t < 10; t++)
        for (int s = 0; s < 4; s++) {
            entries[t * 4 + s] = cupel_arena_printf(m.arena, "k%d", t * 4 + s);
            text = cupel_arena_printf(
                m.arena, "%s__global__ void k%d(%s *x) { x[1] = %s(0xff00ff00u, x[0], 5, 16); }\n", text,
                t * 4 + s, types[t], names[s]);
        }
    device d;
    device_open(&d, text, 40, entries);
    for (int k = 0; k < 40; k++) {
        _Alignas(8) unsigned char x[16];
        int size = sizes[k / 4];
        for (int i = 0; i < 16; i++) x[i] = (unsigned char)(i < size ? i + 0x11 : 0);
        void *px = x;
        device_call(&d, k, (void *[]){&px});
        assert_memory_equal(x, x + size, (size_t)size);
        assert_int_equal(told.shuffle_kind, CUPEL_EMU_SHFL_IDX + k % 4);
        assert_int_equal(told.mask, 0xff00ff00u);
        assert_int_equal(told.argument, 5);
        assert_int_equal(told.width, 16);
    }
    device_close(&d);
    fixture_close(&m);
}

static void votes_and_barriers(void **state) {
    (void)state;
    static const struct {
        const char *expression;
        int64_t want;
        int kind;
        uint32_t mask;
    } cases[] = {
        {"__all_sync(3u, 7)", (int32_t)0x80000001, CUPEL_EMU_VOTE_ALL, 3},
        {"__any_sync(3u, 7)", (int32_t)0x80000001, CUPEL_EMU_VOTE_ANY, 3},
        {"__ballot_sync(5u, 7)", 0x80000001u, CUPEL_EMU_VOTE_BALLOT, 5},
        {"__match_any_sync(6u, 1.5)", 0x80000001u, CUPEL_EMU_MATCH_ANY, 6},
        {"__match_all_sync(6u, 1ll, &predicate) + predicate", 0x80000002u, CUPEL_EMU_MATCH_ALL, 6},
        {"__reduce_add_sync(7u, 1u)", 0x80000001u, CUPEL_EMU_REDUCE_ADD, 7},
        {"__reduce_min_sync(7u, -1)", (int32_t)0x80000001, CUPEL_EMU_REDUCE_MIN, 7},
        {"__reduce_max_sync(7u, 1u)", 0x80000001u, CUPEL_EMU_REDUCE_UMAX, 7},
        {"__reduce_xor_sync(7u, 1u)", 0x80000001u, CUPEL_EMU_REDUCE_XOR, 7},
        {"__syncthreads_count(9)", CUPEL_EMU_SYNC_COUNT * 10 + 1, 0, 0},
        {"__syncthreads_and(0)", CUPEL_EMU_SYNC_AND * 10, 0, 0},
        {"__syncthreads_or(4)", CUPEL_EMU_SYNC_OR * 10 + 1, 0, 0},
        {"__activemask()", 0x0f0f0f0f, 0, 0},
        {"clock64()", 12345, 0, 0},
        {"(__syncwarp(12u), 1)", 1, 0, 12},
    };
    enum { CASES = sizeof cases / sizeof *cases };
    fixture m = fixture_open();
    char *text = cupel_arena_text(m.arena, "", 0);
    const char *entries[CASES];
    for (int i = 0; i < CASES; i++) {
        entries[i] = cupel_arena_printf(m.arena, "k%d", i);
        text = cupel_arena_printf(
            m.arena,
            "%s__global__ void k%d(long long *x) { int predicate = 0; (void)predicate; x[0] = %s; }\n", text,
            i, cases[i].expression);
    }
    device d;
    device_open(&d, text, CASES, entries);
    for (int i = 0; i < CASES; i++) {
        long long x = 0;
        void *px = &x;
        device_call(&d, i, (void *[]){&px});
        if (x != cases[i].want) fail_msg("%s is %llx", cases[i].expression, x);
        assert_int_equal(told.vote_kind, cases[i].kind);
        assert_int_equal(told.mask, cases[i].mask);
    }
    device_close(&d);
    fixture_close(&m);
}

static void atomics(void **state) {
    (void)state;
    static const struct {
        const char *type, *call;
        double before, result, after;
    } cases[] = {
        {"int", "atomicAdd(p, 3)", 4, 4, 7},
        {"unsigned", "atomicAdd(p, 3u)", 4, 4, 7},
        {"unsigned long long", "atomicAdd(p, 3ull)", 4, 4, 7},
        {"float", "atomicAdd(p, 3.f)", 4, 4, 7},
        {"double", "atomicAdd(p, 3.0)", 4, 4, 7},
        {"half", "atomicAdd(p, __float2half(3.f))", 4, 4, 7},
        {"__nv_bfloat16", "atomicAdd(p, __float2bfloat16(3.f))", 4, 4, 7},
        {"int", "atomicSub(p, 3)", 4, 4, 1},
        {"int", "atomicExch(p, 9)", 4, 4, 9},
        {"float", "atomicExch(p, 9.f)", 4, 4, 9},
        {"int", "atomicMin(p, -9)", 4, 4, -9},
        {"unsigned", "atomicMin(p, 9u)", 4, 4, 4},
        {"long long", "atomicMax(p, 9ll)", -4, -4, 9},
        {"unsigned long long", "atomicMax(p, 9ull)", 4, 4, 9},
        {"unsigned", "atomicInc(p, 5u)", 4, 4, 5},
        {"unsigned", "atomicInc(p, 4u)", 4, 4, 0},
        {"unsigned", "atomicDec(p, 9u)", 4, 4, 3},
        {"unsigned", "atomicDec(p, 9u)", 0, 0, 9},
        {"unsigned", "atomicDec(p, 9u)", 12, 12, 9},
        {"int", "atomicCAS(p, 4, 8)", 4, 4, 8},
        {"int", "atomicCAS(p, 5, 8)", 4, 4, 4},
        {"unsigned short", "atomicCAS(p, (unsigned short)4, (unsigned short)8)", 4, 4, 8},
        {"int", "atomicAnd(p, 6)", 5, 5, 4},
        {"int", "atomicOr(p, 6)", 5, 5, 7},
        {"int", "atomicXor(p, 6)", 5, 5, 3},
        {"int", "atomicAdd_block(p, 3)", 4, 4, 7},
        {"float", "atomicAdd_system(p, 3.f)", 4, 4, 7},
    };
    enum { CASES = sizeof cases / sizeof *cases };
    fixture m = fixture_open();
    char *text = cupel_arena_text(m.arena, "", 0);
    const char *entries[CASES];
    for (int i = 0; i < CASES; i++) {
        entries[i] = cupel_arena_printf(m.arena, "k%d", i);
        text = cupel_arena_printf(m.arena,
                                  "%s__device__ %s v%d; __global__ void k%d(double *x) { %s *p = &v%d; *p = "
                                  "(%s)x[0]; x[1] = (double)%s; x[2] = (double)*p; }\n",
                                  text, cases[i].type, i, i, cases[i].type, i, cases[i].type, cases[i].call);
    }
    device d;
    device_open(&d, text, CASES, entries);
    for (int i = 0; i < CASES; i++) {
        double x[3] = {cases[i].before, 0, 0};
        void *px = x;
        device_call(&d, i, (void *[]){&px});
        if (x[1] != cases[i].result || x[2] != cases[i].after)
            fail_msg("%s: %g, then %g", cases[i].call, x[1], x[2]);
        assert_int_equal(told.atomics, 1);
        bool adds_floats = strstr(cases[i].call, "Add") && strchr("fdh_", cases[i].type[0]);
        assert_int_equal(told.float_atomics, adds_floats);
        bool swapped = cases[i].before != cases[i].after;
        bool exchanges = strstr(cases[i].call, "Exch") || (strstr(cases[i].call, "CAS") && swapped);
        assert_int_equal(told.exchanges, exchanges);
    }
    device_close(&d);
    fixture_close(&m);
}

typedef uint64_t plain(uint64_t a, uint64_t b, uint64_t c);
static uint64_t popc(uint64_t a, uint64_t b, uint64_t c) {
    (void)b, (void)c;
    int n = 0;
    for (int i = 0; i < 32; i++) n += a >> i & 1;
    return (uint64_t)n;
}
static uint64_t clz(uint64_t a, uint64_t b, uint64_t c) {
    (void)b, (void)c;
    int n = 0;
    while (n < 32 && !(a >> (31 - n) & 1)) n++;
    return (uint64_t)n;
}
static uint64_t ffs_(uint64_t a, uint64_t b, uint64_t c) {
    (void)b, (void)c;
    for (int i = 0; i < 32; i++)
        if (a >> i & 1) return (uint64_t)i + 1;
    return 0;
}
static uint64_t brev(uint64_t a, uint64_t b, uint64_t c) {
    (void)b, (void)c;
    uint64_t r = 0;
    for (int i = 0; i < 32; i++) r |= (a >> i & 1) << (31 - i);
    return r;
}
static uint64_t umulhi(uint64_t a, uint64_t b, uint64_t c) {
    return (void)c, a * b >> 32;
}
static uint64_t mulhi(uint64_t a, uint64_t b, uint64_t c) {
    (void)c;
    return (uint32_t)((uint64_t)((int64_t)(int32_t)a * (int32_t)b) >> 32);
}
static uint64_t byte_perm(uint64_t a, uint64_t b, uint64_t c) {
    unsigned char bytes[8], out[4];
    for (int i = 0; i < 4; i++)
        bytes[i] = (unsigned char)(a >> 8 * i), bytes[4 + i] = (unsigned char)(b >> 8 * i);
    for (int i = 0; i < 4; i++) out[i] = bytes[c >> 4 * i & 7];
    return (uint32_t)out[0] | (uint32_t)out[1] << 8 | (uint32_t)out[2] << 16 | (uint32_t)out[3] << 24;
}
static uint64_t funnel_l(uint64_t a, uint64_t b, uint64_t c) {
    c &= 31;
    return (uint32_t)(c ? b << c | (uint32_t)a >> (32 - c) : b);
}
static uint64_t funnel_r(uint64_t a, uint64_t b, uint64_t c) {
    c &= 31;
    return (uint32_t)(c ? (uint32_t)b << (32 - c) | (uint32_t)a >> c : a);
}
static uint64_t dp4a(uint64_t a, uint64_t b, uint64_t c) {
    for (int i = 0; i < 4; i++) c += (uint64_t)((int)(int8_t)(a >> 8 * i) * (int8_t)(b >> 8 * i));
    return (uint32_t)c;
}
static uint64_t mixed_max(uint64_t a, uint64_t b, uint64_t c) {
    return (void)c, a > b ? a : b;
}
static uint64_t signed_min(uint64_t a, uint64_t b, uint64_t c) {
    return (void)c, (int32_t)a < (int32_t)b ? a : b;
}

static void integer_intrinsics(void **state) {
    (void)state;
    static const struct {
        const char *expression;
        plain *want;
    } cases[] = {
        {"__popc(a)", popc},
        {"__clz((int)a)", clz},
        {"__ffs((int)a)", ffs_},
        {"__brev(a)", brev},
        {"__umulhi(a, b)", umulhi},
        {"(unsigned)__mulhi((int)a, (int)b)", mulhi},
        {"__byte_perm(a, b, c)", byte_perm},
        {"__funnelshift_l(a, b, c)", funnel_l},
        {"__funnelshift_r(a, b, c)", funnel_r},
        {"(unsigned)__dp4a((int)a, (int)b, (int)c)", dp4a},
        {"max((int)a, b)", mixed_max},
        {"(unsigned)min((int)a, (int)b)", signed_min},
        {"__float_as_uint(__uint_as_float(a))", NULL},
        {"(unsigned)__double2hiint(__hiloint2double((int)a, (int)b))", NULL},
    };
    enum { CASES = sizeof cases / sizeof *cases };
    fixture m = fixture_open();
    char *text = cupel_arena_text(m.arena, "", 0);
    const char *entries[CASES];
    for (int i = 0; i < CASES; i++) {
        entries[i] = cupel_arena_printf(m.arena, "k%d", i);
        text = cupel_arena_printf(
            m.arena,
            "%s__global__ void k%d(unsigned a, unsigned b, unsigned c, unsigned *out) { *out = %s; }\n", text,
            i, cases[i].expression);
    }
    device d;
    device_open(&d, text, CASES, entries);
    cupel_random random = cupel_random_start(9, 0);
    for (int round = 0; round < 2000; round++) {
        uint32_t v[3], out;
        for (int k = 0; k < 3; k++)
            v[k] = (uint32_t)cupel_random_u64(&random) >> cupel_random_below(&random, 32);
        if (round == 0) v[0] = v[1] = 0;
        void *po = &out;
        for (int i = 0; i < CASES; i++) {
            device_call(&d, i, (void *[]){&v[0], &v[1], &v[2], &po});
            uint64_t want = cases[i].want ? cases[i].want(v[0], v[1], v[2]) : v[0];
            if (out != want)
                fail_msg("%s at %x %x %x: %x, not %x", cases[i].expression, v[0], v[1], v[2], out,
                         (unsigned)want);
        }
    }
    device_close(&d);
    fixture_close(&m);
}

/* Both sides of every condition are edges of their own: inputs that differ only in a folded condition look
 * different. */
static void branches_are_kept(void **state) {
    (void)state;
    device d;
    device_open(&d,
                "__global__ void k(const float *x, float *y, int n) { float v = x[0]; if (n % 97 == 7 && n > "
                "200) v = 0; y[0] = v; }\n",
                1, (const char *const[]){"k"});
    static const int sizes[] = {8, 104, 201};
    uint32_t maps[3][64];
    float x = 1, y;
    const void *px = &x;
    void *py = &y;
    assert_true(d.candidate->edge_count < 64);
    for (int i = 0; i < 3; i++) {
        int n = sizes[i];
        memset(d.candidate->edges, 0, d.candidate->edge_count * sizeof *maps[i]);
        device_call(&d, 0, (void *[]){&px, &py, &n});
        assert_true(y == (n == 201 ? 0.f : 1.f));
        memcpy(maps[i], d.candidate->edges, d.candidate->edge_count * sizeof *maps[i]);
    }
    assert_memory_not_equal(maps[0], maps[1], d.candidate->edge_count * sizeof *maps[0]);
    assert_memory_not_equal(maps[1], maps[2], d.candidate->edge_count * sizeof *maps[0]);
    device_close(&d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_are_described),
        cmocka_unit_test(registers),
        cmocka_unit_test(launch_bounds),
        cmocka_unit_test(vectors_are_accessed_whole),
        cmocka_unit_test(shuffles_carry_every_type),
        cmocka_unit_test(votes_and_barriers),
        cmocka_unit_test(atomics),
        cmocka_unit_test(integer_intrinsics),
        cmocka_unit_test(branches_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
