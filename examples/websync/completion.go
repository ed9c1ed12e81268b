package main

import (
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
)

// bashCompletion completes the subcommand, its flags, and otherwise names of files.
const bashCompletion = `_websync() {
	local words=%q
	if ((COMP_CWORD > 1)); then
		case ${COMP_WORDS[1]} in
%s		*) words= ;;
		esac
	fi
	COMPREPLY=($(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _websync websync
`

// completion returns the script with which a shell completes subcommands and flags.
func completion(shells []string, all []command) (script string, err error) {
	names := []string{}
	var cases, fish strings.Builder
	for _, c := range all {
		names = append(names, c.name)
		var flags []string
		c.line().VisitAll(func(f *flag.Flag) {
			flags = append(flags, "-"+f.Name)
			fmt.Fprintf(&fish, "complete -c websync -n '__fish_seen_subcommand_from %s' -o %s\n", c.name, f.Name)
		})
		fmt.Fprintf(&cases, "\t\t%s) words=%q ;;\n", c.name, strings.Join(flags, " "))
	}
	subcommands := strings.Join(append(names, "completion"), " ")
	switch {
	case slices.Equal(shells, []string{"bash"}):
		return fmt.Sprintf(bashCompletion, subcommands, cases.String()), nil
	case slices.Equal(shells, []string{"zsh"}): // which can run what is made for bash
		return "autoload -U +X bashcompinit && bashcompinit\n" + fmt.Sprintf(bashCompletion, subcommands, cases.String()), nil
	case slices.Equal(shells, []string{"fish"}):
		return fmt.Sprintf("complete -c websync -n __fish_use_subcommand -f -a '%s'\n%s", subcommands, fish.String()), nil
	}
	return "", errors.New("completion: name a shell, bash, zsh or fish")
}
