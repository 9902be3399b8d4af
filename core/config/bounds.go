package config

import (
	"fmt"
	"math"
	"reflect"
	"strings"

	"pgrlab/core/agent"
	"pgrlab/core/knob"
)

// MaxCount is the largest count of a configuration, except for those in bounds. Counts of env
// steps are part of the names of checkpoints, which have nine digits, and products of two counts
// stay far below the largest int. How much memory such counts need is another question; see
// Config.Memory.
const MaxCount = 999_999_999

// bounds are the ranges of counts that are narrower than 0 to MaxCount, at the lower end or at
// both.
var bounds = map[string][2]int{
	"members":                      {1, 1_000},
	"steps":                        {1, MaxCount},
	"buffer":                       {1, MaxCount},
	"environment.action_repeat":    {0, 1_000},
	"environment.copies":           {0, 1_000},
	"evaluation.episodes":          {1, agent.MaxRows},
	"evaluation.dormant_states":    {1, agent.MaxRows},
	"agent.hidden":                 {1, MaxCount},
	"agent.critics":                {1, 100_000},
	"agent.subset":                 {1, 100_000},
	"agent.policy_delay":           {1, MaxCount},
	"generator.blocks":             {0, 1_000},
	"generator.vae.encoder_blocks": {0, 1_000},
	"generator.vae.decoder_blocks": {0, 1_000},
}

// lists are the most elements that lists may have.
var lists = map[string]int{
	"agent.hidden": 100, "schedule": 100_000, "pixels.strides": 16,
	"data.files": 1000, "data.sha256": 1000, "data.act_low": 1 << 16, "data.act_high": 1 << 16,
	"eco.comparator": 16, "environment.outside.args": 1000, "environment.outside.spec.low": 1 << 16, "environment.outside.spec.high": 1 << 16, "environment.outside.spec.names": 1 << 16,
}

// largest is the largest magnitude of a number with a fraction: its square is finite as a
// float32.
const largest = 1e18

// validateNumbers checks that every number of a configuration is in a range, including those
// that have no entry in bounds.
func (c *Config) validateNumbers() error {
	if c.Seed > math.MaxInt64 {
		return fmt.Errorf("configuration: seed is %d, want at most %d: larger ones have no place in a file of TOML", c.Seed, uint64(math.MaxInt64))
	}
	return bounded("", reflect.ValueOf(c.Document()).Elem())
}

func bounded(key string, v reflect.Value) error {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("toml"), ",")
			switch {
			case name == "-" || name == "knobs": // these have ranges of their own
				continue
			case f.Anonymous && name == "":
				name = key
			case key != "":
				name = key + "." + name
			}
			if err := bounded(name, v.Field(i)); err != nil {
				return err
			}
		}
	case reflect.Slice:
		if n, bound := v.Len(), lists[key]; n > bound {
			return fmt.Errorf("configuration: %s has %d elements, want at most %d", key, n, bound)
		}
		for i := range v.Len() {
			if err := bounded(key, v.Index(i)); err != nil {
				return err
			}
		}
	case reflect.Int:
		least, bound := 0, MaxCount
		if b, narrower := bounds[key]; narrower {
			least, bound = b[0], b[1]
		}
		switch n := v.Int(); {
		case n < int64(least):
			return fmt.Errorf("configuration: %s is %d, want at least %d", key, n, least)
		case n > int64(bound):
			return fmt.Errorf("configuration: %s is %d, want at most %s", key, n, knob.FormatCount(bound))
		}
	case reflect.Float64:
		if x := v.Float(); !(math.Abs(x) <= largest) {
			return fmt.Errorf("configuration: %s is %g, want a number of at most %g", key, x, largest)
		}
	}
	return nil
}

// Between returns an error if n, which was read from somewhere, is not from low to high.
func Between(name string, n, low, high int) error {
	if n < low || n > high {
		return fmt.Errorf("%s: %d, which is not from %d to %d", name, n, low, high)
	}
	return nil
}
