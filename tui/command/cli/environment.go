package cli

// Variables are the environment variables that the program reads, for help and the manual.
var Variables = []FlagText{
	{RunsVariable, "the folder below which new runs go, and in which latest looks for a saved run (default ./runs)"},
	{"PGRLAB_KERNELS", "the kernels to compute with: amx, avx512, avx2 or go (default the fastest that the CPU runs)"},
	{"PGRLAB_MUJOCO_WASM", "a file with MuJoCo's WebAssembly build, for a binary that was built without it"},
	{"XDG_CONFIG_HOME", "pgrlab/settings.toml below it holds the settings of the screen (default ~/.config)"},
	{"XDG_RUNTIME_DIR", "pgrlab below it holds the sockets of runs in progress (default a folder in /tmp)"},
	{"CUDA_VISIBLE_DEVICES", "the GPUs that may be used"},
	{"NO_COLOR", "if it is set, there are no colours"},
}

// RunsVariable names the variable with the folder for default run folders.
const RunsVariable = "PGRLAB_RUNS"

// ExitStatuses are the exit statuses, for help and the manual.
var ExitStatuses = []FlagText{
	{"0", "done"}, {"1", "failed, or journal diff has found a difference"}, {"2", "wrong usage"}, {"75", "sweep job: another process works at the job"},
	{"85", "sweep job: saved, not done: run it again"}, {"130", "interrupted, after saving"}, {"131", "quit (ctrl-\\), at once, without saving"}, {"143", "terminated, after saving"},
}
