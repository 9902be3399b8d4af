package cli

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"pgrlab/core/knob"
	"pgrlab/core/report"
)

// A count is the value of a flag that takes a number of things: 20000, 20k, 1.5M or 1e6, within a
// range.
type count struct {
	value           *int
	lowest, highest int
}

// CountVar binds a flag that takes a count of lowest or more.
func CountVar(f *pflag.FlagSet, value *int, name string, otherwise, lowest int, usage string) {
	CountIn(f, value, name, otherwise, lowest, math.MaxInt, usage)
}

// CountIn binds a flag that takes a count from lowest to highest.
func CountIn(f *pflag.FlagSet, value *int, name string, otherwise, lowest, highest int, usage string) {
	*value = otherwise
	f.Var(&count{value, lowest, highest}, name, usage)
	if otherwise < lowest { // it stands for "not given": there is no default to show
		f.Lookup(name).DefValue = "0"
	}
}

// Set implements pflag.Value.
func (c *count) Set(text string) error {
	n, err := knob.ParseCount(text)
	switch {
	case err != nil:
		if _, number := strconv.ParseFloat(text, 64); number == nil && text[0] == '-' {
			return fmt.Errorf("want %s", c.span())
		}
		return errors.New(strings.TrimPrefix(err.Error(), fmt.Sprintf("%q is ", text))) // the flag's error repeats it
	case n < c.lowest || n > c.highest:
		return fmt.Errorf("want %s", c.span())
	}
	*c.value = n
	return nil
}

func (c *count) span() string {
	if c.highest == math.MaxInt {
		return fmt.Sprintf("at least %d", c.lowest)
	}
	return fmt.Sprintf("%s to %s", report.Count(c.lowest), report.Count(c.highest))
}

// String implements pflag.Value.
func (c *count) String() string { return strconv.Itoa(*c.value) }

// Type implements pflag.Value.
func (c *count) Type() string { return "count" }
