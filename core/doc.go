// Package core is the training core of pgrlab: Prioritized Generative Replay
// (Wang, Frans, Abbeel, Levine, Efros; ICLR 2025), compiled from Gorgonia graphs
// and run by our own executor. This page is the map; the package itself is empty.
//
// # Symbols
//
//	paper           meaning                                code
//	D_real          real transitions                       replay.Ring of a replica.Replica
//	D_syn           synthetic transitions                  replay.Ring, refilled at each generation
//	τ = (s,a,s',r)  a transition                           replay.Transition, a row [s, a, r, s', d]
//	F(τ)            relevance function                     relevance.Function
//	G               conditional generative model           generative.Generator, Diffusion
//	c               condition, the scaled F                generative, condition.go
//	ω               guidance scale                         knob guidance
//	p               chance that a condition is dropped     knob p_uncond
//	r               synthetic ratio of a batch             knob ratio
//	k               share of real data whose F prompts G   knob top_fraction
//	T (gradient)    generator steps of a refit             knob generator_steps
//	UTD             critic updates per env step            knob utd
//	t               steps, of all copies of a maze         config.Config Steps, EnvSteps
//	π, Q, Q̄, α, γ   policy, critics, targets, temperature  agent/sac.Agent
//	E, T_a, T_c     encoder of frames, trunks of π and Q   agent/drqv2.Agent
//	N, M            critics, and those in the target       agent/sac.Config Critics, Subset
//	p_θ(s',r|s,a)   MBPO's model of the dynamics           dynamics.Ensemble, generative.Ensemble
//	k (of MBPO)     steps of a rollout                     knob horizon
//	u (of MAX)      what the models disagree on            relevance.Spec "ensemble", ensemble.go
//	r + 0.1 F       a bonus on the reward                  config.Bonus, knob bonus
//	P(i), wᵢ, β     priorities and importance weights      replay.Prioritized, config.Replay
//	μ + σ⊙ε         noisy layers                           nn.Noisy, sac.ExploreNoisy
//	heads           one critic acts for an episode         sac.ExploreBootstrap
//	h, g            ICM, curiosity: equation 5             relevance.ICM, curiosity.go
//	f, f̂            random networks: equation 6            relevance.RND, rnd.go
//	N̂               pseudo-counts: equation 7              relevance.Count, count.go
//	E, C, M         R-network and an episode's memory      relevance.ECO, eco.go
//	σ, c_in, …      EDM's noise level and preconditioning  op.EDMNoised, generative
//
// # Where to begin
//
// Algorithm 1 of the paper is lab/algorithm.go. docs/key-press.md follows a change of ω from the
// keyboard to the sampler and to the first batch that contains it. docs/recipes has a complete
// relevance function with a network, and other parts.
//
// A transition goes from source.Copies.Step by replica.Replica.EnvStep into D_real (replay.Ring.Add).
// Batches are drawn from there in replica.Replica.Update, sac.Agent.UpdateN and replay.Mixer.Sample.
//
// A learner on policy reads env steps in their order: replica.Observed adds them to experience.Log, and
// ppo.Agent, in its phase learn, gathers the rows of its minibatches from an experience.Rollout.
//
// # Imports
//
// Imports point down. config holds what a run is made from, task the problem that it learns.
// knob has the table of what can be changed while a run goes on, and the positions at which it
// changes. event has what a run reports and what can be asked of it. redo tracks what a change
// of a knob requires and what it waits for; cost answers what a run takes, before it and while it goes on. whatif
// trains a saved agent with other rows; it has of a run only what offline hands it.
// policy writes and reads the file of a policy, and acts with it.
//
// replica is one agent with its world and its data: it composes agent (the contract of what acts
// and learns; agent/sac is one implementation), relevance (F), generative (G) and replay (the
// data that is learned from). One kind of G rolls out the policy in dynamics, a learned model of the
// task. What was observed is in the log of package experience, each look once;
// learners on policy and models of frames read it through its views. lab runs Algorithm 1 on a cohort of replicas and owns the training
// goroutine; it lets inspect look at a run with the numbers of analysis, and writes through run
// (the folder of a run). checkpoint defines what is saved of a run and how it is restored,
// offline looks at saved runs; neither needs lab.
//
// dataset reads what other programs have recorded, from files of NumPy (npy) and of HDF5 (hdf5).
//
// Learners, relevance functions and generators declare themselves in lists of package registry;
// formula is the language in which tasks and relevance are written.
// table makes one document from a configuration and the settings that they bring along. agent/sac,
// relevance and generative (in mlp) build their networks with nn from the operations in op, compile them
// with plan, and run them on a device: device/cpu, where programs and lab's members choose through
// device/adapt how they share workers, or device/cuda, which launches the kernels of
// device/cuda/kernel through device/cuda/driver. rng is at the bottom. version has what readers say
// about files of other formats, printable makes text from elsewhere safe to show. fan decides whether
// forks with a change differ from forks without it, ground whether a return is typical of where training
// stands. report makes tables and figures from run folders;
// it uses run, fan, and the random numbers of its bootstrap.
//
// The packages below testing serve tests only: a CUDA driver that interprets kernels (emulator,
// ptx), a device with memory of its own (mirrortest), CPUs (cputest), the cases of every operation
// (optest) and of every driver (drivertest), power cuts (cut), slow and quick work (pace), numbers
// from other programs (golden), what code allocates (allocs), difference quotients (gradcheck), a run
// that takes milliseconds (tiny), and smaller versions of what takes minutes under the race detector
// (racing).
//
// imports_test.go holds the map. A package that needs something from a neighbour declares a
// small interface on its own side.
//
// # Why
//
// Random numbers are indexed by place, not drawn in order (rng); batches are split into lanes,
// not workers (device/cpu); work is cut into slices by count, never by time (lab). Together
// these ensure that the same preset, seed and device write the same journal, whether or not the
// run is watched, or paused and resumed, and on one core or two.
package core
