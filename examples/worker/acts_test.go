package main

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/websync-go/websync/examples/internal/cli"
	"github.com/websync-go/websync/harvest/riverjobs"
)

// TestActsOfJobs: what is to be got of legislation reaches the machine that carries out a
// job. A job of before has nothing of it.
func TestActsOfJobs(t *testing.T) {
	target := cli.Target{Protocol: "eli", URL: "https://law.example/sitemap.xml", Feed: "https://law.example/feed.atom",
		Acts: cli.Acts{Languages: []string{"pt"}, Formats: []string{"pdf"}, AllLanguages: true, Linked: true, ResyncEvery: "8760h"}}
	assert.Equal(t, target, targetOf(jobOf(target, "key")))
	plain := cli.Target{Protocol: "atom", URL: "https://news.example/", Complete: true}
	assert.Equal(t, plain, targetOf(jobOf(plain, "key")))
	assert.Equal(t, map[string]string{optionComplete: "true"}, jobOf(plain, "key").Options)
	assert.Equal(t, cli.Target{Protocol: "eli"}, targetOf(riverjobs.Args{Protocol: "eli"}))
}

// TestNoFiles: a list of acts in a file is on one machine.
func TestNoFiles(t *testing.T) {
	_, err := parseOptions([]string{"-store=postgres:x", "-protocol=csv", "acts.csv"})
	assert.ErrorContains(t, err, "a file is on one machine")
	o, err := parseOptions([]string{"-store=postgres:x", "-protocol=csv", "https://law.example/acts.csv"})
	assert.NoError(t, err)
	assert.Equal(t, "https://law.example/acts.csv", o.targets[0].URL)
}
