"""An update and a comparison of episodic curiosity with the embedding "resnet18" by PyTorch 1.13,
to ecoresnet.json beside this file: of a network with few channels and frames of 36 pixels, the
loss, its parts by every weight, the running statistics after the update, and by them, with the
weights of before, how much likelier close than distant a pair is (ln).

Written for this test from google-research/episodic-curiosity: third_party/keras_resnet/models.py,
with paddings that are alike on both sides. Weights are ours: convolutions [ky·kx·c, out], layers
[in, out]; images (y, x, c). The comparator's first layer is cut into one for each embedding.

    python3 core/relevance/testdata/ecoresnet.py
"""
import json
import os

import numpy as np
import torch
import torch.nn.functional as F

torch.set_num_threads(1)
ROWS, SIDE, CHANNELS, FEATURES, COMPARATOR = 4, 36, (2, 3, 4, 5), 6, (5, 4)
MOMENTUM, DECAY = 0.1, 1e-4

params, decayed, norms = [], [], []  # in the order of ecoNet.params


def formula(number, count):
    i = np.arange(count, dtype=np.int64)
    return ((i * 7919 + number * 104729 + 13) % 2003) / 1001.0 - 1


def tensor(values):
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


class Layer:
    def __init__(self, fan_in, out):
        n = len(params)
        self.w = tensor(formula(n, fan_in * out).reshape(fan_in, out) * (3 / fan_in) ** 0.5)
        self.b = tensor(formula(n + 1, out) * (3 / 3000) ** 0.5)
        params.extend([self.w, self.b])

    def __call__(self, x):
        return x @ self.w + self.b


class Conv(Layer):
    def __init__(self, kernel, stride, pad, channels, out):
        super().__init__(kernel * kernel * channels, out)
        self.kernel, self.stride, self.pad, self.channels, self.out = kernel, stride, pad, channels, out
        decayed.append(self.w)

    def __call__(self, x):
        w = self.w.reshape(self.kernel, self.kernel, self.channels, self.out).permute(3, 2, 0, 1)
        return F.conv2d(x, w, self.b, stride=self.stride, padding=self.pad)


class Norm:
    def __init__(self, width):
        self.width = width

    def sample(self):  # after all layers
        n = len(params)
        self.gamma, self.beta = tensor(1 + formula(n, self.width) / 4), tensor(formula(n + 1, self.width) / 4)
        params.extend([self.gamma, self.beta])
        self.mean, self.var = torch.zeros(self.width, dtype=torch.float64), torch.ones(self.width, dtype=torch.float64)
        norms.append(self)

    def __call__(self, x, learning):
        return F.relu(F.batch_norm(x, self.mean, self.var, self.gamma, self.beta, learning, MOMENTUM, 1e-5))


class Block:
    def __init__(self, channels, out, stride, first):
        self.before = None if first else Norm(channels)
        self.first, self.between, self.second = Conv(3, stride, 1, channels, out), Norm(out), Conv(3, 1, 1, out, out)
        self.past = Conv(1, stride, 0, channels, out) if stride > 1 or channels != out else None

    def __call__(self, x, learning):
        z = x if self.before is None else self.before(x, learning)
        z = self.second(self.between(self.first(z), learning))
        return z + (x if self.past is None else self.past(x))


stem, stem_norm, blocks, channels = Conv(7, 2, 3, 3, CHANNELS[0]), Norm(CHANNELS[0]), [], CHANNELS[0]
for stage, out in enumerate(CHANNELS):
    for k in range(2):
        blocks.append(Block(channels, out, 2 if stage and not k else 1, not blocks))
        channels = out
last, dense = Norm(channels), Layer(channels, FEATURES)
halves, half_norms = [Layer(FEATURES, COMPARATOR[0]) for _ in range(2)], [Norm(FEATURES) for _ in range(2)]
rest = [Layer(COMPARATOR[0], COMPARATOR[1]), Layer(COMPARATOR[1], 2)]
rest_norms = [Norm(w) for w in COMPARATOR]
for norm in half_norms + rest_norms + [stem_norm] + [n for b in blocks for n in (b.before, b.between) if n] + [last]:
    norm.sample()


def embedding(x, learning):
    x = F.max_pool2d(stem_norm(stem(x), learning), 3, 2, 1)
    for b in blocks:
        x = b(x, learning)
    return dense(last(x, learning).mean((2, 3)))


def logits(x, y, learning):
    ex = embedding(x, learning)
    ey = embedding(y, learning)
    z = halves[0](half_norms[0](ex, learning)) + halves[1](half_norms[1](ey, learning))
    for norm, layer in zip(rest_norms, rest):
        z = layer(norm(z, learning))
    return z


def frames(which):
    i = np.arange(SIDE * SIDE * 3, dtype=np.int64)
    rows = [((i * i // 7 + 31 * i * (2 * r + which + 1) + 77 * r) % 256).reshape(SIDE, SIDE, 3) for r in range(ROWS)]
    return torch.tensor(np.stack(rows), dtype=torch.float64).permute(0, 3, 1, 2)


x, y = frames(0), frames(1)
loss = F.cross_entropy(logits(x, y, True), torch.arange(ROWS) % 2) + DECAY * sum((w ** 2).sum() for w in decayed)
loss.backward()
with torch.no_grad():
    z = logits(x, y, False)
said = {
    "loss": loss.item(),
    "gradients": [p.grad.flatten().tolist() for p in params],
    "running": [n.mean.tolist() + n.var.tolist() for n in norms],
    "likelier": (z[:, 1] - z[:, 0]).tolist(),
}
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "ecoresnet.json"), "w") as out:
    json.dump(said, out)
    out.write("\n")
