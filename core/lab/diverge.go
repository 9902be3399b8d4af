package lab

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"

	"pgrlab/core/device"
	"pgrlab/core/event"
	"pgrlab/core/generative"
	"pgrlab/core/knob"
	"pgrlab/core/plan"
	"pgrlab/core/relevance"
)

// diverged handles the error of work that met a number that is not finite: the first such error
// until someone resumes is an event, and training waits. It returns all other errors.
func (x *experiment) diverged(member int, doing string, err error) error {
	var where *plan.NotFinite
	if !errors.As(err, &where) {
		return err
	}
	said, fate := where.Error(), x.fate(doing, where)
	if undefined := (*relevance.Undefined)(nil); errors.As(err, &undefined) {
		said = undefined.Said
		fate = said + ": change the formula"
	}
	var obs *event.DivergedObs
	if !x.gate.blamed[faultLoss] {
		obs = x.checkpoints.keepLast()
		x.emit(event.TypeDiverged, member, event.Diverged{
			Doing: doing, Position: x.position, Program: where.Program, Op: where.Op, Tensor: where.Tensor, Error: said, Obs: obs,
		})
	}
	x.gate.fault(faultLoss, fate, waysOn(obs,
		"pgrlab --resume %[1]s goes on after it, on a screen, where knobs can be lowered; pgrlab fork %[1]s@%[2]s --set KNOB=VALUE begins before it"))
	return nil
}

// fate says in the terms of the method what has diverged and what helps; the line diverged of the
// journal has the operation and the tensor.
func (x *experiment) fate(doing string, where *plan.NotFinite) string {
	part, rates := x.divergedPart(doing, where.Program)
	how := "values became infinite"
	switch {
	case where.Op == "" && where.Norm > device.MaxGradientNorm:
		how = fmt.Sprintf("the norm of its gradients is %.3g", where.Norm)
	case math.IsNaN(where.Value):
		how = "values became NaN"
	case !math.IsInf(where.Value, 0):
		how = "values are not finite"
	}
	said := fmt.Sprintf("%s diverged at step %d (%s)", part, x.Step, how)
	if len(rates) > 0 {
		said += ": lower " + strings.Join(rates, " or ")
	}
	return said
}

// divergedPart names the part of the run that was at work, and the settings that are too high if it
// diverges: knobs, and keys of config.toml. doing is what Diverged is given, program the name of
// what the part has computed.
func (x *experiment) divergedPart(doing, program string) (part string, rates []string) {
	name, training := strings.CutPrefix(doing, "train ")
	switch {
	case training && name == "agent":
		return "the agent", x.agentRates()
	case training:
		return x.divergedFunction(name)
	case doing == doingScores || doing == doingFit && program == generative.ScoresProgram:
		return x.divergedFunction(x.first().Synthesis.Bound())
	case doing == "add the bonus":
		return x.divergedFunction(x.config.Bonus.Function)
	case doing == "set priorities":
		return x.divergedFunction(x.config.Replay.Priority)
	case doing == doingFit && strings.HasPrefix(program, "heads "):
		return "the generator's head", []string{"generator.head.lr"}
	case doing == doingFit:
		return "the generator", []string{"lr_generator"}
	case doing == doingGenerate && x.config.Has()&knob.UseDiffusion != 0:
		return "the generator's sampler", []string{"generator.sigma_max", "guidance"}
	case doing == doingGenerate:
		return "the generator", []string{"lr_generator"}
	}
	return doing, nil
}

// divergedFunction is divergedPart for the relevance function of that name. One without a model is
// computed from what the agent has learned.
func (x *experiment) divergedFunction(name string) (part string, rates []string) {
	switch spec, err := relevance.Find(name); {
	case err == nil && spec.HasRate():
		return fmt.Sprintf("the %s model", name), []string{name + ".lr"}
	default:
		return fmt.Sprintf("the relevance function %s", name), x.agentRates()
	}
}

func (x *experiment) agentRates() (rates []string) {
	for _, k := range knob.All() {
		if k.Use == knob.UseActor || k.Use == knob.UseCritics {
			if x.config.Has()&k.Use != 0 {
				rates = append(rates, k.Name)
			}
		}
	}
	return rates
}

// What a refit was doing when something diverged, in journals too.
const (
	doingScores   = "update relevance"
	doingFit      = "fit model"
	doingGenerate = "generate"
)

// waysOn says how to go on after a fault, and how to return to the state before it: in a pause, and as
// ended says with the run folder and the position of the checkpoint, once the run has ended.
func waysOn(o *event.DivergedObs, ended string) choices {
	if o == nil {
		return choices{}
	}
	dir := filepath.Dir(filepath.Dir(o.Checkpoint))
	return choices{
		paused: fmt.Sprintf(": resume goes on; back to before: train --resume %s@%s", dir, o.Position),
		ended:  ": " + fmt.Sprintf(ended, dir, o.Position),
	}
}

// faulted handles the error of an environment that cannot go on.
func (x *experiment) faulted(member int, doing string, err error) {
	obs := x.checkpoints.keepLast()
	x.emit(event.TypeDiverged, member, event.Diverged{Doing: doing, Position: x.position, Error: err.Error(), Obs: obs})
	x.gate.fault(faultSimulation, fmt.Sprintf("step %d: %s: %v", x.Step, doing, err), waysOn(obs,
		"pgrlab train --resume %[1]s goes on with a new simulation; pgrlab train --resume %[1]s@%[2]s goes back to before it"))
}
