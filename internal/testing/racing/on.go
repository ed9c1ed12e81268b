//go:build race

package racing

const Enabled = true
