// Package relevance implements F, the relevance functions of prioritized generative replay (Wang et
// al., ICLR 2025, section 4). F says how interesting a real transition (s, a, r, s') is. The scores
// condition the generator; they are computed for the whole real buffer before each refit.
//
//	reward     r
//	return     Q(s, π(s))
//	td         |r + γ(1−d)·Q̄(s', π(s')) − Q(s,a)|
//	td-signed   r + γ(1−d)·Q̄(s', π(s')) − Q(s,a)
//	curiosity  ‖g(h(s), a) − h(s')‖²/H, by an intrinsic curiosity model     (equation 5)
//	rnd        ‖f̂(s') − f(s')‖²/K, by random network distillation             (equation 6)
//	count      (N̂(s,a) + 0.01)^(−1/2), N̂ a pseudo-count by context-tree switching (equation 7)
//	eco        α(β − P90 of C(E(s'), E(mᵢ))), episodic curiosity (Savinov et al. 2019)
//	none       0: the generator is fitted and sampled without a condition
//
// Only curiosity has released code (renwang435/pgr: synther/online/conditional_nets.py). The paper
// leaves open how Q is read from an ensemble and what argmax_a' means for continuous actions: here
// Q is the mean over the critics, and π(s) the policy's mean action. The paper writes the TD error
// without an absolute value; this package offers both forms.
//
// Equation 5 is computed by ICM.Score (curiosity.go) with the networks of icmnet.go, equation 6 by
// RND.Score (rnd.go), equation 7 by Count.Score (count.go); for frames by FrameICM.Score
// (icmframes.go), FrameRND.Score (rndframes.go) and FrameCount.Score (countframes.go). The
// generator scales scores, so constant factors do not matter to it. They do matter in bonuses and
// priorities, see PaperScale.
//
// A function is one file that registers itself: see Spec, and docs/recipes/relevance.md for a
// complete example with a network.
//
// Scores are raw. Their scaling, and the rule that only filled slots of the buffer compete for the
// largest ones, belong to the generator. Scores of return and td-signed may be negative.
package relevance
