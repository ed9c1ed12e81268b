// Package docfetch is what the Sources of all protocols do alike: they get the documents
// of a set, read them ahead, notice a redirect from one to another, yield events by the
// rules of package harvest, and keep checkpoints.
package docfetch
