package sweep

import (
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"pgrlab/tui"
	"pgrlab/tui/command/cli"
)

// readProfile puts the options of a profile before those of the command line: if an option is
// repeated, sbatch takes the last.
func (f *sweepFlags) readProfile(home string) error {
	if f.profile == "" {
		return nil
	}
	if f.on != onSlurm {
		return cli.Usagef("sweep: --sbatch and --profile are for --on slurm")
	}
	if home == "" {
		return errors.New("sweep: there is no folder for settings here: set HOME or XDG_CONFIG_HOME")
	}
	s, err := tui.LoadSettings(home)
	if err != nil {
		return cli.AsUsage(err)
	}
	p, there := s.Profile[f.profile]
	if !there {
		names := "it has none"
		if len(s.Profile) > 0 {
			names = "it has " + strings.Join(slices.Sorted(maps.Keys(s.Profile)), ", ")
		}
		return cli.Usagef("sweep: there is no profile %s in %s: %s", f.profile, filepath.Join(home, "settings.toml"), names)
	}
	f.sbatch = slices.Concat(p.Sbatch, f.sbatch)
	return nil
}

// Profiles are the names of the profiles in the settings.
func Profiles() []string {
	s, err := tui.LoadSettings(tui.Home())
	if err != nil {
		return nil // using a profile reports the error
	}
	return slices.Sorted(maps.Keys(s.Profile))
}
