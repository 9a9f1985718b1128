/* Every function of the language, one row each: family, name, signature, PyTorch's name, and whether this
 * version composes it (NOW: by cupel_compose_<name>) or refuses it by name (LATER). An argument with a
 * default may be left out. */
#ifndef CUPEL_FUNCTION_TABLE_H
#define CUPEL_FUNCTION_TABLE_H

#include "compose.h"

#define CUPEL_FUNCTIONS(X)                                                                                   \
    X("pointwise", isfinite, "isfinite(x)", "torch.isfinite", NOW)                                           \
    X("pointwise", abs, "abs(x)", "torch.abs", NOW)                                                          \
    X("pointwise", neg, "neg(x)", "torch.neg", NOW)                                                          \
    X("pointwise", sign, "sign(x)", "torch.sign", NOW)                                                       \
    X("pointwise", floor, "floor(x)", "torch.floor", NOW)                                                    \
    X("pointwise", ceil, "ceil(x)", "torch.ceil", NOW)                                                       \
    X("pointwise", round, "round(x)", "torch.round", NOW)                                                    \
    X("pointwise", trunc, "trunc(x)", "torch.trunc", NOW)                                                    \
    X("pointwise", sqrt, "sqrt(x)", "torch.sqrt", NOW)                                                       \
    X("pointwise", rsqrt, "rsqrt(x)", "torch.rsqrt", NOW)                                                    \
    X("pointwise", reciprocal, "reciprocal(x)", "torch.reciprocal", NOW)                                     \
    X("pointwise", exp, "exp(x)", "torch.exp", NOW)                                                          \
    X("pointwise", exp2, "exp2(x)", "torch.exp2", NOW)                                                       \
    X("pointwise", expm1, "expm1(x)", "torch.expm1", NOW)                                                    \
    X("pointwise", log, "log(x)", "torch.log", NOW)                                                          \
    X("pointwise", log2, "log2(x)", "torch.log2", NOW)                                                       \
    X("pointwise", log10, "log10(x)", "torch.log10", NOW)                                                    \
    X("pointwise", log1p, "log1p(x)", "torch.log1p", NOW)                                                    \
    X("pointwise", sin, "sin(x)", "torch.sin", NOW)                                                          \
    X("pointwise", cos, "cos(x)", "torch.cos", NOW)                                                          \
    X("pointwise", tan, "tan(x)", "torch.tan", NOW)                                                          \
    X("pointwise", asin, "asin(x)", "torch.asin", NOW)                                                       \
    X("pointwise", acos, "acos(x)", "torch.acos", NOW)                                                       \
    X("pointwise", atan, "atan(x)", "torch.atan", NOW)                                                       \
    X("pointwise", atan2, "atan2(y, x)", "torch.atan2", NOW)                                                 \
    X("pointwise", sinh, "sinh(x)", "torch.sinh", NOW)                                                       \
    X("pointwise", cosh, "cosh(x)", "torch.cosh", NOW)                                                       \
    X("pointwise", tanh, "tanh(x)", "torch.tanh", NOW)                                                       \
    X("pointwise", erf, "erf(x)", "torch.erf", NOW)                                                          \
    X("pointwise", erfc, "erfc(x)", "torch.erfc", NOW)                                                       \
    X("pointwise", sigmoid, "sigmoid(x)", "torch.sigmoid", NOW)                                              \
    X("pointwise", relu, "relu(x)", "torch.nn.functional.relu", NOW)                                         \
    X("pointwise", leaky_relu, "leaky_relu(x, negative_slope=0.01)", "torch.nn.functional.leaky_relu", NOW)  \
    X("pointwise", elu, "elu(x, alpha=1)", "torch.nn.functional.elu", NOW)                                   \
    X("pointwise", selu, "selu(x)", "torch.nn.functional.selu", NOW)                                         \
    X("pointwise", celu, "celu(x, alpha=1)", "torch.nn.functional.celu", NOW)                                \
    X("pointwise", gelu, "gelu(x, approximate=\"none\")", "torch.nn.functional.gelu", NOW)                   \
    X("pointwise", silu, "silu(x)", "torch.nn.functional.silu", NOW)                                         \
    X("pointwise", mish, "mish(x)", "torch.nn.functional.mish", NOW)                                         \
    X("pointwise", softplus, "softplus(x, beta=1, threshold=20)", "torch.nn.functional.softplus", NOW)       \
    X("pointwise", softsign, "softsign(x)", "torch.nn.functional.softsign", NOW)                             \
    X("pointwise", hardtanh, "hardtanh(x, min_val=-1, max_val=1)", "torch.nn.functional.hardtanh", NOW)      \
    X("pointwise", hardsigmoid, "hardsigmoid(x)", "torch.nn.functional.hardsigmoid", NOW)                    \
    X("pointwise", hardswish, "hardswish(x)", "torch.nn.functional.hardswish", NOW)                          \
    X("pointwise", logsigmoid, "logsigmoid(x)", "torch.nn.functional.logsigmoid", NOW)                       \
    X("pointwise", tanhshrink, "tanhshrink(x)", "torch.nn.functional.tanhshrink", NOW)                       \
    X("pointwise", softshrink, "softshrink(x, lambd=0.5)", "torch.nn.functional.softshrink", NOW)            \
    X("pointwise", hardshrink, "hardshrink(x, lambd=0.5)", "torch.nn.functional.hardshrink", NOW)            \
    X("pointwise", pow, "pow(x, exponent)", "torch.pow", NOW)                                                \
    X("pointwise", fmod, "fmod(x, other)", "torch.fmod", NOW)                                                \
    X("pointwise", clamp, "clamp(x, min=none, max=none)", "torch.clamp", NOW)                                \
    X("pointwise", minimum, "minimum(x, other)", "torch.minimum", NOW)                                       \
    X("pointwise", maximum, "maximum(x, other)", "torch.maximum", NOW)                                       \
    X("pointwise", fmin, "fmin(x, other)", "torch.fmin", NOW)                                                \
    X("pointwise", fmax, "fmax(x, other)", "torch.fmax", NOW)                                                \
    X("pointwise", where, "where(condition, x, other)", "torch.where", NOW)                                  \
    X("pointwise", isnan, "isnan(x)", "torch.isnan", NOW)                                                    \
    X("pointwise", isinf, "isinf(x)", "torch.isinf", NOW)                                                    \
    X("pointwise", cast, "cast(x, type)", "torch.Tensor.to", NOW)                                            \
    X("reduction", sum, "sum(x, axis=none, keepdim=false)", "torch.sum", NOW)                                \
    X("reduction", mean, "mean(x, axis=none, keepdim=false)", "torch.mean", NOW)                             \
    X("reduction", prod, "prod(x, axis=none, keepdim=false)", "torch.prod", NOW)                             \
    X("reduction", amax, "amax(x, axis=none, keepdim=false)", "torch.amax", NOW)                             \
    X("reduction", amin, "amin(x, axis=none, keepdim=false)", "torch.amin", NOW)                             \
    X("reduction", argmax, "argmax(x, axis=none, keepdim=false)", "torch.argmax", NOW)                       \
    X("reduction", argmin, "argmin(x, axis=none, keepdim=false)", "torch.argmin", NOW)                       \
    X("reduction", all, "all(x, axis=none, keepdim=false)", "torch.all", NOW)                                \
    X("reduction", any, "any(x, axis=none, keepdim=false)", "torch.any", NOW)                                \
    X("reduction", var, "var(x, axis=none, correction=1, keepdim=false)", "torch.var", NOW)                  \
    X("reduction", std, "std(x, axis=none, correction=1, keepdim=false)", "torch.std", NOW)                  \
    X("reduction", norm, "norm(x, p=2, axis=none, keepdim=false)", "torch.norm", NOW)                        \
    X("reduction", logsumexp, "logsumexp(x, axis, keepdim=false)", "torch.logsumexp", NOW)                   \
    X("shape", transpose, "transpose(x, dim0=-2, dim1=-1)", "torch.transpose", NOW)                          \
    X("shape", permute, "permute(x, dims)", "torch.permute", NOW)                                            \
    X("shape", reshape, "reshape(x, shape)", "torch.reshape", NOW)                                           \
    X("shape", broadcast_to, "broadcast_to(x, shape)", "torch.broadcast_to", NOW)                            \
    X("shape", unsqueeze, "unsqueeze(x, axis)", "torch.unsqueeze", NOW)                                      \
    X("shape", squeeze, "squeeze(x, axis=none)", "torch.squeeze", NOW)                                       \
    X("shape", concat, "concat(tensors, axis=0)", "torch.concat", NOW)                                       \
    X("shape", stack, "stack(tensors, axis=0)", "torch.stack", NOW)                                          \
    X("shape", slice, "slice(x, axis=0, start=0, stop=size, step=1)", "x[start:stop:step]", NOW)             \
    X("shape", flip, "flip(x, axis)", "torch.flip", NOW)                                                     \
    X("shape", roll, "roll(x, shifts, axis=none)", "torch.roll", NOW)                                        \
    X("shape", pad, "pad(x, pad, mode=\"constant\", value=0)", "torch.nn.functional.pad", NOW)               \
    X("shape", gather, "gather(x, axis, index)", "torch.gather", NOW)                                        \
    X("shape", index_select, "index_select(x, axis, index)", "torch.index_select", NOW)                      \
    X("shape", one_hot, "one_hot(x, num_classes)", "torch.nn.functional.one_hot", NOW)                       \
    X("shape", tril, "tril(x, diagonal=0)", "torch.tril", NOW)                                               \
    X("shape", triu, "triu(x, diagonal=0)", "torch.triu", NOW)                                               \
    X("shape", arange, "arange(start, end=none, step=1)", "torch.arange", NOW)                               \
    X("shape", full, "full(shape, value)", "torch.full", NOW)                                                \
    X("shape", scatter_add, "scatter_add(x, axis, index, src)", "torch.scatter_add", NOW)                    \
    X("shape", topk, "topk(x, k, axis=-1, largest=true)", "torch.topk (values)", NOW)                        \
    X("shape", sort, "sort(x, axis=-1, descending=false)", "torch.sort (values)", NOW)                       \
    X("shape", argsort, "argsort(x, axis=-1, descending=false, stable=false)", "torch.argsort", NOW)         \
    X("product", matmul, "matmul(a, b)", "torch.matmul", NOW)                                                \
    X("product", einsum, "einsum(equation, a, b=none)", "torch.einsum", NOW)                                 \
    X("product", linear, "linear(x, weight, bias=none)", "torch.nn.functional.linear", NOW)                  \
    X("product", outer, "outer(a, b)", "torch.outer", NOW)                                                   \
    X("product", conv1d, "conv1d(x, weight, bias=none, stride=1, padding=0, dilation=1, groups=1)",          \
      "torch.nn.functional.conv1d", NOW)                                                                     \
    X("product", conv2d, "conv2d(x, weight, bias=none, stride=1, padding=0, dilation=1, groups=1)",          \
      "torch.nn.functional.conv2d", NOW)                                                                     \
    X("product", conv3d, "conv3d(x, weight, bias=none, stride=1, padding=0, dilation=1, groups=1)",          \
      "torch.nn.functional.conv3d", NOW)                                                                     \
    X("product", conv_transpose1d,                                                                           \
      "conv_transpose1d(x, weight, bias=none, stride=1, padding=0, output_padding=0, groups=1, dilation=1)", \
      "torch.nn.functional.conv_transpose1d", NOW)                                                           \
    X("product", conv_transpose2d,                                                                           \
      "conv_transpose2d(x, weight, bias=none, stride=1, padding=0, output_padding=0, groups=1, dilation=1)", \
      "torch.nn.functional.conv_transpose2d", NOW)                                                           \
    X("product", conv_transpose3d,                                                                           \
      "conv_transpose3d(x, weight, bias=none, stride=1, padding=0, output_padding=0, groups=1, dilation=1)", \
      "torch.nn.functional.conv_transpose3d", NOW)                                                           \
    X("pooling", max_pool1d,                                                                                 \
      "max_pool1d(x, kernel_size, stride=kernel_size, padding=0, dilation=1, ceil_mode=false)",              \
      "torch.nn.functional.max_pool1d", NOW)                                                                 \
    X("pooling", max_pool2d,                                                                                 \
      "max_pool2d(x, kernel_size, stride=kernel_size, padding=0, dilation=1, ceil_mode=false)",              \
      "torch.nn.functional.max_pool2d", NOW)                                                                 \
    X("pooling", max_pool3d,                                                                                 \
      "max_pool3d(x, kernel_size, stride=kernel_size, padding=0, dilation=1, ceil_mode=false)",              \
      "torch.nn.functional.max_pool3d", NOW)                                                                 \
    X("pooling", avg_pool1d,                                                                                 \
      "avg_pool1d(x, kernel_size, stride=kernel_size, padding=0, ceil_mode=false, "                          \
      "count_include_pad=true)",                                                                             \
      "torch.nn.functional.avg_pool1d", NOW)                                                                 \
    X("pooling", avg_pool2d,                                                                                 \
      "avg_pool2d(x, kernel_size, stride=kernel_size, padding=0, ceil_mode=false, "                          \
      "count_include_pad=true, divisor_override=none)",                                                      \
      "torch.nn.functional.avg_pool2d", NOW)                                                                 \
    X("pooling", avg_pool3d,                                                                                 \
      "avg_pool3d(x, kernel_size, stride=kernel_size, padding=0, ceil_mode=false, "                          \
      "count_include_pad=true, divisor_override=none)",                                                      \
      "torch.nn.functional.avg_pool3d", NOW)                                                                 \
    X("pooling", adaptive_avg_pool2d, "adaptive_avg_pool2d(x, output_size)",                                 \
      "torch.nn.functional.adaptive_avg_pool2d", NOW)                                                        \
    X("scan", cumsum, "cumsum(x, axis)", "torch.cumsum", NOW)                                                \
    X("scan", cumprod, "cumprod(x, axis)", "torch.cumprod", NOW)                                             \
    X("scan", cummax, "cummax(x, axis)", "torch.cummax (values)", NOW)                                       \
    X("scan", cummin, "cummin(x, axis)", "torch.cummin (values)", NOW)                                       \
    X("scan", logcumsumexp, "logcumsumexp(x, axis)", "torch.logcumsumexp", NOW)                              \
    X("scan", linear_scan, "linear_scan(a, b, axis=-1, reverse=false)", "none", NOW)                         \
    X("softmax", softmax, "softmax(x, axis)", "torch.softmax", NOW)                                          \
    X("softmax", log_softmax, "log_softmax(x, axis)", "torch.log_softmax", NOW)                              \
    X("norm", layer_norm, "layer_norm(x, weight=1, bias=0, eps=1e-5)", "torch.nn.functional.layer_norm",     \
      NOW)                                                                                                   \
    X("norm", rms_norm, "rms_norm(x, weight=1, eps=1e-5)", "torch.nn.functional.rms_norm", NOW)              \
    X("norm", batch_norm,                                                                                    \
      "batch_norm(x, running_mean=none, running_var=none, weight=1, bias=0, training=false, momentum=0.1, "  \
      "eps=1e-5)",                                                                                           \
      "torch.nn.functional.batch_norm", NOW)                                                                 \
    X("norm", group_norm, "group_norm(x, num_groups, weight=1, bias=0, eps=1e-5)",                           \
      "torch.nn.functional.group_norm", NOW)                                                                 \
    X("norm", instance_norm,                                                                                 \
      "instance_norm(x, running_mean=none, running_var=none, weight=1, bias=0, use_input_stats=true, "       \
      "momentum=0.1, eps=1e-5)",                                                                             \
      "torch.nn.functional.instance_norm", NOW)                                                              \
    X("norm", l2_normalize, "l2_normalize(x, eps=1e-12, axis=-1)", "torch.nn.functional.normalize", NOW)     \
    X("attention", attention,                                                                                \
      "attention(q, k, v, scale=none, causal=false, mask=none, empty_rows=\"nan\", align=\"bottom_right\")", \
      "torch.nn.functional.scaled_dot_product_attention", NOW)                                               \
    X("linear recurrences", linear_attention, "linear_attention(q, k, v, scale=1)", "none", NOW)             \
    X("linear recurrences", gated_linear_attention, "gated_linear_attention(q, k, v, g, scale=1)", "none",   \
      NOW)                                                                                                   \
    X("linear recurrences", delta_rule, "delta_rule(q, k, v, beta, scale=1)", "none", NOW)                   \
    X("linear recurrences", gated_delta_rule, "gated_delta_rule(q, k, v, g, beta, scale=1)", "none", NOW)    \
    X("linear recurrences", kda, "kda(q, k, v, g, beta, scale=1)", "none", NOW)                              \
    X("linear recurrences", ssd, "ssd(x, dt, A, B, C)", "none", NOW)                                         \
    X("loss", mse_loss, "mse_loss(x, target, reduction=\"mean\")", "torch.nn.functional.mse_loss", NOW)      \
    X("loss", l1_loss, "l1_loss(x, target, reduction=\"mean\")", "torch.nn.functional.l1_loss", NOW)         \
    X("loss", smooth_l1_loss, "smooth_l1_loss(x, target, reduction=\"mean\", beta=1)",                       \
      "torch.nn.functional.smooth_l1_loss", NOW)                                                             \
    X("loss", huber_loss, "huber_loss(x, target, reduction=\"mean\", delta=1)",                              \
      "torch.nn.functional.huber_loss", NOW)                                                                 \
    X("loss", cross_entropy, "cross_entropy(x, target, reduction=\"mean\", ignore_index=-100)",              \
      "torch.nn.functional.cross_entropy", NOW)                                                              \
    X("loss", nll_loss, "nll_loss(x, target, reduction=\"mean\", ignore_index=-100)",                        \
      "torch.nn.functional.nll_loss", NOW)                                                                   \
    X("loss", kl_div, "kl_div(x, target, reduction=\"mean\", log_target=false)",                             \
      "torch.nn.functional.kl_div", NOW)                                                                     \
    X("loss", bce, "bce(x, target, reduction=\"mean\")", "torch.nn.functional.binary_cross_entropy", NOW)    \
    X("loss", bce_with_logits, "bce_with_logits(x, target, reduction=\"mean\")",                             \
      "torch.nn.functional.binary_cross_entropy_with_logits", NOW)                                           \
    X("loss", hinge_loss, "hinge_loss(x, target, reduction=\"mean\")", "none", NOW)                          \
    X("loss", cosine_similarity, "cosine_similarity(x, y, axis=1, eps=1e-8)",                                \
      "torch.nn.functional.cosine_similarity", NOW)                                                          \
    X("loss", triplet_margin_loss,                                                                           \
      "triplet_margin_loss(anchor, positive, negative, margin=1, eps=1e-6, reduction=\"mean\")",             \
      "torch.nn.functional.triplet_margin_loss", NOW)                                                        \
    X("other", embedding, "embedding(idx, table)", "torch.nn.functional.embedding", NOW)                     \
    X("other", rope, "rope(x, cos, sin, interleaved=false)", "none", NOW)                                    \
    X("other", dropout_mask, "dropout_mask(seed, p, shape=none)", "none", NOW)                               \
    X("other", quantize, "quantize(x, scale, type, zero_point=0)", "torch.quantize_per_tensor", NOW)         \
    X("other", dequantize, "dequantize(x, scale, zero_point=0)", "torch.dequantize", NOW)                    \
    X("gradient", vjp, "vjp(expr, wrt, cotangent)", "torch.autograd.grad", NOW)

#define CUPEL_DECLARE_NOW(name) cupel_composer cupel_compose_##name;
#define CUPEL_DECLARE_LATER(name)
#define CUPEL_DECLARE(family, name, signature, pytorch, when) CUPEL_DECLARE_##when(name)
CUPEL_FUNCTIONS(CUPEL_DECLARE)
#undef CUPEL_DECLARE

#endif
