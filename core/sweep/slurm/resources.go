package slurm

import (
	"regexp"
	"strings"
)

// resources are the options of sbatch that only ask for resources, with the values that are known
// for them. None of these values is the name of a file, or part of a command.
var resources = map[string]*regexp.Regexp{
	"account":       name,
	"constraint":    name,
	"cpus-per-task": number,
	"exclusive":     regexp.MustCompile(`^$`),
	"gpus":          gpus,
	"gres":          gpus,
	"mem":           memory,
	"mem-per-cpu":   memory,
	"mem-per-gpu":   memory,
	"partition":     names,
	"qos":           name,
	"time":          regexp.MustCompile(`^[0-9][0-9:-]{0,19}$`),
}

var (
	number = regexp.MustCompile(`^[0-9]{1,9}$`)
	memory = regexp.MustCompile(`^[0-9]{1,12}[KMGTkmgt]?$`)
	name   = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}$`)
	names  = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.,-]{0,99}$`)
	gpus   = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.:-]{0,99}$`)
)

// AsksForResources says whether an option of sbatch does nothing but ask for resources. Others can
// run commands, read and write files, or act for another user.
func AsksForResources(option string) bool {
	text, long := strings.CutPrefix(option, "--")
	name, value, _ := strings.Cut(text, "=")
	want, is := resources[name]
	return long && is && want.MatchString(value)
}
