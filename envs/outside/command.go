package outside

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// The beginnings of the names of tasks that other programs simulate.
const (
	gymPrefix     = "gym:"
	dmPrefix      = "dm:"
	commandPrefix = "env:"
)

// IsName says whether a task of that name is simulated by another program: gym:ID, dm:DOMAIN-TASK or env:COMMAND.
func IsName(task string) bool {
	for _, prefix := range []string{gymPrefix, dmPrefix, commandPrefix} {
		if strings.HasPrefix(task, prefix) {
			return true
		}
	}
	return false
}

// NameOf is the name of the task that a command simulates; such a name stands for itself.
func NameOf(command string) string {
	if command = strings.TrimSpace(command); IsName(command) {
		return command
	}
	return commandPrefix + command
}

// Command is how a program is started.
type Command struct {
	Argv []string
	Dir  string // the working folder
	Args []string
}

// String is the command as a person would type it.
func (c Command) String() string {
	words := make([]string, len(c.Argv))
	for i, w := range c.Argv {
		if words[i] = w; w == "" || strings.ContainsAny(w, " \t\"'\\$&;|<>(){}*?!~#`\n") {
			words[i] = "'" + strings.ReplaceAll(w, "'", `'"'"'`) + "'"
		}
	}
	return strings.Join(words, " ")
}

// split takes a command apart at spaces; quotes keep words together. There is no shell, and so nothing else has a
// meaning.
func split(command string) (argv []string, err error) {
	var word strings.Builder
	var quote rune
	begun := false
	for _, r := range command {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '"' || r == '\'':
			quote, begun = r, true
		case r == ' ' || r == '\t' || r == '\n':
			if begun {
				argv = append(argv, word.String())
			}
			word.Reset()
			begun = false
		default:
			word.WriteRune(r)
			begun = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("%q: a quote %c is not closed", command, quote)
	}
	if begun {
		argv = append(argv, word.String())
	}
	if len(argv) == 0 {
		return nil, fmt.Errorf("%q: there is no command", command)
	}
	return argv, nil
}

// commandOf is how the program of a task is started.
func commandOf(task string, o Options) (c Command, err error) {
	c = Command{Dir: o.Folder, Args: o.Args}
	if c.Dir == "" {
		if c.Dir, err = os.Getwd(); err != nil {
			return c, err
		}
	}
	if text, is := strings.CutPrefix(task, commandPrefix); is {
		c.Argv, err = split(text)
		return c, err
	}
	python, err := Interpreter(task, o.Python)
	if err != nil {
		return c, err
	}
	adapter, err := adapterFile()
	if err != nil {
		return c, fmt.Errorf("write the adapter: %w", err)
	}
	c.Argv = []string{python, adapter, task} // the interpreter's path is absolute, and an update of it a reason to ask
	return c, nil
}

// Interpreter finds Python for a task: the one that was asked for, that of an environment variable or of the virtual
// environment that is active, or python3. A task that is a command names its own, if it needs one.
func Interpreter(task, asked string) (string, error) {
	if strings.HasPrefix(task, commandPrefix) {
		return "", nil
	}
	if asked == "" {
		asked = os.Getenv("PGRLAB_PYTHON")
	}
	for _, variable := range []string{"VIRTUAL_ENV", "CONDA_PREFIX"} {
		if folder := os.Getenv(variable); asked == "" && folder != "" {
			asked = filepath.Join(folder, "bin", "python3")
		}
	}
	if asked == "" {
		asked = "python3"
	}
	found, err := exec.LookPath(asked)
	if err != nil {
		return "", fmt.Errorf("python: %w: choose an interpreter with --python", err)
	}
	return found, nil
}

// options are arguments KEY=VALUE as a map. A value that reads as JSON is that, any other is text.
func options(args []string) (map[string]any, error) {
	all := map[string]any{}
	for _, arg := range args {
		key, text, is := strings.Cut(arg, "=")
		if !is || key == "" {
			return nil, fmt.Errorf("--env-arg %s: want KEY=VALUE", arg)
		}
		if _, twice := all[key]; twice {
			return nil, fmt.Errorf("--env-arg %s: %s is given twice", arg, key)
		}
		var value any
		if json.Unmarshal([]byte(text), &value) != nil {
			value = text
		}
		all[key] = value
	}
	return all, nil
}
