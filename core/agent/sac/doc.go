// Package sac is a learner: soft actor-critic (Haarnoja et al. 2018)
// with an ensemble of N critics. REDQ (Chen et al. 2021) is a choice of two of its
// numbers, N and the size M of the subset in the target; the SAC that SynthER and
// PGR train has N = M = 2.
//
// # One update
//
// Update makes one critic update in the order of watchernyu/REDQ:
// redq/algos/redq_sac.py, with each optimiser fused into the program that
// computes its gradient. That order, which the numbers depend on, is:
//
//  1. y = r + γ(1−d)(min over K of Q̄ₖ(s',a') − α·log π(a'|s')), a' ~ π(s'), with
//     K a fresh subset of M critics, one for the whole batch.
//  2. If its step is due, the policy steps along mean(α·log π(ã|s) − mean over N of
//     Qⱼ(s,ã)); the critics that it reads have not stepped yet.
//  3. α steps with the policy: loss −log α·mean(log π + H̄).
//  4. The critics step along Σⱼ mean (Qⱼ(s,a) − y)².
//  5. The target critics move by τ towards the critics.
//
// y was fixed before the policy moved, and the critics' loss does not depend on
// the policy once y is fixed. Steps 2 and 4 may therefore follow each other, although
// the authors compute all gradients first.
//
// # One env step
//
// newSchedule is the only place that lists the stages of an update: batch, subset, then
// target, actor, α and critic, or target and critic in one program if the policy's step is
// not due. A stage is a program, or work of the host if the device has no program for it
// (on the CPU: batch, subset and α). UpdateN runs the stages one after the other, or, if
// the device can (device.Sequencer), those of all updates of an env step in one launch.
// Both ways use the same rows, and treat a number that is not finite alike: that update stops
// there, the others are made.
//
// # Variants
//
// Config composes what the paper's other baselines add: importance weights in the
// critics' loss with the errors of a batch as new priorities (prioritized replay),
// an ensemble of which one critic acts for an episode (bootstrapped Q), layers with
// learned noise (noisy networks). None of them changes the order above.
//
// # Two agents
//
// The learner max (pair) is two agents, one of which explores for the other. It is in this package
// because it consists of nothing else: it says which of them acts and what each is given.
//
// # State
//
// Random numbers are indexed by the number of the update, so that the state consists of
// parameters, moments and counters; Save writes all of it.
package sac
