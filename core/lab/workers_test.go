package lab

import (
	"strings"
	"testing"

	"pgrlab/core/agent"
	"pgrlab/core/config"
	"pgrlab/core/generative"
	"pgrlab/core/task"
	"pgrlab/core/testing/racing"
	"pgrlab/core/testing/tiny"
)

// A run writes the same journal for any number of workers and cores: with each learner and each
// kind of generator, on the kernels of this machine, with all work divided among all workers.
func TestAnyNumberOfWorkersWritesTheSame(t *testing.T) {
	learners, generators := map[string]bool{}, map[string]bool{}
	numbers := []int{1, 2, 3, 5, 8}
	if racing.On {
		numbers = []int{1, 3}
	}
	for name, run := range map[string]struct {
		config config.Config
		task   task.Task
	}{
		"sac with a diffusion model":    {everyFunction(t), newWorld().task()},
		"sac with an autoencoder":       {plainMethod("vae"), newWorld().task()},
		"sac with rollouts of a model":  {variant("mbpo-curiosity"), newWorld().task()},
		"two agents with rollouts":      {variant("max"), newWorld().task()},
		"sac with real rows once more":  {plainMethod("resample"), newWorld().task()},
		"redq":                          {plainMethod(config.MethodREDQ), newWorld().task()},
		"dreamer":                       {dreamerConfig(), tiny.Task()},
		"drqv2":                         {tiny.Pixels(), tiny.Task()},
		"drqv2 with a diffusion model":  {tiny.Latents(), tiny.Task()},
		"a generator on recorded rows":  {dreamConfig(), dreamtTask()},
		"ppo with a bonus":              {ppoConfig("rnd"), mazeTask(t)},
		"ppo with a bonus of curiosity": {ppoConfig("curiosity"), mazeTask(t)},
	} {
		learner, err := run.config.Agent.Spec()
		if err != nil {
			t.Fatal(err)
		}
		learners[learner.Name], generators[run.config.Generator.Kind] = true, true
		first := ""
		for _, workers := range numbers {
			dev := quick(t, workers)
			c := run.config
			p, err := newParts(&c, run.task, dev)
			if err != nil {
				t.Fatal(err)
			}
			folder := &memoryFolder{}
			l, err := newLab(c, run.task, folder, p, "cpu test", clock())
			if err != nil {
				t.Fatal(err)
			}
			l.OnFault(FaultFail)
			if c.Dreams() {
				l.Record(dreamtRows(t, 40))
			}
			if err := l.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			journal := folder.canonical(t)
			if workers == 1 {
				first = journal
			}
			if journal != first {
				t.Errorf("%s: one worker writes\n%s\n%d write\n%s", name, first, workers, journal)
			}
		}
	}
	for _, learner := range agent.Specs() {
		if !learners[learner.Name] && !strings.HasSuffix(learner.Doc, "of the tests") {
			t.Errorf("no run has learner %s", learner.Name)
		}
	}
	for _, generator := range generative.Specs() {
		if !generators[generator.Kind] {
			t.Errorf("no run has generator %s", generator.Kind)
		}
	}
}
