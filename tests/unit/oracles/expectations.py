"""Expected values of the language's functions, by another route: mpmath with 60 digits and NumPy's own shape functions.

Prints, tab separated: "input name type shape values.." and "case expression shape values..". Formulas are the textbook ones, not the
decompositions that the graph uses: softmax without its maximum, the normal distribution for gelu, E(x^2) - E(x)^2 for a variance.
"""
import sys

try:
    import mpmath
    import numpy as np
    from mpmath import mp, mpf
except ImportError as error:
    print("skip\t%s" % error)
    sys.exit(0)

sys.dont_write_bytecode = True
import expectations_recurrences
import expectations_windows

mp.dps = 60
rng = np.random.default_rng(7)


def f32(values):
    return np.asarray(values, dtype=np.float32)


inputs = {
    "x": f32(rng.standard_normal((3, 4)) * 2),
    "z": f32(rng.standard_normal((3, 4))),
    "v": f32(rng.standard_normal(4)),
    "p": f32(rng.uniform(0.05, 6, (3, 4))),
    "u": f32(rng.uniform(-0.99, 0.99, (3, 4))),
    "t": f32(rng.standard_normal((2, 3, 4))),
    "i": np.asarray(rng.integers(-9, 9, (3, 4)), dtype=np.int32),
    "k": np.asarray(rng.integers(0, 3, (3, 4)), dtype=np.int32),
    "m": rng.integers(0, 2, (3, 4)).astype(bool),
    "c": f32(rng.standard_normal((2, 4, 5, 3))),
}


def exact(a):
    """An array of exact mpf numbers (or Python integers)."""
    if a.dtype == np.bool_:
        return a.astype(object)
    if a.dtype == np.int32:
        return np.vectorize(int, otypes=[object])(a)
    return np.vectorize(lambda e: mpf(float(e)), otypes=[object])(a)


X = {name: exact(a) for name, a in inputs.items()}
x, z, v, p, u, t, i, k, m = (X[n] for n in "xzvputikm")
c = X["c"]
each = lambda f: (lambda *a: np.vectorize(f, otypes=[object])(*a))
one = mpf(1)


def sums(a, axis=None, keep=False):
    return np.sum(a, axis=axis, keepdims=keep)


def mean(a, axis=None, keep=False):
    n = a.size if axis is None else np.prod([a.shape[j] for j in np.atleast_1d(axis)])
    return sums(a, axis, keep) / mpf(int(n))


def var(a, axis=None, correction=1, keep=False):
    n = a.size if axis is None else a.shape[axis]
    biased = mean(a * a, axis, keep) - mean(a, axis, keep) ** 2
    return biased * mpf(int(n)) / mpf(int(n) - correction)


exp, log, sqrt = each(mp.exp), each(mp.log), each(mp.sqrt)


def softmax(a, axis):
    return exp(a) / sums(exp(a), axis, True)


def logsumexp(a, axis, keep=False):
    return log(sums(exp(a), axis, keep))


def layer_norm(a, eps):
    return (a - mean(a, -1, True)) / sqrt(var(a, -1, 0, True) + eps)


def half_even(a):
    """float32 value rounded to float16 by NumPy."""
    return each(lambda e: mpf(float(np.float16(float(e)))))(a)


sigmoid = each(lambda e: 1 / (1 + mp.exp(-e)))
softplus = each(lambda e: mp.log(1 + mp.exp(e)))
d = x - z
tensor = np.take_along_axis
first = each(lambda b: 1 if b else 0)

cases = [
    ("neg(x)", -x), ("abs(x)", abs(x)), ("sign(x)", each(mp.sign)(x)),
    ("floor(x)", each(mp.floor)(x)), ("ceil(x)", each(mp.ceil)(x)), ("trunc(x)", each(lambda e: mpf(int(e)))(x)),
    ("round(x * 4)", each(lambda e: mpf(round(float(e))))(x * 4)),
    ("sqrt(p)", sqrt(p)), ("rsqrt(p)", 1 / sqrt(p)), ("reciprocal(x)", 1 / x),
    ("exp(x)", exp(x)), ("exp2(x)", each(lambda e: mpf(2) ** e)(x)), ("expm1(u)", exp(u) - 1),
    ("log(p)", log(p)), ("log2(p)", log(p) / mp.log(2)), ("log10(p)", log(p) / mp.log(10)), ("log1p(u)", log(1 + u)),
    ("sin(x)", each(mp.sin)(x)), ("cos(x)", each(mp.cos)(x)), ("tan(x)", each(lambda e: mp.sin(e) / mp.cos(e))(x)),
    ("asin(u)", each(mp.asin)(u)), ("acos(u)", each(mp.acos)(u)), ("atan(x)", each(mp.atan)(x)),
    ("atan2(x, z)", each(mp.atan2)(x, z)),
    ("sinh(x)", (exp(x) - exp(-x)) / 2), ("cosh(x)", (exp(x) + exp(-x)) / 2), ("tanh(x)", 1 - 2 / (exp(2 * x) + 1)),
    ("erf(x)", each(mp.erf)(x)), ("erfc(x)", each(mp.erfc)(x)),
    ("sigmoid(x)", sigmoid(x)), ("relu(x)", each(lambda e: max(e, 0))(x)),
    ("leaky_relu(x)", each(lambda e: e if e > 0 else e / 100)(x)),
    ("leaky_relu(x, negative_slope=0.25)", each(lambda e: e if e > 0 else e / 4)(x)),
    ("elu(x)", each(lambda e: e if e > 0 else mp.exp(e) - 1)(x)),
    ("elu(x, alpha=0.5)", each(lambda e: e if e > 0 else (mp.exp(e) - 1) / 2)(x)),
    ("selu(x)", each(lambda e: mpf("1.0507009873554804934193349852946") *
                     (e if e > 0 else mpf("1.6732632423543772848170429916717") * (mp.exp(e) - 1)))(x)),
    ("celu(x, alpha=2)", each(lambda e: max(e, 0) + min(0, 2 * (mp.exp(e / 2) - 1)))(x)),
    ("gelu(x)", each(lambda e: e * mp.ncdf(e))(x)),
    ("gelu(x, approximate=\"tanh\")",
     each(lambda e: e / (1 + mp.exp(-2 * mp.sqrt(2 / mp.pi) * (e + mpf("0.044715") * e ** 3))))(x)),
    ("silu(x)", x * sigmoid(x)), ("mish(x)", x * each(mp.tanh)(softplus(x))),
    ("softplus(x)", softplus(x)), ("softplus(x, beta=2)", softplus(2 * x) / 2),
    ("softplus(x, threshold=1)", each(lambda e: e if e > 1 else mp.log(1 + mp.exp(e)))(x)),
    ("softsign(x)", x / (1 + abs(x))),
    ("hardtanh(x)", each(lambda e: max(-1, min(1, e)))(x)),
    ("hardtanh(x, min_val=-0.5, max_val=2)", each(lambda e: max(mpf(-0.5), min(2, e)))(x)),
    ("hardsigmoid(x)", each(lambda e: max(0, min(6, e + 3)) / 6)(x)),
    ("hardswish(x)", each(lambda e: e * max(0, min(6, e + 3)) / 6)(x)),
    ("logsigmoid(x)", log(sigmoid(x))), ("tanhshrink(x)", x - each(mp.tanh)(x)),
    ("softshrink(x)", each(lambda e: e - mpf(0.5) if e > 0.5 else e + mpf(0.5) if e < -0.5 else mpf(0))(x)),
    ("hardshrink(x)", each(lambda e: e if abs(e) > 0.5 else mpf(0))(x)),
    ("pow(p, x)", p ** x), ("p ** 2.5", p ** mpf(2.5)), ("x ** 3", x * x * x), ("x ** 2", x * x), ("x ** -2", 1 / (x * x)),
    ("p ** 0.5", sqrt(p)), ("p ** -0.5", 1 / sqrt(p)), ("x ** -1", 1 / x), ("x ** 0", x * 0 + 1), ("i ** 3", i ** 3),
    ("2 ** x", each(lambda e: mpf(2) ** e)(x)), ("x ** 5", x ** 5),
    ("fmod(x, 0.75)", each(lambda e: mpf(float(np.fmod(float(e), 0.75))))(x)),
    ("x % 0.75", each(lambda e: mpf(float(np.remainder(float(e), 0.75))))(x)),
    ("x % z", each(lambda a, b: a - b * mp.floor(a / b))(x, z)),
    ("i % 4", each(lambda e: e % 4)(i)), ("fmod(i, 4)", each(lambda e: int(np.fmod(e, 4)))(i)),
    ("clamp(x, -1, 1.5)", each(lambda e: max(-1, min(mpf(1.5), e)))(x)), ("clamp(x, max=0)", each(lambda e: min(0, e))(x)),
    ("minimum(x, z)", np.minimum(x, z)), ("maximum(x, v)", np.maximum(x, v)),
    ("fmin(x, z)", np.minimum(x, z)), ("fmax(x, z)", np.maximum(x, z)),
    ("where(x > z, x, v)", np.where(x > z, x, np.broadcast_to(v, x.shape))),
    ("cast(x, f16)", half_even(x)), ("cast(x * 10, i32)", each(lambda e: int(e))(x * 10)),
    ("x + v", x + v), ("x - z * v", x - z * v), ("x / z", x / z), ("-x * 0.1", -x * mpf("0.1")), ("x + pi", x + mp.pi),
    ("i + 1", i + 1), ("i / 4", each(lambda e: mpf(e) / 4)(i)), ("i * i - i", i * i - i), ("x * i", x * i), ("x * (1 / 3)", x / 3),
    ("i & 3 | 8", each(lambda e: e & 3 | 8)(i)), ("i ^ 5", each(lambda e: e ^ 5)(i)), ("(i << 2) >> 1", each(lambda e: e << 2 >> 1)(i)),
    ("~i", each(lambda e: ~e)(i)),
    ("x < z", first(x < z)), ("x >= z", first(x >= z)), ("x != x", first(x != x)), ("i == k", first(i == k)),
    ("not m or x > 0", first(~m.astype(bool) | (x > 0))), ("m & (x > 0)", first(m.astype(bool) & (x > 0))),
    ("m + m", first(m) * 2), ("m ^ (x > 0)", first(m.astype(bool) ^ (x > 0))),
    # reductions
    ("sum(x)", sums(x)), ("sum(x, axis=0)", sums(x, 0)), ("sum(x, axis=-1, keepdim=true)", sums(x, -1, True)),
    ("sum(t, axis=[0, 2])", sums(t, (0, 2))), ("sum(t, axis=1)", sums(t, 1)), ("sum(i)", sums(i)), ("sum(m)", sums(first(m))),
    ("mean(t, axis=[1, 2], keepdim=true)", mean(t, (1, 2), True)), ("mean(i)", mean(i)),
    ("prod(x, axis=1)", np.prod(x, axis=1)), ("prod(i, axis=0)", np.prod(i, axis=0)),
    ("amax(x, axis=0)", np.max(x, axis=0)), ("amin(t, axis=[0, 1])", np.min(t, axis=(0, 1))), ("amax(i)", np.max(i)),
    ("argmax(x)", np.argmax(x)), ("argmax(x, axis=0)", np.argmax(x, axis=0)), ("argmin(x, axis=1, keepdim=true)", np.argmin(x, axis=1)[:, None]),
    ("argmax(k, axis=1)", np.argmax(k, axis=1)), ("argmin(k, axis=0)", np.argmin(k, axis=0)),
    ("all(x > -1, axis=1)", first(np.all(x > -1, axis=1))), ("any(m)", first(np.any(m))), ("any(x > 2, axis=0)", first(np.any(x > 2, axis=0))),
    ("var(x)", var(x)), ("var(x, axis=1)", var(x, 1)), ("var(x, axis=0, correction=0, keepdim=true)", var(x, 0, 0, True)),
    ("std(x, axis=1)", sqrt(var(x, 1))),
    ("norm(x)", sqrt(sums(x * x))), ("norm(x, p=1, axis=0)", sums(abs(x), 0)), ("norm(x, p=inf, axis=1)", np.max(abs(x), axis=1)),
    ("norm(x, p=-inf)", np.min(abs(x))), ("norm(x, p=3, axis=1)", each(mp.cbrt)(sums(abs(x) ** 3, 1))), ("norm(x, p=0)", mpf(12)),
    ("logsumexp(x, axis=1)", logsumexp(x, 1)), ("logsumexp(t, axis=[0, 2], keepdim=true)", log(sums(exp(t), (0, 2), True))),
    # softmax family, norms, scans
    ("softmax(x, axis=-1)", softmax(x, -1)), ("softmax(t, axis=1)", softmax(t, 1)), ("log_softmax(x, axis=0)", log(softmax(x, 0))),
    ("layer_norm(x)", layer_norm(x, mpf("1e-5"))), ("layer_norm(x, v, z, 0.1)", layer_norm(x, mpf("0.1")) * v + z),
    ("rms_norm(x)", x / sqrt(mean(x * x, -1, True) + mpf("1e-5"))), ("rms_norm(x, v, eps=1)", v * x / sqrt(mean(x * x, -1, True) + 1)),
    ("l2_normalize(x)", x / sqrt(sums(x * x, -1, True))),
    ("cumsum(x, axis=1)", np.cumsum(x, axis=1)), ("cumsum(t, axis=0)", np.cumsum(t, axis=0)), ("cumprod(x, axis=0)", np.cumprod(x, axis=0)),
    ("cummax(x, axis=1)", np.maximum.accumulate(x, axis=1)), ("cummin(t, axis=1)", np.minimum.accumulate(t, axis=1)), ("cumsum(i, axis=0)", np.cumsum(i, axis=0)),
    # products
    ("matmul(x, transpose(z))", x @ z.T), ("matmul(x, v)", x @ v), ("matmul(v, v)", v @ v), ("matmul(t, transpose(x))", t @ x.T),
    ("matmul(i, transpose(k))", i @ k.T), ("linear(x, z, v[:3])", x @ z.T + v[:3]), ("outer(v, v)", np.outer(v, v)), ("linear(t, z)", t @ z.T),
    # shapes
    ("transpose(t, 0, 2)", np.swapaxes(t, 0, 2)), ("transpose(t)", np.swapaxes(t, 1, 2)), ("permute(t, [2, 0, 1])", np.transpose(t, (2, 0, 1))),
    ("reshape(transpose(x), [2, -1])", x.T.reshape(2, -1)), ("broadcast_to(v, [2, 4])", np.broadcast_to(v, (2, 4))),
    ("unsqueeze(x, 1)", x[:, None]), ("squeeze(x[:, :1])", x[:, 0]), ("squeeze(t[:1], 0)", t[0]),
    ("concat([x, z], axis=1)", np.concatenate([x, z], axis=1)), ("concat([x, z[1:]])", np.concatenate([x, z[1:]])), ("concat([i, x], 0)", np.concatenate([i, x])),
    ("stack([x, z], axis=2)", np.stack([x, z], axis=2)), ("stack([x, z])", np.stack([x, z])),
    ("slice(x, 1, 1, 4, 2)", x[:, 1:4:2]), ("slice(x, axis=0, start=-2)", x[-2:]), ("x[1:, ::3]", x[1:, ::3]), ("x[-1]", x[-1]), ("t[:, 1, -2:]", t[:, 1, -2:]),
    ("transpose(x)[1:, ::2]", x.T[1:, ::2]),
    ("flip(x, axis=1)", x[:, ::-1]), ("flip(x, [0, 1])", x[::-1, ::-1]), ("roll(x, 1, axis=1)", np.roll(x, 1, axis=1)), ("roll(x, -5)", np.roll(x, -5)),
    ("roll(t, [1, 2], axis=[0, 2])", np.roll(t, (1, 2), axis=(0, 2))),
    ("pad(x, [1, 2], value=0.5)", np.pad(x, ((0, 0), (1, 2)), constant_values=mpf(0.5))), ("pad(x, [0, 0, 2, 1])", np.pad(x, ((2, 1), (0, 0)), constant_values=mpf(0))),
    ("pad(x, [-1, 1])", np.pad(x[:, 1:], ((0, 0), (0, 1)), constant_values=mpf(0))),
    ("gather(x, 0, k)", tensor(x, inputs["k"], 0)), ("gather(x, 1, k[:2, :2])", tensor(x[:2], inputs["k"][:2, :2], 1)),
    ("index_select(x, 1, k[0])", x[:, inputs["k"][0]]), ("index_select(t, 0, clamp(k[1], max=1))", t[np.minimum(inputs["k"][1], 1)]),
    ("embedding(k, x)", x[inputs["k"]]), ("one_hot(k, 3)", np.eye(3, dtype=int)[inputs["k"]].astype(object)),
    ("tril(x)", np.tril(inputs["x"])), ("triu(t, diagonal=1)", np.triu(inputs["t"], 1)), ("tril(x, -1)", np.tril(inputs["x"], -1)),
    ("arange(2, 11, 3)", np.arange(2, 11, 3)), ("arange(5)", np.arange(5)), ("arange(3, -3, -2)", np.arange(3, -3, -2)), ("full([2, 3], 0.1)", np.full((2, 3), mpf("0.1"))),
    # losses
    ("mse_loss(x, z)", mean(d * d)), ("mse_loss(x, z, reduction=\"sum\")", sums(d * d)), ("l1_loss(x, z)", mean(abs(d))),
    ("smooth_l1_loss(x, z, reduction=\"none\", beta=2)", each(lambda e: e * e / 4 if abs(e) < 2 else abs(e) - 1)(d)),
    ("huber_loss(x, z, delta=0.5)", mean(each(lambda e: e * e / 2 if abs(e) <= 0.5 else (abs(e) - mpf(0.25)) / 2)(d))),
    ("bce(p / 7, m)", mean(each(lambda q, b: -mp.log(q / 7) if b else -mp.log(1 - q / 7))(p, m))),
    ("kl_div(x, p)", mean(p * (log(p) - x))),
    ("kl_div(x, relu(z), reduction=\"sum\")", sums(each(lambda q, a: q * (mp.log(q) - a) if q > 0 else mpf(0))(z, x))),
    ("kl_div(x, z, log_target=true, reduction=\"batchmean\")", sums(exp(z) * (z - x)) / 3),
    ("nll_loss(x, k[:, 0])", -sum(x[r, inputs["k"][r, 0]] for r in range(3)) / mpf(3)),
    ("nll_loss(x, k[:, 0], reduction=\"none\", ignore_index=1)",
     np.array([mpf(0) if inputs["k"][r, 0] == 1 else -x[r, inputs["k"][r, 0]] for r in range(3)], dtype=object)),
    ("cross_entropy(x, k[:, 1])", -sum(log(softmax(x, 1))[r, inputs["k"][r, 1]] for r in range(3)) / mpf(3)),
    ("cross_entropy(t, k[:2], reduction=\"sum\")",
     -sum(log(softmax(t, 1))[r, inputs["k"][r, c], c] for r in range(2) for c in range(4))),
    ("cross_entropy(t, k[:2], ignore_index=2)",
     -sum(log(softmax(t, 1))[r, inputs["k"][r, c], c] for r in range(2) for c in range(4) if inputs["k"][r, c] != 2)
     / mpf(int(np.sum(inputs["k"][:2] != 2)))),
    ("cross_entropy(x, p)", -sums(log(softmax(x, 1)) * p) / 3),
    ("cosine_similarity(x, z)", sums(x * z, 1) / sqrt(sums(x * x, 1) * sums(z * z, 1))),
    ("cosine_similarity(x, v, axis=-1)", sums(x * v, 1) / sqrt(sums(x * x, 1) * sums(v * v))),
    ("triplet_margin_loss(x, z, v)", mean(each(lambda a, c: max(a - c + 1, 0))(
        sqrt(sums((x - z + mpf("1e-6")) ** 2, 1)), sqrt(sums((x - v + mpf("1e-6")) ** 2, 1))))),
]

cases += expectations_windows.cases(x, z, v, t, i, k, c)


# norms over channels, attention, order and the rest


def normalised(a, axes, eps):
    """(a - E a) / sqrt(E a^2 - (E a)^2 + eps)"""
    m, s = mean(a, axes, True), mean(a * a, axes, True)
    return (a - m) / sqrt(s - m * m + eps)


def attention(q, keys, values, scale, allowed, bias=None, empty=None):
    """Row by row, skipping the keys that do not take part."""
    out = np.empty((q.shape[0], values.shape[1]), dtype=object)
    for r in range(q.shape[0]):
        seen = [s for s in range(keys.shape[0]) if allowed(r, s)]
        w = [mp.exp(scale * sum(q[r] * keys[s]) + (0 if bias is None else bias[r, s])) for s in seen]
        for c in range(values.shape[1]):
            out[r, c] = sum(a * values[s, c] for a, s in zip(w, seen)) / sum(w) if seen else empty
    return out


def philox_word(seed, counter):
    """Philox4x32-10 in Python's integers, first word."""
    c, lo, hi = [counter & 0xffffffff, counter >> 32, 0, 0], seed & 0xffffffff, seed >> 32 & 0xffffffff
    for _ in range(10):
        a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [b >> 32 ^ c[1] ^ lo, b & 0xffffffff, a >> 32 ^ c[3] ^ hi, a & 0xffffffff]
        lo, hi = (lo + 0x9E3779B9) & 0xffffffff, (hi + 0xBB67AE85) & 0xffffffff
    return c[0]


def kept(seed, p, n):
    """tl.rand(seed, i) > p"""
    words = np.array([philox_word(seed, j) for j in range(n)], dtype=np.uint32).view(np.int32)
    folded = np.where(words < 0, -words - 1, words)
    return (folded.astype(np.float32) * np.float32(4.6566127342e-10) > np.float32(p)).astype(int)


def rotated(a, angle_cos, angle_sin, pairs):
    out = a.copy()
    for one, two, c in pairs:
        out[..., one] = a[..., one] * angle_cos[..., c] - a[..., two] * angle_sin[..., c]
        out[..., two] = a[..., two] * angle_cos[..., c] + a[..., one] * angle_sin[..., c]
    return out


def scattered(a, axis, index, source):
    out = a.copy()
    for at in np.ndindex(index.shape):
        to = list(at)
        to[axis] = index[at]
        out[tuple(to)] = out[tuple(to)] + source[at]
    return out


t4, small, half, fold = t.reshape(2, 4, 3), mpf("1e-5"), mpf(0.5), normalised(t, (0, 2), mpf(1))
column, everyone = v[:3, None], lambda r, s: True
K, M = inputs["k"], inputs["m"]
whole = each(lambda e: max(-128, min(127, round(float(e) * 8))))
cases += [
    ("batch_norm(t, training=true)", normalised(t, (0, 2), small)), ("batch_norm(x, training=true, eps=1)", normalised(x, 0, mpf(1))),
    ("batch_norm(t, v[:3], p[0, :3], z[0, :3], z[1, :3], eps=0.5)",
     (t - column) / sqrt(p[0, :3, None] + half) * z[0, :3, None] + z[1, :3, None]),
    ("batch_norm(t, weight=v[:3], bias=z[1, :3], training=true, eps=1)", fold * column + z[1, :3, None]),
    ("instance_norm(t)", normalised(t, 2, small)), ("instance_norm(t, weight=v[:3], bias=2)", normalised(t, 2, small) * column + 2),
    ("instance_norm(t, v[:3], p[0, :3], use_input_stats=false)", (t - column) / sqrt(p[0, :3, None] + small)),
    ("group_norm(t, 1)", normalised(t, (1, 2), small)), ("group_norm(t, 3, v[:3])", normalised(t, 2, small) * column),
    ("group_norm(reshape(t, [2, 4, 3]), 2, v, z[0], 0.25)",
     normalised(t4.reshape(2, 2, 6), 2, mpf(0.25)).reshape(2, 4, 3) * v[:, None] + z[0][:, None]),
    ("attention(x, z, t[0])", attention(x, z, t[0], half, everyone)),
    ("attention(x, t[0], z, scale=0.3)", attention(x, t[0], z, mpf("0.3"), everyone)),
    ("attention(t, t[:, 1:], x[1:])", np.stack([attention(t[n], t[n, 1:], x[1:], half, everyone) for n in range(2)])),
    ("attention(x[:, :3], t[0, :, :3], z)", attention(x[:, :3], t[0, :, :3], z, 1 / mp.sqrt(3), everyone)),
    ("attention(x, z, z, causal=true)", attention(x, z, z, half, lambda r, s: s <= r)),
    ("attention(x[1:], z, z, causal=true)", attention(x[1:], z, z, half, lambda r, s: s <= r + 1)),
    ("attention(x[1:], z, z, causal=true, align=\"top_left\")", attention(x[1:], z, z, half, lambda r, s: s <= r)),
    ("attention(x, z[1:], z[1:], causal=true, empty_rows=\"zero\")",
     attention(x, z[1:], z[1:], half, lambda r, s: s <= r - 1, empty=mpf(0))),
    ("attention(x, z, z, mask=m[:, :3], empty_rows=\"zero\")", attention(x, z, z, half, lambda r, s: M[r, s], empty=mpf(0))),
    ("attention(x, z, z, causal=true, mask=m[:, :3] | (k[:, :1] >= 0))", attention(x, z, z, half, lambda r, s: s <= r)),
    ("attention(x, z, z, mask=p[:, :3], scale=1)",
     attention(x, z, z, one, everyone, p)),
    ("attention(x, z, z, mask=where(m[:, :3], p[:, :3], -inf), empty_rows=\"zero\")",
     attention(x, z, z, half, lambda r, s: M[r, s], p, mpf(0))),
    ("sort(x)", np.sort(x, axis=1)), ("sort(x, axis=0, descending=true)", np.sort(x, axis=0)[::-1]), ("sort(i, axis=1)", np.sort(i, axis=1)),
    ("sort(t, 1)", np.sort(t, axis=1)), ("sort(x * x - x)", np.sort(x * x - x, axis=1)),
    ("argsort(x)", np.argsort(inputs["x"], axis=1)), ("argsort(x, axis=0, descending=true)", np.argsort(-inputs["x"], axis=0)),
    ("argsort(k, axis=1, stable=true)", np.argsort(K, axis=1, kind="stable")),
    ("argsort(k, axis=0, descending=true, stable=true)", np.argsort(-K, axis=0, kind="stable")),
    ("topk(x, 2)", np.sort(x, axis=1)[:, :-3:-1]), ("topk(t, 2, axis=1, largest=false)", np.sort(t, axis=1)[:, :2]),
    ("topk(i, 4)", np.sort(i, axis=1)[:, ::-1]),
    ("scatter_add(x, 0, k, z)", scattered(x, 0, K, z)), ("scatter_add(x, 1, k, z)", scattered(x, 1, K, z)),
    ("scatter_add(x, 1, k[:2, :3], z)", scattered(x, 1, K[:2, :3], z)), ("scatter_add(i, 0, k[:, :2], k)", scattered(i, 0, K[:, :2], k)),
    ("scatter_add(t, 1, stack([k[:2], k[1:]])[:, :, 1:], t * t)",
     scattered(t, 1, np.stack([K[:2], K[1:]])[:, :, 1:], t * t)),
    ("scatter_add(x, 1, k, i)", scattered(x, 1, K, i)),
    ("rope(x, z[:, :2], p[:, :2])", rotated(x, z, p, [(0, 2, 0), (1, 3, 1)])),
    ("rope(t, z[:, :2], p[:, :2], interleaved=true)", rotated(t, z, p, [(0, 1, 0), (2, 3, 1)])),
    ("rope(x, concat([z[:, :2], z[:, :2]], 1), concat([p[:, :2], p[:, :2]], 1))", rotated(x, z, p, [(0, 2, 0), (1, 3, 1)])),
    ("rope(t, z[:1, :2], p[:1, :2])",
     rotated(t, z[:1], p[:1], [(0, 2, 0), (1, 3, 1)])),
    ("cast(dropout_mask(42, 0.5, [4, 16]), i32)", kept(42, 0.5, 64).reshape(4, 16)),
    ("cast(dropout_mask(81985529216486895, 0.1), i32)", kept(81985529216486895, 0.1, 24)),
    ("where(dropout_mask(-7, 0.25, [3, 4]), x / 0.75, 0)", np.where(kept(-7, 0.25, 12).reshape(3, 4), x / mpf(0.75), mpf(0))),
    ("quantize(x * 100, 0.125, i8)", whole(x * 100)), ("quantize(x, v, i8)", each(lambda e, s: max(-128, min(127, round(float(e / s)))))(x, v)),
    ("quantize(p * 50, 0.5, u8, zero_point=3)", each(lambda e: max(0, min(255, 3 + round(float(e) * 100))))(p)),
    ("quantize(x, 0.25, f16)", half_even(x * 4)), ("dequantize(i, 0.125)", i * mpf(0.125)), ("dequantize(i, p, 3)", (i - 3) * p),
    ("bce_with_logits(x, m)", mean(softplus(x) - x * first(M))), ("bce_with_logits(x, u * u, reduction=\"none\")", softplus(x) - x * u * u),
    ("bce_with_logits(x * 50, m, \"sum\")", sums(softplus(50 * x) - 50 * x * first(M))),
    ("hinge_loss(x, sign(z))", mean(each(lambda a, b: max(0, 1 - a * mp.sign(b)))(x, z))),
    ("hinge_loss(x, i, reduction=\"none\")", each(lambda a, b: max(mpf(0), 1 - a * b))(x, i)),
] + expectations_recurrences.cases(x, z, c)


def text(value):
    if isinstance(value, mpf):
        return mp.nstr(value, 45)
    if isinstance(value, (float, np.floating)):
        return mp.nstr(mpf(float(value)), 45)
    return str(int(value))


def shape(a):
    return ",".join(str(n) for n in np.shape(a))


for name, array in inputs.items():
    kind = {"float32": "f32", "int32": "i32", "bool": "bool"}[str(array.dtype)]
    values = [float(e).hex() if kind == "f32" else str(int(e)) for e in array.flat]
    print("\t".join(["input", name, kind, shape(array)] + values))
for expression, expected in cases:
    print("\t".join(["case", expression, shape(expected)] + [text(e) for e in np.asarray(expected, dtype=object).flat]))
