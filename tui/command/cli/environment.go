package cli

// Variables of the environment that the program looks at, for help and the manual.
var Variables = []FlagText{
	{RunsVariable, "the folder that new runs go below, and that latest looks in (default ./runs)"},
	{"PGRLAB_KERNELS", "the kernels to compute with: amx, avx512, avx2 or go (default the quickest that the CPU runs)"},
	{"PGRLAB_MUJOCO_WASM", "another file with MuJoCo's WebAssembly build than the one inside"},
	{"XDG_CONFIG_HOME", "pgrlab/settings.toml below it holds the settings of the screen (default ~/.config)"},
	{"XDG_RUNTIME_DIR", "pgrlab below it holds the sockets of running labs (default a folder in /tmp)"},
	{"CUDA_VISIBLE_DEVICES", "the GPUs that may be used"},
	{"NO_COLOR", "no colours, if it is set"},
}

// RunsVariable names the folder that default run folders go into.
const RunsVariable = "PGRLAB_RUNS"

// ExitStatuses are the exit statuses.
var ExitStatuses = []FlagText{
	{"0", "done"}, {"1", "failed, or journal diff has found a difference"}, {"2", "wrong usage"}, {"75", "sweep job: another process works at the job"},
	{"85", "sweep job: saved, not done: run it again"}, {"130", "interrupted, after saving"}, {"143", "terminated, after saving"},
}
