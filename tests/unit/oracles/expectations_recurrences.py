"""The linear recurrences by their chunked forms, in mpmath: masked products of exp(G_t - G_s) within a chunk, the delta rule's triangle
solved for all its steps at once (WY), the state carried from chunk to chunk. The chunks do not divide the length.
"""
import numpy as np
from mpmath import mp, mpf


def each(f):
    return lambda a: np.vectorize(f, otypes=[object])(a)


def identity(n):
    return np.vectorize(mpf, otypes=[object])(np.eye(n))


def solve(lower, right):
    """(I + lower)^-1 right by the product (I - N)(I + N^2)(I + N^4).., N strictly lower."""
    n = len(lower)
    power, inverse = -lower, identity(n)
    for _ in range(max(1, n.bit_length())):
        inverse = inverse @ (identity(n) + power)
        power = power @ power
    return inverse @ right


def one_chunk(state, q, k, v, g, beta):
    """q, k, g [C, K], v [C, V], beta [C] or None. The outputs and the state behind."""
    n = len(q)
    total = np.cumsum(g, axis=0)
    exp = each(mp.exp)
    scores = np.full((n, n), mpf(0), dtype=object)
    lower = np.full((n, n), mpf(0), dtype=object)
    for t in range(n):
        for s in range(t + 1):
            decay = exp(total[t] - total[s])
            scores[t, s] = np.sum(q[t] * k[s] * decay)
            if s < t and beta is not None:
                lower[t, s] = beta[t] * np.sum(k[t] * k[s] * decay)
    u = v
    if beta is not None:
        u = solve(lower, beta[:, None] * (v - (k * exp(total)) @ state))
    out = (q * exp(total)) @ state + scores @ u
    return out, exp(total[-1])[:, None] * state + (k * exp(total[-1] - total)).T @ u


def chunked(q, k, v, g=None, beta=None, scale=1, chunk=2):
    """Batch axes lead. g of q's shape, or None."""
    g = np.full(np.shape(q), mpf(0), dtype=object) if g is None else g
    out = np.empty(np.shape(v), dtype=object)
    for batch in np.ndindex(np.shape(q)[:-2]):
        state = np.full((np.shape(q)[-1], np.shape(v)[-1]), mpf(0), dtype=object)
        for begin in range(0, np.shape(q)[-2], chunk):
            at = batch + (slice(begin, begin + chunk),)
            out[at], state = one_chunk(state, q[at], k[at], v[at], g[at], None if beta is None else beta[at])
    return out * scale


def scan(a, b):
    """Along the last axis, every element from its own sum: sum_s b_s prod a_{s+1..t}."""
    out = np.empty(np.shape(b), dtype=object)
    for at in np.ndindex(np.shape(b)):
        row, t = at[:-1], at[-1]
        out[at] = sum(b[row + (s,)] * mp.fprod(a[row + (r,)] for r in range(s + 1, t + 1)) for s in range(t + 1))
    return out


def cases(x, z, c):
    """x, z [3, 4], c [2, 4, 5, 3], arrays of mpf."""
    flip = lambda a: np.flip(a, -1)
    k, v, g, beta = c / 2, c[..., :2], -abs(c), c[..., 0] * c[..., 0]
    wide = lambda a: np.broadcast_to(a[..., None], np.shape(c))
    exp = each(mp.exp)
    dt = c[..., 1] * c[..., 1]
    quarter = mpf("0.25")
    vectors = "c, c / 2, c[:, :, :, :2]"
    return [
        ("linear_scan(x, z)", scan(x, z)), ("linear_scan(x, z, reverse=true)", flip(scan(flip(x), flip(z)))),
        ("linear_scan(x, z, 0)", scan(x.T, z.T).T), ("linear_scan(exp(x), z, axis=0, reverse=true)", flip(scan(flip(exp(x.T)), flip(z.T))).T),
        ("linear_scan(0.25, z)", scan(np.full(np.shape(z), quarter, dtype=object), z)),
        ("logcumsumexp(x, axis=1)", each(mp.log)(np.cumsum(exp(x), axis=1))), ("logcumsumexp(c * 9, 2)", each(mp.log)(np.cumsum(exp(c * 9), axis=2))),
        ("linear_attention(%s)" % vectors, chunked(c, k, v)), ("linear_attention(x, z, z * x, 0.25)", chunked(x, z, z * x, scale=quarter)),
        ("gated_linear_attention(%s, -abs(c), scale=0.25)" % vectors, chunked(c, k, v, g, scale=quarter, chunk=3)),
        ("delta_rule(%s, c[:, :, :, 0] ** 2)" % vectors, chunked(c, k, v, beta=beta, chunk=4)),
        ("gated_delta_rule(%s, -abs(c)[:, :, :, 1], c[:, :, :, 0] ** 2, 0.25)" % vectors, chunked(c, k, v, wide(g[..., 1]), beta, quarter, 3)),
        ("kda(%s, -abs(c), c[:, :, :, 0] ** 2, scale=0.25)" % vectors, chunked(c, k, v, g, beta, quarter)),
        ("kda(c, c[0, 1] / 2, c[:, :, :, :2], -abs(c), c[0, 0, :, 0])",
         chunked(c, np.broadcast_to(k[0, 1], np.shape(c)), v, g, np.broadcast_to(c[0, 0, :, 0], np.shape(beta)))),
        ("ssd(c[:, :, :, :2], c[:, :, :, 1] ** 2, c[:, :, 0, 0], c / 2, c)",
         chunked(c, k * wide(dt), v, wide(dt * c[:, :, 0, 0][..., None]), chunk=3)),
    ]
