package cli

// tvKinds is the help of --tv without its default.
const tvKinds = "`KIND` TV that covers a quarter of the agent's view in a maze: off, noise, noise-action, images-action"

// TVUsage is the help of --tv, and TVUsageOfPolicies where a policy may bring a TV with it.
const (
	TVUsage           = tvKinds + " (default: the preset's, else off)"
	TVUsageOfPolicies = tvKinds + " (default: that of the policy's run, else off)"
)

// DeviceUsage is the help of --device.
const DeviceUsage = "`cpu|auto|cuda…` where to compute: cuda, cuda:INDEX or GPU-UUID is a GPU; auto is a free GPU, else the CPU"

// MaxSteps is the most env steps of a configuration.
const MaxSteps = 999_999_999

// MaxThreads is the most threads that a device takes, and ThreadsUsage the help of --threads.
const (
	MaxThreads   = 64
	ThreadsUsage = "`N` threads to use; the results stay the same (default: all allowed, at most 8)"
)
