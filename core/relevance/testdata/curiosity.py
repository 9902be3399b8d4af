"""Updates and F of the curiosity model of the authors, to curiosity-golden.json beside this file, from what
the test wrote (go test ./core/relevance -run GoldenCuriosity -golden).

The class is theirs, imported from a checkout of https://github.com/renwang435/pgr at b52b41b; the
optimiser is the one of their agent (synther/online/redq_rlpd_agent.py). PyTorch is 1.13.1.

    python3 core/relevance/testdata/curiosity.py PGR
"""
import importlib.util
import json
import os
import sys

import torch

torch.set_num_threads(1)
HERE = os.path.dirname(os.path.abspath(__file__))
LAYERS = {"encoder": ("feature.%d", 2), "before": ("forward_net_1.%d", 2), "after": ("forward_net_2.%d", 2), "residual0.": ("residual.0.%d", 2), "inverse": ("inverse_net.%d", 3), "norm": ("inverse_net.%d", 3)}


def numbers(net, name):
    """Their numbers of that name of ours, in our order: a function that reads them, and one that writes."""
    layer, part = name.split(".", 1)[1].rsplit(".", 1)
    group, index = layer[:-1], int(layer[-1])
    pattern, step = LAYERS[group]
    theirs = dict(net.named_modules())[pattern % (step * index + (group == "norm"))]
    if part == "running":  # mean, biased and unbiased variance; theirs has no biased one
        def write(x):
            theirs.running_mean.copy_(x[0]), theirs.running_var.copy_(x[2])

        return lambda: torch.stack([theirs.running_mean, torch.zeros_like(theirs.running_mean), theirs.running_var]), write
    p = {"w": "weight", "b": "bias", "gamma": "weight", "beta": "bias"}[part]
    p, turn = getattr(theirs, p), (lambda x: x.T) if part == "w" else (lambda x: x)
    return lambda: turn(p.detach()), lambda x: p.data.copy_(turn(x))


def main(root):
    spec = importlib.util.spec_from_file_location("nets", os.path.join(root, "synther/online/conditional_nets.py"))
    nets = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(nets)
    with open(os.path.join(HERE, "curiosity-input.json")) as f:
        given = json.load(f)
    net = nets.Curiosity(given["Obs"], given["Hidden"], given["Act"])
    for w in given["Weights"]:
        numbers(net, w["Name"])[1](torch.tensor(w["Data"]).reshape(w["Shape"]))

    def tensors(rows):
        return [torch.tensor(rows[k]).reshape(-1, n) for k, n in (("Obs", given["Obs"]), ("Next", given["Obs"]), ("Act", given["Act"]))]

    def scores():
        net.eval()
        s, n, a = (x.numpy() for x in tensors(given["Scored"]))
        with torch.no_grad():
            return net.compute_reward(s, n, a, None, None).squeeze().tolist()

    out = {"Before": scores(), "Losses": []}
    net.train()
    optimiser = torch.optim.Adam(net.parameters(), lr=given["LR"])
    for batch in given["Batches"]:
        optimiser.zero_grad()
        loss = net.forward_loss(*tensors(batch))
        loss.backward()
        optimiser.step()
        out["Losses"].append(loss.item())
    out["Weights"] = []
    for w in given["Weights"]:
        x = numbers(net, w["Name"])[0]()
        out["Weights"].append({"Name": w["Name"], "Shape": w["Shape"], "Data": x.reshape(-1).tolist()})
    out["After"] = scores()
    with open(os.path.join(HERE, "curiosity-golden.json"), "w") as f:
        json.dump(out, f)
        f.write("\n")


if __name__ == "__main__":
    main(sys.argv[1])
