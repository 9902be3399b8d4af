"""Updates of the authors' own agent, to redq-golden.json and sac-golden.json beside this file, from what the
test wrote (go test ./core/agent/sac -run GoldenUpdates -golden).

The agent is REDQSACAgent of https://github.com/watchernyu/REDQ at 3a27638, which SynthER and PGR train,
imported from a checkout. Its batches, noise and subsets are replaced, and nothing else. PyTorch is 1.13.1.

    python3 core/agent/sac/testdata/golden.py REDQ
"""
import json
import os
import sys

import numpy as np
import torch

torch.set_num_threads(1)
HERE = os.path.dirname(os.path.abspath(__file__))


def places(agent, name):
    """Where the numbers of a tensor of ours are in their agent: for each critic or once, a list of (parameter, whether transposed)."""
    net, layer = name.split(".", 1)
    part = {"w": "weight", "b": "bias"}[layer[-1]]
    nets = {"policy": [agent.policy_net], "critics": agent.q_net_list, "target": agent.q_target_net_list}[net]
    layer, out = layer[:-2], []
    for n in nets:
        if layer == "heads":
            layers = [n.last_fc_layer, n.last_fc_log_std]
        else:
            layers = [(list(n.hidden_layers) + [n.last_fc_layer])[int(layer) - 1]]
        out.append([getattr(l, part) for l in layers])
    return out, part == "weight"


def load(agent, weights):
    for w in weights:
        nets, turned = places(agent, w["Name"])
        x = torch.tensor(w["Data"]).reshape(len(nets), -1, w["Shape"][-1])
        for params, mine in zip(nets, x):
            for p, m in zip(params, mine.chunk(len(params), dim=1)):
                p.data.copy_(m.T if turned else m[0])


def stored(agent, weights):
    out = []
    for w in weights:
        nets, turned = places(agent, w["Name"])
        x = torch.stack([torch.cat([p.detach().T if turned else p.detach()[None] for p in params], dim=1) for params in nets])
        out.append({"Name": w["Name"], "Shape": w["Shape"], "Data": x.reshape(-1).tolist()})
    return out


class Log:
    def store(self, **values):
        pass


def main(name, root):
    sys.path.insert(0, root)
    from redq.algos import redq_sac

    with open(os.path.join(HERE, name + "-input.json")) as f:
        given = json.load(f)
    agent = redq_sac.REDQSACAgent(
        "", given["Obs"], given["Act"], 1.0, torch.device("cpu"), hidden_sizes=given["Hidden"], replay_size=10, batch_size=1, lr=given["LR"], gamma=given["Gamma"], polyak=1 - given["Tau"],
        alpha=given["Alpha"], target_entropy="auto", start_steps=-1, utd_ratio=given["UTD"], num_Q=given["Critics"], num_min=given["Subset"], policy_update_delay=given["Delay"])
    load(agent, given["Weights"])
    left = list(given["Updates"])
    now, noise, out = {}, [], {"Critic": [], "Actor": [], "Alpha": [], "AlphaLoss": [], "QMean": [], "Stepped": []}

    def sample_data(_):
        now.update(left.pop(0))
        noise[:] = [now["TargetNoise"], now["ActorNoise"]]
        return tuple(torch.tensor(now[k]).reshape(-1, n) for k, n in (("Obs", given["Obs"]), ("Next", given["Obs"]), ("Act", given["Act"]), ("Reward", 1), ("Done", 1)))

    agent.sample_data = sample_data
    np.random.choice = lambda n, size, replace: now["Subset"]
    torch.distributions.normal._standard_normal = lambda shape, dtype, device: torch.tensor(noise.pop(0)).reshape(shape)

    # What the agent computes on the way, seen where it calls PyTorch.
    criterion, step = agent.mse_criterion, agent.alpha_optim.step

    def mse(q, y):
        loss = criterion(q, y)
        out["Critic"].append(loss.item() * given["Critics"]), out["QMean"].append(q.mean().item())
        out["Stepped"].append(False), out["Actor"].append(0), out["AlphaLoss"].append(0), out["Alpha"].append(agent.alpha)
        return loss

    def stepped():
        step()
        out["Stepped"][-1], out["Alpha"][-1] = True, agent.log_alpha.exp().item()

    backward = torch.Tensor.backward
    seen = []

    def watched(loss):
        seen.append(loss.item())
        backward(loss)
        if len(noise) == 0 and len(seen) >= 3:  # critics, policy, α
            out["Actor"][-1], out["AlphaLoss"][-1] = seen[-2], seen[-1]

    agent.mse_criterion, agent.alpha_optim.step, torch.Tensor.backward = mse, stepped, watched
    while left:
        agent.train(Log())
    torch.Tensor.backward = backward
    out["Weights"] = stored(agent, given["Weights"])
    with open(os.path.join(HERE, name + "-golden.json"), "w") as f:
        json.dump(out, f)
        f.write("\n")


if __name__ == "__main__":
    main("redq", sys.argv[1])
    main("sac", sys.argv[1])
