"""Convolutions, pools and einsum by nested loops over exact numbers, for expectations.py."""
import itertools

import numpy as np
from mpmath import mpf


def each(n, value):
    return value if isinstance(value, (list, tuple)) else [value] * n


def grid(shape):
    return itertools.product(*(range(int(n)) for n in shape))


def conv(x, w, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """padding: per axis, an amount or (before, after)."""
    d = x.ndim - 2
    stride, padding, dilation = each(d, stride), each(d, padding), each(d, dilation)
    padding = [p if isinstance(p, tuple) else (p, p) for p in padding]
    n, outs, per = x.shape[0], w.shape[0], x.shape[1] // groups
    size = [(x.shape[2 + i] + sum(padding[i]) - dilation[i] * (w.shape[2 + i] - 1) - 1) // stride[i] + 1 for i in range(d)]
    y = np.empty([n, outs] + size, dtype=object)
    for at in grid(y.shape):
        total = mpf(0) if bias is None else bias[at[1]]
        for tap in grid(w.shape[1:]):
            where = [at[2 + i] * stride[i] - padding[i][0] + tap[1 + i] * dilation[i] for i in range(d)]
            if all(0 <= where[i] < x.shape[2 + i] for i in range(d)):
                channel = at[1] // (outs // groups) * per + tap[0]
                total += x[(at[0], channel) + tuple(where)] * w[(at[1],) + tap]
        y[at] = total
    return y


def conv_transpose(x, w, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
    """Scatters every element of x."""
    d = x.ndim - 2
    stride, padding, dilation, extra = each(d, stride), each(d, padding), each(d, dilation), each(d, output_padding)
    per = w.shape[1]
    size = [(x.shape[2 + i] - 1) * stride[i] - 2 * padding[i] + dilation[i] * (w.shape[2 + i] - 1) + extra[i] + 1 for i in range(d)]
    y = np.full([x.shape[0], per * groups] + size, mpf(0), dtype=object)
    if bias is not None:
        y += bias.reshape([-1] + [1] * d)
    for at in grid(x.shape):
        group = at[1] // (x.shape[1] // groups)
        for tap in grid(w.shape[1:]):
            where = [at[2 + i] * stride[i] - padding[i] + tap[1 + i] * dilation[i] for i in range(d)]
            if all(0 <= where[i] < size[i] for i in range(d)):
                y[(at[0], group * per + tap[0]) + tuple(where)] += x[at] * w[(at[1],) + tap]
    return y


def pool(x, kernel, stride=None, padding=0, dilation=1, ceil=False, mean=False, include=True, divisor=None):
    d = x.ndim - 2
    kernel = each(d, kernel)
    stride = kernel if stride is None else each(d, stride)
    padding, dilation = each(d, padding), each(d, dilation)
    size = []
    for i in range(d):
        n = x.shape[2 + i]
        count, start = 0, -padding[i]
        reach = dilation[i] * (kernel[i] - 1) + 1
        while start + reach <= n + padding[i] or (ceil and start < n and start + reach - stride[i] < n + padding[i]):
            count, start = count + 1, start + stride[i]
        size.append(count)
    y = np.empty(list(x.shape[:2]) + size, dtype=object)
    for at in grid(y.shape):
        inside, counted = [], 0
        for tap in grid(kernel):
            where = [at[2 + i] * stride[i] - padding[i] + tap[i] * dilation[i] for i in range(d)]
            counted += all(where[i] < x.shape[2 + i] + padding[i] for i in range(d))
            if all(0 <= where[i] < x.shape[2 + i] for i in range(d)):
                inside.append(x[at[:2] + tuple(where)])
        y[at] = sum(inside, mpf(0)) / (divisor or (counted if include else len(inside))) if mean else max(inside)
    return y


def adaptive(x, out):
    y = np.empty(x.shape[:2] + tuple(out), dtype=object)
    for at in grid(y.shape):
        part = x[at[:2]]
        for i, k in enumerate(at[2:]):
            n = x.shape[2 + i]
            part = np.take(part, range(k * n // out[i], -(-(k + 1) * n // out[i])), axis=i)
        y[at] = part.sum() / mpf(part.size)
    return y


def einsum(equation, *operands):
    left, right = equation.split("->")
    terms = left.split(",")
    extents = {label: n for term, o in zip(terms, operands) for label, n in zip(term, o.shape)}
    summed = [label for label in extents if label not in right]
    y = np.empty([extents[label] for label in right], dtype=object)
    for at in grid(y.shape):
        where = dict(zip(right, at))
        total = 0
        for inner in grid([extents[label] for label in summed]):
            where.update(zip(summed, inner))
            product = 1
            for term, o in zip(terms, operands):
                product = product * o[tuple(where[label] for label in term)]
            total = total + product
        y[at] = total
    return y


def cases(x, z, v, t, i, k, c):
    """c of [2, 4, 5, 3]; see expectations.py for the others."""
    r = lambda a, *shape: a.reshape(shape)
    five = c[:, :, :, 0]  # [2, 4, 5]
    cube = r(c, 2, 4, 1, 5, 3)
    deep = r(c, 1, 2, 4, 5, 3)
    w1, w1g = r(c[0].flatten()[:36], 3, 4, 3), r(c[1].flatten()[:24], 6, 2, 2)
    w2, w2g = r(c.flatten()[:72], 3, 4, 3, 2), r(c.flatten()[30:62], 4, 2, 2, 2)
    w3 = r(c.flatten()[20:92], 3, 2, 2, 3, 2)
    u1, u2 = r(c.flatten()[:60], 4, 5, 3), r(c.flatten()[:96], 4, 2, 4, 3)
    flat = "reshape(c, [120])"
    w = lambda begin, end, *shape: "reshape(%s[%d:%d], [%s])" % (flat, begin, end, ", ".join(map(str, shape)))
    a, b = "c[:, :, :, 0]", w(0, 72, 3, 4, 3, 2)
    return [
        ("conv1d(%s, %s)" % (a, w(0, 36, 3, 4, 3)), conv(five, w1)),
        ("conv1d(%s, %s, v[:3], stride=2, padding=2, dilation=2)" % (a, w(0, 36, 3, 4, 3)), conv(five, w1, v[:3], 2, 2, 2)),
        ("conv1d(%s, %s, padding=\"same\", groups=2)" % (a, w(60, 84, 6, 2, 2)), conv(five, w1g, None, 1, [(0, 1)], 1, 2)),
        ("conv1d(%s[0], %s, padding=\"valid\")" % (a, w(0, 36, 3, 4, 3)), conv(five[:1], w1)[0]),
        ("conv2d(c, %s)" % b, conv(c, w2)),
        ("conv2d(c, %s, v[:3], 2, 1)" % b, conv(c, w2, v[:3], 2, 1)),
        ("conv2d(c, %s, stride=[2, 1], padding=[1, 2], dilation=[1, 2])" % b, conv(c, w2, None, [2, 1], [1, 2], [1, 2])),
        ("conv2d(c, %s, padding=\"same\", dilation=2)" % b, conv(c, w2, None, 1, [(2, 2), (1, 1)], 2)),
        ("conv2d(c, %s, v, padding=1, groups=2)" % w(30, 62, 4, 2, 2, 2), conv(c, w2g, v, 1, 1, 1, 2)),
        ("conv2d(c, %s, groups=4)" % w(0, 48, 8, 1, 2, 3), conv(c, r(c.flatten()[:48], 8, 1, 2, 3), groups=4)),
        ("conv2d(c[1], %s)" % b, conv(c[1:], w2)[0]),
        ("conv2d(c, %s) + 0.5" % b, conv(c, w2) + mpf(0.5)),
        ("conv2d(reshape(i, [1, 1, 3, 4]), reshape(k[:2, :2], [1, 1, 2, 2]), padding=1)",
         np.vectorize(int, otypes=[object])(conv(r(i, 1, 1, 3, 4), r(k[:2, :2], 1, 1, 2, 2), padding=1))),
        ("conv3d(reshape(c, [1, 2, 4, 5, 3]), %s, v[:3], [1, 2, 1], 1, [2, 1, 1])" % w(20, 92, 3, 2, 2, 3, 2),
         conv(deep, w3, v[:3], [1, 2, 1], 1, [2, 1, 1])),
        ("conv3d(reshape(c, [2, 4, 1, 5, 3]), %s, padding=[1, 0, 1], groups=2)" % w(0, 96, 4, 2, 2, 3, 2),
         conv(cube, r(c.flatten()[:96], 4, 2, 2, 3, 2), None, 1, [1, 0, 1], 1, 2)),
        ("conv_transpose1d(%s, %s)" % (a, w(0, 60, 4, 5, 3)), conv_transpose(five, u1)),
        ("conv_transpose1d(%s, %s, stride=3, padding=2, output_padding=1, dilation=2)" % (a, w(0, 60, 4, 5, 3)),
         conv_transpose(five, u1, None, 3, 2, 1, 1, 2)),
        ("conv_transpose2d(c, %s, v, 2, [1, 0], 1, 2)" % w(0, 96, 4, 2, 4, 3), conv_transpose(c, u2, v, 2, [1, 0], 1, 2)),
        ("conv_transpose2d(c[0], %s, padding=[3, 1])" % w(0, 96, 4, 2, 4, 3), conv_transpose(c[:1], u2, padding=[3, 1])[0]),
        ("conv_transpose2d(c, %s, padding=[1, 0])" % w(0, 24, 4, 2, 1, 3), 
         conv_transpose(c, r(c.flatten()[:24], 4, 2, 1, 3), padding=[1, 0])),
        ("conv_transpose2d(c, %s, stride=[1, 2], dilation=[2, 1])" % w(0, 96, 4, 2, 4, 3),
         conv_transpose(c, u2, None, [1, 2], 0, 0, 1, [2, 1])),
        ("conv_transpose3d(reshape(c, [2, 4, 1, 5, 3]), %s, v[:2], 2, [0, 1, 1], [0, 1, 0])" % w(0, 96, 4, 2, 2, 3, 2),
         conv_transpose(cube, r(c.flatten()[:96], 4, 2, 2, 3, 2), v[:2], 2, [0, 1, 1], [0, 1, 0])),
        ("max_pool1d(%s, 2)" % a, pool(five, 2)),
        ("max_pool1d(t[0], 3, 2, 1, ceil_mode=true)", pool(t[:1], 3, 2, 1, 1, True)[0]),
        ("max_pool2d(c, 2)", pool(c, 2)), ("max_pool2d(c, [3, 2], 1, [1, 1], 2)", pool(c, [3, 2], 1, 1, 2)),
        ("max_pool2d(c, 2, ceil_mode=true)", pool(c, 2, ceil=True)), ("max_pool2d(c[0], 3, 2, 1)", pool(c[:1], 3, 2, 1)[0]),
        ("max_pool2d(reshape(i, [1, 1, 3, 4]), 2, 1, 1)", pool(r(i, 1, 1, 3, 4), 2, 1, 1)),
        ("max_pool3d(reshape(c, [2, 4, 1, 5, 3]), [1, 2, 2], padding=[0, 1, 0])", pool(cube, [1, 2, 2], None, [0, 1, 0])),
        ("avg_pool1d(%s, 3, 2, 1)" % a, pool(five, 3, 2, 1, mean=True)),
        ("avg_pool1d(%s, 3, 2, 1, true, false)" % a, pool(five, 3, 2, 1, 1, True, True, False)),
        ("avg_pool2d(c, 2)", pool(c, 2, mean=True)),
        ("avg_pool2d(c, 3, 2, 1, ceil_mode=true)", pool(c, 3, 2, 1, 1, True, True)),
        ("avg_pool2d(c, [3, 2], [2, 1], 1, count_include_pad=false)", pool(c, [3, 2], [2, 1], 1, 1, False, True, False)),
        ("avg_pool2d(c, 2, 1, divisor_override=3)", pool(c, 2, 1, mean=True, divisor=3)),
        ("avg_pool2d(c[1], 4, 3, 2, true)", pool(c[1:], 4, 3, 2, 1, True, True)[0]),
        ("avg_pool3d(reshape(c, [2, 4, 1, 5, 3]), [1, 2, 3], 2, [0, 1, 1], true, false)",
         pool(cube, [1, 2, 3], 2, [0, 1, 1], 1, True, True, False)),
        ("adaptive_avg_pool2d(c, 1)", adaptive(c, [1, 1])), ("adaptive_avg_pool2d(c, [5, 1])", adaptive(c, [5, 1])),
        ("adaptive_avg_pool2d(c, [3, 2])", adaptive(c, [3, 2])), ("adaptive_avg_pool2d(c[0], [7, 4])", adaptive(c[:1], [7, 4])[0]),
        ("einsum(\"ij,kj->ik\", x, z)", einsum("ij,kj->ik", x, z)), ("einsum(\"ij, kj\", x, z)", einsum("ij,kj->ik", x, z)),
        ("einsum(\"bij,bkj->bik\", t, t)", einsum("bij,bkj->bik", t, t)), ("einsum(\"ij->ji\", x)", x.T),
        ("einsum(\"ba\", x)", x.T), ("einsum(\"ij->i\", x)", x.sum(axis=1)), ("einsum(\"ij->\", i)", i.sum()),
        ("einsum(\"ii->i\", x[:, :3])", np.diagonal(x[:, :3])), ("einsum(\"ii\", x[:, :3])", np.trace(x[:, :3])),
        ("einsum(\"i,j->ij\", v, v)", np.outer(v, v)), ("einsum(\"ij,ij->ij\", x, z)", x * z), ("einsum(\"i,i\", v, v)", v @ v),
        ("einsum(\"ijk,lk->lji\", t, x)", einsum("ijk,lk->lji", t, x)),
        ("einsum(\"abcd,abed->ace\", c, c)", einsum("abcd,abed->ace", c, c)),
        ("einsum(\"iij,jk->ik\", c[:, :2, 0], transpose(x[:, :3]))", einsum("iij,jk->ik", c[:, :2, 0], x[:, :3].T)),
        ("einsum(\"...j,kj->...k\", t, x)", t @ x.T), ("einsum(\"...ij,jk\", t, transpose(x))", t @ x.T),
        ("einsum(\"a...->...\", t)", t.sum(axis=0)), ("einsum(\"ij,ij->ij\", x[:, :1], z)", x[:, :1] * z),
        ("einsum(\"ij,kj->ik\", i, k)", i @ k.T),
    ]
