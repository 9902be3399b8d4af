package command

import (
	"bytes"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"pgrlab/tui/command/cli"
)

// shells are the shells for which completion writes a script.
var shells = []struct {
	name, install string
	write         func(root *cobra.Command, w io.Writer) error
}{
	{"bash", `bash, with the package bash-completion:
  source <(pgrlab completion bash)                       in this shell
  mkdir -p ~/.local/share/bash-completion/completions    for every session, with the next line
  pgrlab completion bash > ~/.local/share/bash-completion/completions/pgrlab`, writeBash},
	{"zsh", `zsh, after autoload -U compinit; compinit in ~/.zshrc:
  source <(pgrlab completion zsh)                        in this shell
  pgrlab completion zsh > "${fpath[1]}/_pgrlab"`, (*cobra.Command).GenZshCompletion},
	{"fish", `fish:
  pgrlab completion fish | source                        in this shell
  mkdir -p ~/.config/fish/completions                    for every session, with the next line
  pgrlab completion fish > ~/.config/fish/completions/pgrlab.fish`,
		func(root *cobra.Command, w io.Writer) error { return root.GenFishCompletion(w, true) }},
	{"powershell", `PowerShell:
  pgrlab completion powershell | Out-String | Invoke-Expression
  the same line in the file $PROFILE, for every session`, (*cobra.Command).GenPowerShellCompletionWithDesc},
}

func completionCommand() *cobra.Command {
	names, install := []string{}, []string{}
	for _, s := range shells {
		names, install = append(names, s.name), append(install, s.install)
	}
	return &cobra.Command{
		Use:   "completion " + strings.Join(names, "|"),
		Short: "print the script that completes commands, flags, tasks, knobs and runs by tab",
		Long: `Prints the script that a shell needs to complete the words of a command line by tab:
commands and flags, and also tasks, methods, scales, presets, knobs with their values
(--set F=…), devices, figures, run folders and runs in progress, in this shell or in every
session.

` + strings.Join(install, "\n\n"),
		Args:      cli.ExactArgs(1, "one of "+strings.Join(names, ", ")),
		ValidArgs: names,
		RunE: func(c *cobra.Command, args []string) error {
			for _, s := range shells {
				if s.name == args[0] {
					return s.write(c.Root(), c.OutOrStdout())
				}
			}
			return cli.Usagef("completion: %q is no shell that is known: want one of %s", args[0], strings.Join(names, ", "))
		},
	}
}

// writeBash writes cobra's script with one change, for words that bash breaks at more than one kind
// of character, such as 10k:relevance=td: cobra removes what precedes the last colon, and then no
// longer finds what precedes the last equals sign.
func writeBash(root *cobra.Command, w io.Writer) error {
	var b bytes.Buffer
	if err := root.GenBashCompletionV2(&b, true); err != nil {
		return err
	}
	_, err := io.WriteString(w, strings.Replace(b.String(), bashTwice, bashOnce, 1))
	return err
}

const (
	bashTwice = `    __pgrlab_handle_special_char "$cur" :
    __pgrlab_handle_special_char "$cur" =
`
	bashOnce = `    local last=${cur##*[:=]}
    case ${cur%"$last"} in
    *:) __pgrlab_handle_special_char "$cur" : ;;
    *=) __pgrlab_handle_special_char "$cur" = ;;
    esac
`
)

// A completer lists the completions of a word; if it lists none, a shell completes files unless the
// directive says otherwise.
type completer func(d cli.Deps, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective)

// addCompletions gives the flags and arguments of a command and its subcommands their completers.
func addCompletions(d cli.Deps, c *cobra.Command) {
	bind := func(complete completer) cobra.CompletionFunc {
		return func(_ *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
			all, directive := complete(d, args, word)
			var fit []cobra.Completion // a copy: the slice belongs to the completer
			for _, s := range all {
				if strings.HasPrefix(s, word) || strings.HasPrefix(s, activeHelp) {
					fit = append(fit, s)
				}
			}
			return fit, directive
		}
	}
	add := func(f *pflag.Flag) {
		complete, known := ofFlags[f.Name]
		if own, is := ofFlags[c.Name()+" --"+f.Name]; is {
			complete, known = own, true
		}
		if _, done := c.GetFlagCompletionFunc(f.Name); !known || done {
			return
		}
		if err := c.RegisterFlagCompletionFunc(f.Name, bind(complete)); err != nil {
			panic(err) // not the name of a flag: a mistake in this package
		}
	}
	c.LocalNonPersistentFlags().VisitAll(add)
	if complete, known := ofArguments[strings.TrimSuffix(cli.PrefixOf(c), ": ")]; known {
		c.ValidArgsFunction = bind(complete)
	} else if c.ValidArgs == nil && c.ValidArgsFunction == nil {
		c.ValidArgsFunction = cobra.NoFileCompletions
	}
	for _, sub := range c.Commands() {
		addCompletions(d, sub)
	}
}
