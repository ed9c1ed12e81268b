// Package docfetch holds what the Sources of all protocols have in common: it fetches the
// documents of a set, reads ahead, detects a redirect from one to another, yields events
// by the rules of package harvest, and encodes checkpoints.
package docfetch
