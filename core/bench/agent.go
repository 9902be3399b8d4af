package bench

import (
	"pgrlab/core/agent"
	"pgrlab/core/agent/sac"
	"pgrlab/core/device"
	"pgrlab/core/relevance"
	"pgrlab/core/replay"
	"pgrlab/core/rng"
)

func newAgent(dev device.Device) (*sac.Agent, error) {
	return sac.New(sac.DefaultConfig(obs, act), dev, 1)
}

// delay is the number of critic updates in an env step; the last of them comes with a policy
// update.
const delay = 20

// lived returns a ring of n transitions.
func lived(n uint64) *replay.Ring {
	shape := replay.Shape{Obs: obs, Act: act}
	ring := replay.NewRing(shape, int(n))
	numbers := rng.New(1, "bench transitions")
	row := make([]float32, shape.Width())
	for i := range n {
		numbers.FillUniform(row, i, 0)
		row[len(row)-1] = 0 // no terminal transitions
		ring.AddRows(row)
	}
	return ring
}

// update is a whole update at UTD 20: a batch sampled from 100,000 transitions, target, critics and
// Polyak averages, with policy and temperature at every 20th update.
func update(dev device.Device) (func(uint64) error, float64, error) {
	return updateOf(dev, 100_000)
}

func updateOf(dev device.Device, transitions uint64) (func(uint64) error, float64, error) {
	s, err := newAgent(dev)
	if err != nil {
		return nil, 0, err
	}
	ring := lived(transitions)
	batch, err := s.Batch(rows)
	if err != nil {
		return nil, 0, err
	}
	mixer := replay.NewMixer(rng.New(1, "bench mix"))
	step := func(i uint64) error {
		if err := mixer.Sample(batch, replay.Mix{Real: rows}, ring, nil, i); err != nil {
			return err
		}
		_, _, err := s.Update(rows, agent.DefaultRates, i%delay == 0)
		return err
	}
	return step, sacFLOPs(), nil
}

// envStep is all updates of an env step after a transition was added.
func envStep(dev device.Device) (func(uint64) error, float64, error) {
	return envStepOf(dev, 100_000)
}

func envStepOf(dev device.Device, transitions uint64) (func(uint64) error, float64, error) {
	s, err := newAgent(dev)
	if err != nil {
		return nil, 0, err
	}
	ring := lived(transitions)
	row := append([]float32(nil), ring.Row(0)...)
	d := agent.BatchSource{Mixer: replay.NewMixer(rng.New(1, "bench mix")), Real: ring, Mix: replay.Mix{Real: rows}}
	step := func(i uint64) error {
		ring.AddRows(row)
		d.First = i * delay
		_, err := s.UpdateN(delay, d, agent.DefaultRates, true)
		return err
	}
	return step, delay * sacFLOPs(), nil
}

// curiousEnvStep is an env step's updates with one of the curiosity model, begun before them where the device goes on with
// both.
func curiousEnvStep(dev device.Device) (func(uint64) error, float64, error) {
	updates, flops, err := envStep(dev)
	if err != nil {
		return nil, 0, err
	}
	m, err := icmOnNoise(dev)
	if err != nil {
		return nil, 0, err
	}
	return func(i uint64) error {
		if m.Beside() {
			if err := m.Start(); err != nil {
				return err
			}
		}
		if err := updates(i); err != nil {
			return err
		}
		_, err := m.Train()
		return err
	}, flops, nil
}

// sacFLOPs is the number of floating-point operations of an update, including its share of the
// policy's.
func sacFLOPs() float64 {
	policy := float64(obs*256 + 256*256 + 256*2*act)
	critic, first := float64((obs+act)*256+256*256+256), float64((obs+act)*256)
	target := policy + 2*critic
	learn := 2 * (3*critic - first)
	actor := 3*policy - float64(obs*256) + 2*(2*critic)
	return 2 * rows * (target + learn + actor/delay)
}

// acting is one stochastic action.
func acting(dev device.Device) (func(uint64) error, float64, error) {
	s, err := newAgent(dev)
	if err != nil {
		return nil, 0, err
	}
	state, action := random("s", obs).Data, make([]float32, act)
	a := &agent.Acting{Copies: 1, Obs: state, Actions: action, Episodes: []uint64{0}}
	return func(i uint64) error { a.Step = i; return s.Act(a) }, 2 * float64(obs*256+256*256+256*2*act), nil
}

// icm is an update of the curiosity model in PGR's sizes: width 256, batch 256.
func icm(dev device.Device) (func(uint64) error, float64, error) {
	m, err := icmOnNoise(dev)
	if err != nil {
		return nil, 0, err
	}
	return func(uint64) error {
		_, err := m.Train()
		return err
	}, 0, nil
}

// icmOnNoise is that model with a batch of random numbers.
func icmOnNoise(dev device.Device) (*relevance.ICM, error) {
	m, err := relevance.NewICM(relevance.DefaultICM(), replay.Shape{Obs: obs, Act: act}, dev, 1)
	if err != nil {
		return nil, err
	}
	b := m.Batch()
	numbers := rng.New(1, "bench icm")
	for i, column := range [][]float32{b.Obs, b.Act, b.Next} {
		numbers.FillNormal(column, uint64(i), 0)
	}
	return m, nil
}
