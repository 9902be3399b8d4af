package envs

// Model is the MJCF text of a built-in task's body.
func (t Task) Model() string { return t.mjcf }
