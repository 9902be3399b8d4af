#!/usr/bin/env python3
"""Writes conv_torch.json: convolutions, max-pools and their gradients as PyTorch has them,
in this package's layout. Operands are eighths that a formula gives (see operand), so that
every number is exact in float64 and PyTorch's order of summation does not matter.

    python3 core/op/testdata/conv_torch.py > core/op/testdata/conv_torch.json
"""
import json, sys
import torch
import torch.nn.functional as F

BATCH, CHANNELS, OUT = 2, 3, 4
WINDOWS = [  # height, width, kernel, stride, pad
    (6, 5, 1, 1, 0), (6, 5, 1, 2, 0), (7, 6, 3, 1, 0), (8, 7, 3, 2, 0), (5, 6, 3, 1, 1), (7, 8, 3, 2, 1), (6, 6, 4, 2, 1),
    (7, 9, 4, 2, 0), (5, 4, 5, 1, 2), (9, 7, 7, 2, 3), (12, 8, 8, 4, 0),
]
POOLS = [(6, 6, 2, 2, 0), (7, 6, 3, 2, 1), (5, 6, 3, 1, 1)]


def operand(seed, *shape):
    """Element i of the flat operand is ((i·i·13 + i·29 + seed·7) mod 31 − 15)/8."""
    n = torch.Size(shape).numel()
    i = torch.arange(n, dtype=torch.int64)
    return (((i * i * 13 + i * 29 + seed * 7) % 31 - 15).double() / 8).reshape(shape)


def rows(t):  # NCHW to rows in NHWC order
    return t.permute(0, 2, 3, 1).reshape(t.shape[0], -1)


def conv(h, w, k, s, p):
    x = operand(1, BATCH, h, w, CHANNELS).permute(0, 3, 1, 2).requires_grad_()
    weight = operand(2, k, k, CHANNELS, OUT).permute(3, 2, 0, 1).requires_grad_()
    bias = operand(3, OUT).requires_grad_()
    y = F.conv2d(x, weight, bias, stride=s, padding=p)
    dy = operand(4, BATCH, y.shape[2], y.shape[3], OUT).permute(0, 3, 1, 2)
    dx, dw, db = torch.autograd.grad(y, (x, weight, bias), dy)
    return {"y": rows(y), "dx": rows(dx), "dw": dw.permute(2, 3, 1, 0), "db": db}


def pool(h, w, k, s, p):
    x = operand(1, BATCH, h, w, CHANNELS).permute(0, 3, 1, 2).requires_grad_()
    y = F.max_pool2d(x, k, stride=s, padding=p)
    dy = operand(4, BATCH, y.shape[2], y.shape[3], CHANNELS).permute(0, 3, 1, 2)
    return {"y": rows(y), "dx": rows(torch.autograd.grad(y, x, dy)[0])}


def case(name, window, numbers):
    return {"op": name, "window": window, **{k: v.detach().reshape(-1).tolist() for k, v in numbers.items()}}


cases = [case("Conv", w, conv(*w)) for w in WINDOWS] + [case("MaxPool", w, pool(*w)) for w in POOLS]
json.dump({"origin": "PyTorch " + torch.__version__ + ", float64, CPU", "batch": BATCH, "channels": CHANNELS, "out": OUT, "cases": cases},
          sys.stdout, separators=(",", ":"))
print()
