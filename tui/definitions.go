package tui

// definition says what a quantity on the screen is and where it comes from. Its numbers
// stand beside the words of its name, or beside those in shown.
type definition struct {
	name, text string
	shown      []string
}

// definitions are the quantities of the screen. A number without an entry here does
// not belong on it.
var definitions = []definition{
	{"RETURN", "undiscounted sum of rewards of one episode under the mean action tanh μ(s), averaged over the episodes of one evaluation (environments of their own, start states fixed by seed and episode). ± is the standard deviation over those episodes of one policy; it says nothing about other seeds.", []string{"std", "episodes"}},
	{"DORMANT RATIO (Sokar)", "share of the policy's hidden units with score ≤ τ, score_i = E|h_i| / mean_k E|h_k| of its layer, h after the ReLU, output layer left out, τ = 0.025, over real states. Sokar et al. 2023, equation 1.", []string{"τ", "dormant"}},
	{"DORMANT RATIO (DrM)", "the same with pre-activations, both output heads counted and score < τ. Xu et al. 2024 (XuGW-Kevin/DrM: utils.py).", nil},
	{"F relevance", "what the generator is conditioned on and prompted with. reward: r. return: Q(s, π(s)). td: |r + γ(1−d) Q̄(s', π(s')) − Q(s, a)|, td-signed without the bars. curiosity: mean squared error of the forward model g(h(s), a) against h(s') of an ICM. rnd: mean squared distance of a trained network to a random one at s'. count: (N̂(s, a) + 0.01)^(−1/2), N̂ a pseudo-count by context-tree switching. none: the condition is always dropped, as in SynthER. Wang et al. 2025, section 4.", nil},
	{"ω guidance", "D = D(∅) + ω (D(c) − D(∅)) at every denoising step (classifier-free guidance, Ho and Salimans 2021). 1 is the conditional model alone.", nil},
	{"r ratio", "share of synthetic rows in a batch, n_syn = int(B·r); all rows are real while D_syn holds fewer than n_syn.", nil},
	{"steps/s, updates/s", "environment steps and critic updates per second, over the last seconds; the curve begins with the first update.", nil},
	{"step", "env steps made, those of the whole run, and the share of the one in the other.", []string{"RUN", "PAUSED", "environment"}},
	{"seed", "what all random numbers of the run come from: the same preset, seed and device write the same journal.", nil},
	{"staged", "knobs with a value that was chosen and not sent yet. 1 of 18: the place of the knob under the cursor; 1 of 8: of its value among its choices.", []string{"KNOBS"}},
	{"device", "what computes: cpu and the vector instructions of its kernels (avx2, avx512, amx, or go for none), or a GPU and the precision of its products.", nil},
	{"eta", "time to go: the env steps, evaluations and refits still to come, each at its mean cost so far; it follows jumps of these means slowly.", nil},
	{"episode", "the training episode under way: its steps, and the sum of its rewards so far under the stochastic policy.", []string{"sum", "so far"}},
	{"batch", "real and synthetic rows of the last batch.", []string{"real"}},
	{"D_real, D_syn, updates", "real and synthetic transitions held, critic updates made. D_syn is emptied before each generation.", nil},
	{"F VALUES", "F of the real transitions at the last scoring, and of the synthetic ones under the same F; 20 bins over the range of their bodies (first to 99th percentile; the share beyond it is said below), logarithmic where it says log: positive values of which half would lie in a tenth of the range; asked: F of the prompts that D_syn was made from; heights relative to the fullest bin of each. med is the median, p90 the 90th percentile. The curve below: the medians of the real ones at each scoring so far by this F, and their range; its height stands for that range, or for half the largest value where that is more, as in all small curves.", []string{"med", "p90", "beyond"}},
	{"preview", "F of a few transitions that the present generator makes with the staged value, beside real and synthetic ones over the same edges; nothing of the run is touched. Outside: the share of its rows with a number outside the range of the real ones. Rank correlation (Spearman) and the share of the top k rows both would choose compare a new F with the old one on the same real rows.", []string{"samples"}},
	{"since #N", "what training has seen since the last change came into force: the share of D_real that is younger, whether D_syn is, and critic updates made since.", nil},
	{"CLEAN, TOUCHED", "whether, and how often, a knob was changed by hand while the run went on; changes of the schedule that a run began with do not count.", nil},
	{"smoothed", "exponentially weighted mean of the measurements, free of the bias towards the first; the weight of the past, 0.6 or 0.9, is per mean distance of two measurements. The dots, and the numbers in the border, are what was measured.", nil},
	{"paper ... at", "what Wang et al. 2025 print for this task and method: mean and standard deviation over their seeds at that env step, where its bracket stands on the chart. Other scale: this run's networks or schedule are smaller, the numbers do not compare.", nil},
	{"x axis", "env steps; critic updates, from the UTD and its changes; or wall time since the start, pauses included.", nil},
	{"F QUANTILES", "p10, median and p90: percentiles of F over the real transitions at each scoring.", []string{"median", "p10", "p90"}},
	{"Q BIAS", "Q − return: mean over the episodes of an evaluation of Q(s₀, π(s₀)) − Σ γᵗ r. Q has the entropy bonus of the present policy in it, the returns are those of its mean action, cut off by the time limit. Fujimoto et al. 2018; Chen et al. 2021.", nil},
	{"DYNAMICS ERROR", "mean of (s' − ŝ')² of synthetic rows in units of the variance of real next states, ŝ' being what the task itself makes of s and a. Relevant rows: the same of those whose F, taken of ŝ' and the true reward, lies in the upper quarter of the real ones. Of s' - s: in units of the variance of real changes s' − s, where the mean real change, a constant guess, scores 1 on rows like the real ones; the verdict on D_syn compares with what it scores on the same rows.", []string{"change"}},
	{"REWARD ERROR", "mean of (r − r̂)² of synthetic rows over the variance of real rewards, r̂ being the task's reward for s and a: the mean real reward, a constant guess, scores 1 on rows like the real ones; the verdict on D_syn compares with what it scores on the same rows.", nil},
	{"COVERAGE", "share of real rows with a synthetic one within the distance to their fifth nearest real neighbour (Naeem et al. 2020); fresh real rows, as many, cover 0.97. Copies, which do not count there, are synthetic rows nearer to a real one than a twentieth of the median distance between real neighbours. Distances as under nearest.", []string{"covered", "copies"}},
	{"asked, achieved", "median and 90th percentile of the F that prompts asked for, and of F of the transitions that came out; their rank correlation over the same rows: how well asked and achieved F correlate.", []string{"correlation", "correlate"}},
	{"outside, nearest", "share of synthetic rows with a number outside the range of the real ones, in s or s', a, and r; median distance to the nearest real row per dimension in standard deviations, beside the same of real rows among themselves.", []string{"range", "rows", "s'"}},
	{"GENERATOR", "next refit: env steps until the generator is fitted anew. EDM loss: as under generator below, its curve over the refits. D_syn: rows held, and env steps since they were made. took: wall time of the last refit or generation; samples/s from the cost of a generation so far.", []string{"fitted", "refit", "rows", "generated", "took", "loss", "steps"}},
	{"SYSTEM", "CPU: processor time of this process per second of wall time, over the last 2 s; machine: share of all processors that is busy. memory: resident bytes of this process, its Go heap, and of the machine. GPU: share of the time in which a kernel ran, memory in use by all processes, temperature and power, as NVML says. screen: bytes written to the terminal, and how long a write takes on average.", []string{"memory", "machine", "Go heap", "screen", "written", "busy"}},
	{"slow line", "writing a frame takes so long that the screen looks at the run less often; training does not wait for it.", nil},
	{"MAP", "two numbers of the observation s: the share of 8,192 rows of D_real and of D_syn, spread evenly over the buffers, in cells of 40 by 20, each shade a factor of about six; the difference of the two shares, s and r where it exceeds a twentieth of the largest, S and R two fifths; the mean F of 1,024 real rows.", nil},
	{"RUNS, forks", "a dot is a pair of children of one checkpoint with the same new random streams: the mean return of the changed one less that of the other, over the evaluations behind the fork that both have. The 95% interval is Student's t over pairs; evaluations and episodes do not make it narrower. The shaded band is the largest difference of a placebo pair, whose children differ in their random streams alone; inside it no difference is coloured.", []string{"pairs", "children", "better", "interval", "env steps", "return"}},
	{"LESSON", "a claim held, or did not hold, where two numbers differ by more than two standard errors of their difference and by more than the lesson's margin (10% of the first, where it says nothing else); otherwise it cannot be told. The standard error is that between the evaluations of this one run.", nil},
	{"saved, stood still", "the position that a checkpoint holds, its bytes on the disk, the seconds that writing it took, and those of them in which training waited.", nil},
	{"REPLAY", "a journal is played; the step between two events is interpolated evenly, D_real is counted from the steps.", nil},
	{"AGENT", "the training environment as it stands, drawn by this program; episode, step and return so far as under episode. Q(s, π(s)) is the mean over critics, F the relevance of the newest transition, with the share of real rows below it (by the histogram of F); the action's coordinates lie in [-1, 1].", []string{"action"}},
	{"LOSSES", "of the last update; the curves are their means at the evaluations so far, the generator's at the refits. - means not computed yet.", nil},
	{"critic", "Σ_j mean (Q_j(s,a) − y)², y = r + γ(1−d)(min over M target critics − α log π(a'|s')). Chen et al. 2021 (REDQ), Algorithm 1.", nil},
	{"actor", "mean of α log π(ã|s) − mean_j Q_j(s, ã).", nil},
	{"α", "entropy temperature; its loss is −mean log α (log π + H̄), H̄ = −dim(A). Haarnoja et al. 2018.", nil},
	{"Q mean", "mean of Q_j(s, a) over batch and critics.", nil},
	{"ICM", "forward plus inverse loss of the curiosity model. Pathak et al. 2017.", nil},
	{"generator", "EDM loss mean λ(σ)|D(x+σn) − x|² of the last fit. Karras et al. 2022, section 5.", nil},
	{"phases", "collect: one environment step with its updates. score: F of every real transition. fit: the generator, from new. generate: D_syn. evaluate: the episodes of the return.", []string{"PHASE", "fit", "to go"}},
	{"markers ╎ on the charts", "step at which a change came into force, the first batch with data made under it; ┴ on the axis: step at which it was set.", []string{"asked", "applied", "in force", "waits", "knob"}},
	{"batch, generation, refit", "classes of knobs: in force from the next update; from the next generation of samples; from the next refit (score, fit, generate). ! makes generation and refit happen at once.", nil},
	{"takes about, writes about", "of a run that has not begun. The time: env steps with updates, refits and evaluations, each at what it took in a trial of a few of them on this machine, or in an earlier run with the same parts; analyses and pauses count nothing. The bytes: D_real at the end, and the four checkpoints that are kept, each with its D_syn; journal and policy are small beside them.", nil},
}
