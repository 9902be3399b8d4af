package lab

import "io"

type worldEnv struct {
	w       *world
	seed    uint64
	episode uint64
	t       int
	now     []float32
}

func (e *worldEnv) ObsSize() int { return worldObs }
func (e *worldEnv) ActSize() int { return worldAct }

func (e *worldEnv) look(obs []float32, action float64) {
	e.now = []float32{float32(blend(float64(e.seed), float64(e.episode), float64(e.t), action)), float32(e.t)}
	copy(obs, e.now)
}

func (e *worldEnv) Reset(episode uint64, obs []float32) error {
	e.episode, e.t = episode, 0
	e.look(obs, 0)
	return e.w.call("reset %d", episode)
}

func (e *worldEnv) Step(action, obs []float32) (float64, bool, bool, error) {
	e.w.obs = append(e.w.obs, append([]float32(nil), e.now...))
	e.t++
	e.look(obs, float64(action[0]))
	terminated := e.w.terminal > 0 && e.t >= e.w.terminal+int(e.episode)%e.w.uneven()
	return float64(obs[0]), terminated, e.t == worldEpisode, e.w.call("step")
}

func (e *worldEnv) Save(w io.Writer) error {
	return keep(w, float64(e.episode), float64(e.t), float64(e.now[0]), float64(e.now[1]))
}
func (e *worldEnv) Load(r io.Reader) error {
	v, err := kept(r, 4)
	e.episode, e.t, e.now = uint64(v[0]), int(v[1]), []float32{float32(v[2]), float32(v[3])}
	return err
}
func (e *worldEnv) Close() error { return nil }

func (e *worldEnv) Pose(dst []float64) []float64 {
	return append(dst, float64(e.episode), float64(e.t))
}

type worldVec struct {
	w       *world
	n       int
	seed    uint64
	episode uint64
	t       int
}

func (v *worldVec) Size() int    { return v.n }
func (v *worldVec) ObsSize() int { return worldObs }
func (v *worldVec) ActSize() int { return worldAct }

func (v *worldVec) Reset(episode uint64, obs []float32) error {
	v.episode, v.t = episode, 0
	return v.w.call("evaluate episodes %d", episode)
}

// Step ends copy i after 10·(i+1) steps.
func (v *worldVec) Step(actions, obs []float32, rewards []float64, ended []bool) error {
	v.t++
	for i := range v.n {
		rewards[i] = 0
		if !ended[i] {
			rewards[i] = float64(i + 1)
			if v.w.learner != nil { // with worldAgent, returns are whole numbers
				rewards[i] += float64(actions[i])
			}
			obs[i*worldObs] = float32(blend(float64(v.seed), float64(v.episode), float64(v.t)))
		}
		ended[i] = v.t >= 10*(i+1)
	}
	return v.w.call("evaluation step")
}
func (v *worldVec) Save(w io.Writer) error { return keep(w, float64(v.episode), float64(v.t)) }
func (v *worldVec) Load(r io.Reader) error {
	k, err := kept(r, 2)
	v.episode, v.t = uint64(k[0]), int(k[1])
	return err
}
func (v *worldVec) Close() error { return nil }
