"""pgrlab's workloads with frames or rays, in PyTorch, for peer.py: updates of DrQ-v2, steps
of PPO and its choices at the shapes of core/bench. Frames are bytes on the device already;
pgrlab's updates also draw and upload them."""

COLOURS, STACK, FILTERS, FEATURE, ACTIONS = 3, 3, 32, 50, 6
SHAPES = {"drqv2": (84, (2, 1, 1, 1), 256, 1024), "encoder-fit": (84, (2, 1, 1, 1), 256, 0), "drqv2-demo": (64, (2, 2, 1, 1), 128, 256)}
WORKLOADS = (*SHAPES, "ppo-rays", "ppo-rgb84")


class Frames:
    """The workloads on the device of a peer (peer.py)."""

    def __init__(self, peer):
        self.peer, self.torch, self.device = peer, peer.torch, peer.device

    def encoder(self, side, strides):
        """Four 3×3 convolutions of 32 filters, and the numbers that they give."""
        nn, layers, channels = self.torch.nn, [], COLOURS * STACK
        for stride in strides:
            layers += [nn.Conv2d(channels, FILTERS, 3, stride), nn.ReLU()]
            channels, side = FILTERS, (side - 3) // stride + 1
        net = nn.Sequential(*layers, nn.Flatten()).to(self.device, memory_format=self.torch.channels_last)
        return net, FILTERS * side * side

    def bytes(self, rows, channels, side):
        x = self.torch.randint(0, 256, (rows, channels, side, side), dtype=self.torch.uint8, device=self.device)
        return x.to(memory_format=self.torch.channels_last)

    def layers(self, *widths):
        nn, made = self.torch.nn, []
        for i, o in zip(widths, widths[1:]):
            made += [nn.Linear(i, o), nn.ReLU()]
        return nn.Sequential(*made[:-1]).to(self.device)

    def shifted(self, x, pad=4):
        """Random shifts by whole pixels with repeated edges, as a gather, and bytes as numbers."""
        torch, (rows, channels, side, _) = self.torch, x.shape
        at = torch.arange(side, device=self.device) - pad
        places = [(at + torch.randint(0, 2 * pad + 1, (rows, 1), device=self.device)).clamp(0, side - 1) for _ in range(2)]
        flat = (places[0][:, :, None] * side + places[1][:, None, :]).view(rows, 1, -1).expand(-1, channels, -1)
        moved = x.contiguous().view(rows, channels, -1).gather(2, flat).view(rows, channels, side, side)
        return moved.to(memory_format=torch.channels_last).float() / 255 - 0.5

    def encoder_fit(self, side, strides, rows, how):
        f, (net, _) = self.torch.nn.functional, self.encoder(side, strides)
        x = self.peer.normal(rows, COLOURS * STACK, side, side).to(memory_format=self.torch.channels_last)
        y = self.torch.randn_like(net(x))
        optimiser = self.peer.adam(list(net.parameters()), how == "graph")

        def step():
            optimiser.zero_grad(set_to_none=True)
            f.mse_loss(net(x), y).backward()
            optimiser.step()

        return step

    def drqv2(self, side, strides, rows, hidden, how):
        """Shift, critics with the encoder, actor, Polyak (Yarats et al. 2022)."""
        torch, nn, f, graph = self.torch, self.torch.nn, self.torch.nn.functional, how == "graph"
        encoder, flat = self.encoder(side, strides)
        trunk, trunk_target, trunk_actor = (nn.Sequential(nn.Linear(flat, FEATURE), nn.LayerNorm(FEATURE), nn.Tanh()).to(self.device) for _ in range(3))
        critics, targets = ([self.layers(FEATURE + ACTIONS, hidden, hidden, 1) for _ in range(2)] for _ in range(2))
        policy = self.layers(FEATURE, hidden, hidden, ACTIONS)
        of_critics = [p for n in (trunk, *critics) for p in n.parameters()]
        of_targets = [p for n in (trunk_target, *targets) for p in n.parameters()]
        of_actor = [*trunk_actor.parameters(), *policy.parameters()]
        steps_critic, steps_actor = self.peer.adam([*encoder.parameters(), *of_critics], graph), self.peer.adam(of_actor, graph)
        s, after = (self.bytes(rows, COLOURS * STACK, side) for _ in range(2))
        action, reward = self.peer.normal(rows, ACTIONS).tanh(), self.peer.normal(rows, 1)

        def act(h):
            mean = policy(trunk_actor(h)).tanh()
            return (mean + (0.2 * torch.randn_like(mean)).clamp(-0.3, 0.3)).clamp(-1, 1)

        def least(nets, z, a):
            pair = torch.cat([z, a], 1)
            return torch.min(nets[0](pair), nets[1](pair))

        def step():
            h = encoder(self.shifted(s))
            with torch.no_grad():
                h_after = encoder(self.shifted(after))
                y = reward + 0.99 ** 3 * least(targets, trunk_target(h_after), act(h_after))
            pair = torch.cat([trunk(h), action], 1)
            steps_critic.zero_grad(set_to_none=True)
            sum(f.mse_loss(q(pair), y) for q in critics).backward()
            steps_critic.step()
            h = h.detach()
            loss = -least(critics, trunk(h), act(h)).mean()
            for p, g in zip(of_actor, torch.autograd.grad(loss, of_actor)):
                p.grad = g
            steps_actor.step()
            with torch.no_grad():
                torch._foreach_mul_(of_targets, 0.99)
                torch._foreach_add_(of_targets, of_critics, alpha=0.01)

        return step

    def ppo(self, rows, body, width, x, how):
        """A step on a minibatch: nine actions, clipped surrogate, clipped value, entropy."""
        torch, nn = self.torch, self.torch.nn
        policy, value = nn.Linear(width, 9).to(self.device), nn.Linear(width, 1).to(self.device)
        parameters = [p for n in (body, policy, value) for p in n.parameters()]
        optimiser = self.peer.adam(parameters, how == "graph")
        action = torch.randint(0, 9, (rows, 1), device=self.device)
        advantage, old, returns, before = (self.peer.normal(rows) for _ in range(4))

        def step():
            h = body(x if x.is_floating_point() else x.float() / 255)
            log_p, v = policy(h).float().log_softmax(1), value(h)[:, 0].float()
            ratio = (log_p.gather(1, action)[:, 0] - old).exp()
            a = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
            surrogate = torch.min(ratio * a, ratio.clamp(0.9, 1.1) * a).mean()
            clipped = before + (v - before).clamp(-0.1, 0.1)
            of_value = 0.5 * torch.max((v - returns) ** 2, (clipped - returns) ** 2).mean()
            loss = of_value - surrogate + 0.01 * (log_p.exp() * log_p).sum(1).mean()
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(parameters, 0.5)
            optimiser.step()

        return step

    def rays(self):
        """The layers over the rays of a maze, and how many numbers they give."""
        nn = self.torch.nn
        return nn.Sequential(nn.Linear(160, 128), nn.Tanh(), nn.Linear(128, 64), nn.Tanh()).to(self.device), 64

    def acting(self, how, mazes=16):
        """A choice in each maze, with what a rollout keeps of it: log π(a|s) and V(s). What was
        observed comes from the host, and the results go back in one copy. (pgrlab's ppo-act
        has V(s) too; it computes log π later, of a whole rollout.)"""
        torch, nn, (body, width) = self.torch, self.torch.nn, self.rays()
        policy, value = nn.Linear(width, 9).to(self.device), nn.Linear(width, 1).to(self.device)
        observed, s = torch.randn(mazes, 160), torch.empty(mazes, 160, device=self.device)
        if self.device.type == "cuda":
            observed = observed.pin_memory()
        made = torch.empty(mazes, 3, device=self.device)

        def choose():
            with torch.no_grad():
                h = body(s)
                log_p = policy(h).float().log_softmax(1)
                # The largest sum with Gumbel noise is a sample; multinomial waits for the device.
                action = (log_p - torch.empty_like(log_p).exponential_().log()).argmax(1, keepdim=True)
                made.copy_(torch.cat([action.float(), log_p.gather(1, action), value(h).float()], 1))

        if how == "compile":
            choose = torch.compile(choose)
        elif how == "graph":
            choose = self.peer.captured(choose)

        def step():
            s.copy_(observed, non_blocking=True)
            choose()
            return made.cpu()

        return step

    def make(self, name, how):
        nn = self.torch.nn
        if name == "ppo-rays":
            body, width = self.rays()
            return self.ppo(1024, body, width, self.peer.normal(1024, 160), how)
        if name == "ppo-rgb84":
            convolutions = [nn.Conv2d(3, 32, 8, 4), nn.ReLU(), nn.Conv2d(32, 64, 4, 2), nn.ReLU(), nn.Conv2d(64, 64, 3), nn.ReLU()]
            body = nn.Sequential(*convolutions, nn.Flatten(), nn.Linear(3136, 512), nn.ReLU()).to(self.device, memory_format=self.torch.channels_last)
            return self.ppo(768, body, 512, self.bytes(768, 3, 84), how)
        side, strides, rows, hidden = SHAPES[name]
        if name == "encoder-fit":
            return self.encoder_fit(side, strides, rows, how)
        return self.drqv2(side, strides, rows, hidden, how)
