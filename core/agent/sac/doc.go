// Package sac is a learner: soft actor-critic (Haarnoja et al. 2018)
// with an ensemble of N critics. REDQ (Chen et al. 2021) is two numbers of it, N
// and the size M of the subset in the target; the SAC that SynthER and PGR train
// has N = M = 2.
//
// # One update
//
// Update makes one critic update in the order of watchernyu/REDQ:
// redq/algos/redq_sac.py, with each optimiser fused into the program that
// computes its gradient. That order, which the numbers depend on, is:
//
//  1. y = r + γ(1−d)(min over K of Q̄ₖ(s',a') − α·log π(a'|s')), a' ~ π(s'), with
//     K a fresh subset of M critics, one for the whole batch.
//  2. Where it is due, the policy steps along mean(α·log π(ã|s) − mean over N of
//     Qⱼ(s,ã)); the critics that it reads have not stepped yet.
//  3. With it α steps: loss −log α·mean(log π + H̄).
//  4. The critics step along Σⱼ mean (Qⱼ(s,a) − y)².
//  5. The target critics move by τ towards the critics.
//
// y was fixed before the policy moved, and the critics' loss does not depend on
// the policy once y is fixed: therefore steps 2 and 4 may follow each other where
// the authors compute all gradients first.
//
// # One env step
//
// The stages of an update stand once, in newSchedule: batch, subset, then target, actor,
// α and critic, or target and critic in one program where the policy is not due. A stage
// is a program; where the device has none (on the CPU: batch, subset and α) it is what
// the host does. UpdateN runs the stages one after the other, or where the device can
// (device.Sequencer) those of all updates of an env step as one launch. The rows are the
// same, and so is what happens where something is not finite: that update is without
// effect, the others are made.
//
// # Variants
//
// Config composes what the paper's other baselines add: importance weights in the
// critics' loss with the errors of a batch as new priorities (prioritized replay),
// an ensemble of which one critic acts for an episode (bootstrapped Q), layers with
// learned noise (noisy networks). None of them changes the order above.
//
// # State
//
// Random numbers are indexed by the number of the update, so that the state is
// parameters, moments and counters; Save writes all of it.
package sac
