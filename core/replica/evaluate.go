package replica

import (
	"math"
	"slices"

	"pgrlab/core/agent"
	"pgrlab/core/analysis"
	"pgrlab/core/event"
	"pgrlab/core/inspect"
	"pgrlab/core/relevance"
	"pgrlab/core/run"
	"pgrlab/core/source"
)

// evaluation is an evaluation under way.
type evaluation struct {
	acting       agent.Acting
	obs, actions []float32 // those of acting
	rewards      []float64
	ended        []bool
	returns      []float64

	// For the critics' bias, if the run makes analyses.
	q          []float32 // value of the first states
	discounted []float64 // Σγᵗr
	weight     float64   // γᵗ
}

// Trial evaluates a replica's policy, in environments of its own.
type Trial struct {
	of     *Replica
	policy agent.Policy
	judge  *source.Judge // nil: the run is not evaluated
	now    *evaluation   // nil: none is under way
}

// begin makes the environments, if the run is evaluated.
func (o *Trial) begin(from source.Config) (err error) {
	r := o.of
	if r.Config.Evaluation.Every == 0 {
		return nil
	}
	from.Seed, from.Copies = evaluationSeed(r.Seed), r.Config.Evaluation.Episodes
	if o.judge, err = source.NewJudge(from, r.Config.Pixels.Stack, host{r}); err != nil {
		return err
	}
	r.own("judge", o.judge) // its name in checkpoints
	return nil
}

// newEvaluation allocates an evaluation.
func (o *Trial) newEvaluation() (*evaluation, error) {
	r, n := o.of, o.judge.Size()
	mode, _ := r.Config.Evaluation.Mode() // Validate has looked at it
	t := &evaluation{
		obs: make([]float32, n*o.judge.ObsSize()), actions: make([]float32, n*o.judge.ActSize()),
		rewards: make([]float64, n), ended: make([]bool, n), returns: make([]float64, n), discounted: make([]float64, n), weight: 1,
	}
	t.acting = agent.Acting{Copies: n, Obs: t.obs, Actions: t.actions, State: make([]float32, n*r.Agent.StateSize()), Episodes: make([]uint64, n), Mode: mode}
	var err error
	t.acting.Stacks, err = o.judge.Look()
	return t, err
}

// over says whether all episodes have ended.
func (t *evaluation) over() bool { return !slices.Contains(t.ended, false) }

// Start begins whole episodes with the policy's mean action, or as the configuration
// has it, in separate environments. number counts the evaluations of a run: evaluations of two
// runs with the same number start in the same states. ErrEnvironment means that the environments
// have failed, which was reported to the host, and that there is no evaluation.
func (o *Trial) Start(now Now, number uint64) error {
	if err := o.open(number, now.Settings.TV); err != nil {
		return err
	}
	r, t := o.of, o.now
	values := r.Agent.Values
	if !r.Config.Analyses() || values == nil || r.Parts.Fills { // critics take observations
		return nil
	}
	t.q = make([]float32, len(t.ended))
	return values.Q(t.q, t.obs, len(t.q))
}

// open begins the episodes of that number, in lockstep.
func (o *Trial) open(number uint64, tv string) error {
	t, err := o.newEvaluation()
	if err != nil {
		return err
	}
	o.now = t
	t.acting.Step = number * uint64(o.of.Task.EpisodeSteps)
	return o.judge.Begin(number, tv, t.obs)
}

// Step makes up to n lockstep steps of the episodes; over says that all episodes have ended. After
// source.ErrNotRepeated, they have to be begun again: what they had returned up to a checkpoint is no return.
func (o *Trial) Step(n int) (over bool, err error) {
	t := o.now
	for ; n > 0 && !t.over(); n-- {
		if err := o.step(t); err != nil {
			return false, err
		}
	}
	return t.over(), nil
}

// step makes one lockstep step with one call of the policy.
func (o *Trial) step(t *evaluation) error {
	if err := o.policy.Act(&t.acting); err != nil {
		return err
	}
	t.acting.Step++
	was := slices.Clone(t.ended)
	if err := o.judge.Step(t.actions, t.obs, t.rewards, t.ended); err != nil {
		return err
	}
	for i, reward := range t.rewards {
		if !was[i] {
			t.returns[i] += reward
			t.discounted[i] += t.weight * reward
		}
	}
	t.weight *= o.of.Config.Agent.Gamma
	return nil
}

// Begun says whether an evaluation is under way.
func (o *Trial) Begun() bool { return o.now != nil }

// Abandon gives up the evaluation under way: its lines are not written.
func (o *Trial) Abandon() { o.now = nil }

// Finish reports the result of evaluation number, and with it the bias of the critics,
// dormant neurons, the drift of latents, the predictions of a model of the world, the losses since the last evaluation and the scores of
// real transitions. v is the replica as it is now.
func (o *Trial) Finish(v inspect.View, number uint64) error {
	r, t := o.of, o.now
	o.now = nil
	mean, std := meanStd(t.returns)
	r.LastReturn = &mean
	r.emit(event.TypeEvaluated, event.Evaluated{
		ReturnMean: run.Float(mean), ReturnStd: run.Float(std),
		Returns: run.Floats(t.returns), Episodes: len(t.returns), Explored: o.judge.Explored(),
	})
	o.reportBias(t)
	if err := o.reportDormant(number); err != nil {
		return err
	}
	if err := o.ReportDrift(); err != nil {
		return err
	}
	if err := o.reportOpenLoop(v, number); err != nil {
		return err
	}
	if losses, some := r.Losses.take(); some {
		r.emit(event.TypeLosses, losses)
	}
	return o.reportScores(v, number)
}

// reportBias reports the bias of the critics.
func (o *Trial) reportBias(t *evaluation) {
	if len(t.q) == 0 {
		return
	}
	bias, q := make([]float64, len(t.q)), 0.0
	for i, v := range t.q {
		bias[i] = float64(v) - t.discounted[i]
		q += float64(v) / float64(len(t.q))
	}
	mean, std := meanStd(bias)
	o.of.emit(event.TypeQBias, event.QBias{Q: run.Float(q), Return: run.Float(q - mean), Bias: run.Float(mean), Std: run.Float(std)})
}

// meanStd is the mean and the standard deviation of a population.
func meanStd(v []float64) (mean, std float64) {
	for _, x := range v {
		mean += x / float64(len(v))
	}
	for _, x := range v {
		std += (x - mean) * (x - mean) / float64(len(v))
	}
	return mean, math.Sqrt(std)
}

// dormantTau is DrM's threshold (Xu et al. 2024), for the score of Sokar et al. 2023, which charts and
// reports show; the paper cites both without a threshold. Journals have DrM's own ratio as ratio_drm.
const dormantTau = 0.025

// reportDormant measures the policy's dormant neurons on real states.
func (o *Trial) reportDormant(number uint64) error {
	r := o.of
	layers, err := o.probed(number, r.Config.Evaluation.DormantStates)
	if err != nil || len(layers) == 0 {
		return err
	}
	shown := analysisLayers(layers)
	r.emit(event.TypeDormant, event.Dormant{
		Ratio: run.Float(analysis.DormantSokar(shown, dormantTau)), RatioDrM: run.Float(analysis.DormantDrM(shown, dormantTau)), Tau: dormantTau,
	})
	return nil
}

func analysisLayers(layers []agent.Layer) []analysis.Layer {
	shown := make([]analysis.Layer, len(layers))
	for i, l := range layers {
		shown[i] = analysis.Layer{Name: l.Name, Pre: l.Pre, Post: l.Post, Rows: l.Rows, Units: l.Units, Output: l.Output}
	}
	return shown
}

// reportScores describes F over a sample of real transitions.
func (o *Trial) reportScores(v inspect.View, number uint64) error {
	r := o.of
	if v.Settings.Relevance == relevance.None || !v.Learned || r.Real.Len() == 0 {
		return nil
	}
	f, err := v.Sample(r.Real, r.streams.scores.At(number).IntN)
	if err != nil || f == nil {
		return err
	}
	s := analysis.Summarise(f)
	line := event.Scores{
		Relevance: v.Settings.Relevance, Min: run.Float(s.Min), Max: run.Float(s.Max), Mean: run.Float(s.Mean), Quantiles: quantilesOf(s),
	}
	terms, err := v.Terms(len(f))
	if err != nil {
		return err
	}
	for _, t := range terms {
		line.Terms = append(line.Terms, event.Term{Term: t.Text, Quantiles: quantilesOf(analysis.Summarise(t.Values))})
	}
	r.emit(event.TypeScores, line)
	return nil
}

func quantilesOf(s analysis.Summary) []run.Float {
	return run.Floats([]float64{s.Q10, s.Median, s.Q90})
}
