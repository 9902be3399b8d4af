package cli

import "github.com/spf13/pflag"

// BindData adds the flags that say what a file of recorded transitions does not say itself.
func BindData(f *pflag.FlagSet, low, high *[]float64, done *string) {
	f.Float64SliceVar(low, "act-low", nil, "`X` lower bound of the actions in recorded data, or one for each with commas: they are scaled from their bounds to [-1, 1]")
	f.Float64SliceVar(high, "act-high", nil, "`X` upper bound of the actions in recorded data, or one for each with commas")
	f.StringVar(done, "done", "", "`terminal|timeout` what dones are in recorded data that have neither terminals nor timeouts, as robomimic's")
}
