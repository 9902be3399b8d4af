"""Scores of random network distillation from frames by PyTorch 1.13, to rnd.json beside
this file: for frames of 36, 64 and 84 pixels, F of four stacks, whitened by their own
statistics.

Written for this test from openai/random-network-distillation: policies/cnn_policy_param_matched.py.
Weights are ours: convolutions [ky·kx·c, out], layers [in, out], after the convolutions in the
order (y, x, c); PyTorch has (c, y, x).

    python3 core/relevance/testdata/rnd.py
"""
import json
import os

import numpy as np
import torch
import torch.nn.functional as F

torch.set_num_threads(1)
ROWS, STACK, HIDDEN, FEATURES = 4, 3, 16, 8


def weights(number, count, fan_in):
    i = np.arange(count, dtype=np.int64)
    return torch.tensor((((i * 7919 + number * 104729 + 13) % 2003) / 1001.0 - 1) * (3 / fan_in) ** 0.5, dtype=torch.float32)


def frames(side, row):
    i = np.arange(STACK * side * side * 3, dtype=np.int64)
    return ((i * i // 7 + 31 * i * (row + 1) + 77 * row) % 256).reshape(STACK, side, side, 3)


def features(x, network):
    number = 100 * network
    for kernel, stride, channels, out in ((8, 4, 3 * STACK, 32), (4, 2, 32, 64), (3, 1, 64, 64)):
        fan_in = kernel * kernel * channels
        w = weights(number, fan_in * out, fan_in).reshape(kernel, kernel, channels, out).permute(3, 2, 0, 1)
        x = F.leaky_relu(F.conv2d(x, w, weights(number + 1, out, 3000), stride=stride), 0.2)
        number += 2
    x = x.permute(0, 2, 3, 1).flatten(1)
    for i, out in enumerate((HIDDEN, HIDDEN, FEATURES)):
        fan_in = x.shape[1]
        x = (F.relu(x) if i else x) @ weights(number, fan_in * out, fan_in).reshape(fan_in, out) + weights(number + 1, out, 3000)
        number += 2
    return x


said = {}
for side in (36, 64, 84):
    seen = torch.tensor(np.stack([frames(side, r) for r in range(ROWS)]), dtype=torch.float64)  # row k y x c
    seen = seen.permute(0, 1, 4, 2, 3).flatten(1, 2)
    scale = seen.var(0, unbiased=False).sqrt() + 1e-8
    x = ((seen - seen.mean(0)) / scale).clamp(-5, 5).float()
    said[str(side)] = ((features(x, 0) - features(x, 1)) ** 2).mean(1).tolist()
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "rnd.json"), "w") as out:
    json.dump(said, out)
    out.write("\n")
