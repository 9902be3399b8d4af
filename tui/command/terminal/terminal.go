package terminal

import (
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/term"

	"pgrlab/tui"
	"pgrlab/tui/command/cli"
	"pgrlab/tui/theme"
)

// IsTerminal says whether a stream of the command is a terminal.
func IsTerminal(stream any) bool {
	f, ok := cli.Raw(stream).(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Characters is the set that the locale and the terminal can show.
func Characters() theme.CharacterSet { return CharactersOf(os.Getenv) }

// CharactersOf is the character set of a terminal with these variables.
func CharactersOf(getenv func(name string) string) theme.CharacterSet {
	if set := localeCharacters(getenv); set == theme.ASCII || getenv("TERM") != "linux" {
		return set
	}
	return theme.Console
}

func localeCharacters(getenv func(name string) string) theme.CharacterSet {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToUpper(getenv(name)); v != "" {
			if strings.Contains(v, "UTF-8") || strings.Contains(v, "UTF8") {
				return theme.Unicode
			}
			return theme.ASCII
		}
	}
	return theme.ASCII
}

// Name names the terminal of this process for people at other terminals.
func Name() string {
	name := "pgrlab"
	if tty, err := os.Readlink("/proc/self/fd/0"); err == nil && strings.HasPrefix(tty, "/dev/") {
		name = strings.TrimPrefix(tty, "/dev/")
	}
	if from, _, _ := strings.Cut(os.Getenv("SSH_CONNECTION"), " "); from != "" {
		name += " from " + from
	}
	if user := filepath.Base(os.Getenv("USER")); user != "." {
		name = user + " at " + name
	}
	return name
}

// SizeOf is the size of the terminal f, or otherwise.
func SizeOf(f *os.File, otherwise tui.Size) tui.Size {
	w, h, err := term.GetSize(int(f.Fd()))
	if err != nil || w < 1 || h < 1 {
		return otherwise
	}
	return tui.Size{Columns: w, Rows: h}
}

// Variables are the variables that say what this terminal can do.
func Variables() map[string]string {
	all := map[string]string{}
	for _, name := range []string{"TERM", "COLORTERM", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLORFGBG", "TERM_PROGRAM", "GOOGLE_CLOUD_SHELL"} {
		if v, set := os.LookupEnv(name); set {
			all[name] = v
		}
	}
	return all
}
