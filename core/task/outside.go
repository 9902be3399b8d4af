package task

// Outside says how the program of a task is started that another program simulates, and what the program said of itself.
type Outside struct {
	Args         []string `toml:"args,omitempty"`          // KEY=VALUE, for the function that makes the environment
	Folder       string   `toml:"folder,omitempty"`        // in which it is started
	Python       string   `toml:"python,omitempty"`        // interpreter of tasks gym: and dm:; "": the one that is found first
	ActBound     float64  `toml:"act_bound,omitempty"`     // bounds of actions that have none are -ActBound and ActBound
	EpisodeSteps int      `toml:"episode_steps,omitempty"` // steps until an episode is truncated; 0: as the program says
	Timeout      int      `toml:"timeout,omitempty"`       // seconds for a reply; 0: a minute
	Ends         string   `toml:"ends,omitempty"`          // where a transition ends an episode by itself, a condition on obs, act and next; NeverEnds; "": unknown, if the program says that episodes can end
	Processes    int      `toml:"processes,omitempty"`     // over which copies are spread; 0: 1, and for evaluations up to 4
	Pictures     bool     `toml:"-"`                       // it will be asked to draw
	Spec         Spec     `toml:"spec,omitempty"`          // what the program said when the run was made; another one is refused
}

// NeverEnds is what Outside.Ends is where only time ends an episode.
const NeverEnds = "never"

// Spec is what a program says of its environment.
type Spec struct {
	Obs        int       `toml:"obs,omitempty"`        // numbers of an observation
	Act        int       `toml:"act,omitempty"`        // numbers of an action
	Choices    int       `toml:"choices,omitempty"`    // actions to choose from; 0: actions are numbers
	Low        []float64 `toml:"low,omitempty"`        // bounds of an action, [Act]
	High       []float64 `toml:"high,omitempty"`       //
	Limit      int       `toml:"limit,omitempty"`      // steps of an episode; 0: it does not say
	Terminates bool      `toml:"terminates,omitempty"` // whether episodes can end by themselves
	Names      []string  `toml:"names,omitempty"`      // of the numbers of an observation
	State      bool      `toml:"state,omitempty"`      // whether it can save its state
	Picture    bool      `toml:"picture,omitempty"`    // whether it can draw itself
}

// Met says whether the program has said what it is.
func (o *Outside) Met() bool {
	s := &o.Spec
	return s.Obs > 0 && s.Act > 0 && (s.Choices > 1 || len(s.Low) == s.Act && len(s.High) == s.Act)
}
