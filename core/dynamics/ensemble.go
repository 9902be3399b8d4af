package dynamics

import (
	"cmp"
	"fmt"
	"slices"

	"pgrlab/core/device"
	"pgrlab/core/op"
	"pgrlab/core/plan"
	"pgrlab/core/rng"
)

// Ensemble is a model of the dynamics. It belongs to one goroutine.
type Ensemble struct {
	name   string
	config Config
	device device.Device
	stream rng.Stream

	model     *network
	optimiser *plan.Adam
	rate      *op.Tensor
	program   *plan.Program // a gradient step
	x, y      *op.Node      // [N,B,I] and [N,B,D], standardised
	weights   *op.Node      // [B,1]

	look            *plan.Program // the means of rows that all members see
	lookX, lookMean *op.Node      // [R,I], [N,R,D]

	fit *fit // nil: none under way

	served    *network // the elites of the last complete fit
	serving   *Serving // nil: no fit is complete
	predictor plan.ByRows[*predictor]
	waiting   []int32 // rows of a Sample under way
}

// Serving describes the ensemble that serves predictions.
type Serving struct {
	Inputs, Outcomes Scale
	Errors           []float64 // mean squared error of each member on rows that were held out, of standardised outcomes if Config.Scaled
	Constant         float64   // the same of a guess that is the mean of the rows that were learned
	Elites           []int     // members by rising error
}

// lookRows is the number of rows that are looked at together.
const lookRows = 500

// New builds an ensemble with initial weights and compiles its gradient step.
func New(name string, c Config, dev device.Device, s rng.Stream) (*Ensemble, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	e := &Ensemble{
		name: name, config: c, device: dev, stream: s, rate: op.NewTensor(name+" rate", 1),
		model: newNetwork(name, c, c.Members, s.Sub("initial")), served: newNetwork(name+" served", c, c.Elites, s.Sub("initial")),
	}
	e.predictor.Compile = e.newPredictor
	if err := e.compile(); err != nil {
		return nil, fmt.Errorf("ensemble: %w", err)
	}
	return e, plan.Push(dev, append(e.model.params(), e.served.params()...)...)
}

func (e *Ensemble) compile() error {
	c, loss := e.config, (*op.Node)(nil)
	g, err := op.Build(e.name+" fit", func(g *op.Graph) {
		e.x, e.y = g.Input("x", c.Members, c.Batch, c.In), g.Input("y", c.Members, c.Batch, c.Out)
		e.weights = g.Input("weights", c.Batch, 1)
		loss = e.model.loss(g, e.x, e.y, e.weights)
	})
	if err != nil {
		return err
	}
	e.optimiser = plan.NewAdam(e.model.params(), plan.DefaultAdam, e.rate)
	e.optimiser.L2 = e.model.decays()
	if e.program, err = plan.Compile(g, plan.Spec{Loss: loss, Optimiser: e.optimiser}, e.device); err != nil {
		return err
	}
	g, err = op.Build(e.name+" look", func(g *op.Graph) {
		e.lookX = g.Input("x", lookRows, c.In)
		e.lookMean, _ = e.model.apply(g, e.lookX)
	})
	if err != nil {
		return err
	}
	e.look, err = plan.Compile(g, plan.Spec{Outputs: []*op.Node{e.lookMean}}, e.device)
	return err
}

// Close releases the compiled programs.
func (e *Ensemble) Close() error { return plan.Close(e.program, e.look, &e.predictor) }

// Cancel abandons the fit under way, if any. What it has learned stays in the weights with which the
// next one goes on.
func (e *Ensemble) Cancel() { e.fit = nil }

// Fitting says whether a fit is under way.
func (e *Ensemble) Fitting() bool { return e.fit != nil }

// Serving returns what serves predictions, nil before the first fit is complete.
func (e *Ensemble) Serving() *Serving { return e.serving }

// finish puts the best weights of each member back and lets the elites serve.
func (e *Ensemble) finish(f *fit) error {
	tensors := e.model.members()
	if err := plan.Fetch(e.device, e.model.params()...); err != nil {
		return err
	}
	made := &Serving{Inputs: f.scales[0], Outcomes: f.scales[1], Errors: f.best, Constant: e.constant(f)}
	for member := range e.config.Members {
		made.Elites = append(made.Elites, member)
		if f.best[member] < startBest {
			f.restore(member, tensors)
		}
	}
	slices.SortStableFunc(made.Elites, func(a, b int) int { return cmp.Compare(f.best[a], f.best[b]) })
	made.Elites = made.Elites[:e.config.Elites]
	for i, t := range e.served.members() {
		n := len(t.Data) / len(made.Elites)
		for k, member := range made.Elites {
			copy(t.Data[k*n:(k+1)*n], tensors[i].Data[member*n:(member+1)*n])
		}
	}
	copy(e.served.max.Data, e.model.max.Data)
	copy(e.served.min.Data, e.model.min.Data)
	if err := plan.Push(e.device, append(e.model.params(), e.served.params()...)...); err != nil {
		return err
	}
	e.serving, e.fit = made, nil
	return nil
}

func numbers(tensors []*op.Tensor) (n int) {
	for _, t := range tensors {
		n += len(t.Data)
	}
	return n
}
