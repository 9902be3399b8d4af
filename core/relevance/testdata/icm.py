"""The curiosity model of frames by PyTorch 1.13, to icm.json beside this file: for frames of 42,
63 and 84 pixels F of four rows, loss and gradients of an update, the losses of five and F after
them.

Written for this test from google-research/episodic-curiosity: third_party/baselines/ppo2/ppo2.py
and pathak_utils.py. Images stand upright here and are padded as TensorFlow's SAME does; ours are
turned by 180°, so windows and what is made of them are turned here. Weights are ours:
convolutions [ky·kx·c, out], layers [in, out], after the convolutions in the order (y, x, c);
PyTorch has (c, y, x). Of a gradient there is its norm and its product with another vector.

    env -u OPENBLAS_CORETYPE /usr/bin/python3 core/relevance/testdata/icm.py
"""
import json
import os

import numpy as np
import torch
import torch.nn.functional as F

torch.set_num_threads(1)
ROWS, STACK, ACTS, HIDDEN, SHARE, LR = 4, 2, 3, 16, 0.2, 1e-3
CONVS = [(3 * STACK, 32), (32, 32), (32, 32), (32, 32)]
LAYERS = [(288 + ACTS, HIDDEN), (HIDDEN, 288), (576, HIDDEN), (HIDDEN, ACTS)]


def weights(number, count, fan_in):
    i = np.arange(count, dtype=np.int64)
    return torch.tensor((((i * 7919 + number * 104729 + 13) % 2003) / 1001.0 - 1) * (3 / fan_in) ** 0.5, dtype=torch.float32)


def frames(side, row):
    i = np.arange(STACK * side * side * 3, dtype=np.int64)
    return ((i * i // 7 + 31 * i * (row + 1) + 77 * row) % 256).reshape(STACK, side, side, 3)


def images(side, first):
    """Rows first, first+1, … as [row, k·c, 42, 42], each pixel the mean over its area."""
    cover = np.zeros((42, side))
    for i in range(42):
        for p in range(side):
            cover[i, p] = max(0, min((i + 1) * side, (p + 1) * 42) - max(i * side, p * 42)) / side
    x = np.stack([frames(side, first + r) for r in range(ROWS)]).transpose(0, 1, 4, 2, 3).reshape(ROWS, 3 * STACK, side, side)
    return torch.tensor(cover @ x @ cover.T / 255, dtype=torch.float32)


def same(x):
    """Zeros around x as TensorFlow's SAME has them for windows of 3 and a stride of 2."""
    total = [(-(-n // 2) - 1) * 2 + 3 - n for n in x.shape[2:]]
    (above, below), (left, right) = [(t // 2, t - t // 2) for t in total]
    return F.pad(x, (left, right, above, below))


def encode(x, p):
    for i, (channels, out) in enumerate(CONVS):
        w = p[2 * i].reshape(3, 3, channels, out).flip(0, 1).permute(3, 2, 0, 1)
        x = F.elu(F.conv2d(same(x), w, p[2 * i + 1], stride=2))
    return x.permute(0, 2, 3, 1).flip(1, 2).flatten(1)


def missed(now, next, action, p):
    return F.relu(torch.cat([now, action], 1) @ p[8] + p[9]) @ p[10] + p[11] - next


def loss_of(x, y, action, p):
    now, next = encode(x, p), encode(y, p)
    logits = F.relu(torch.cat([now, next], 1) @ p[12] + p[13]) @ p[14] + p[15]
    forward = 0.5 * (missed(now, next, action, p) ** 2).mean(1) * 288.0
    return SHARE * forward.mean() + (1 - SHARE) * F.cross_entropy(logits, action.argmax(1))


def score(x, y, action, p):
    with torch.no_grad():
        return (missed(encode(x, p), encode(y, p), action, p) ** 2).mean(1).tolist()


said = {}
for side in (42, 63, 84):
    p, number = [], 0
    for fan_in, out in [(9 * c, o) for c, o in CONVS] + LAYERS:
        p += [weights(number, fan_in * out, fan_in).reshape(fan_in, out), weights(number + 1, out, 3000)]
        number += 2
    for w in p:
        w.requires_grad_()
    action = F.one_hot(torch.arange(ROWS) % ACTS, ACTS).float()
    x, y = images(side, 0), images(side, 10)
    is_ = {"before": score(x, y, action, p), "norms": [], "products": [], "losses": []}
    adam = torch.optim.Adam(p, lr=LR, betas=(0.9, 0.999), eps=1e-8)
    for update in range(5):
        adam.zero_grad()
        loss = loss_of(x, y, action, p)
        loss.backward()
        is_["losses"].append(loss.item())
        if update == 0:
            for w in p:
                g = w.grad.double().flatten()
                other = torch.arange(len(g)) * 37 % 17 - 8
                is_["norms"].append(g.norm().item())
                is_["products"].append((g * other).sum().item())
        adam.step()
    is_["after"] = score(x, y, action, p)
    said[str(side)] = is_
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "icm.json"), "w") as out:
    json.dump(said, out)
    out.write("\n")
