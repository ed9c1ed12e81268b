package testkit

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// schemasEnv names the directory with the published schemas, which are not part of this
// repository.
const schemasEnv = "WEBSYNC_SCHEMAS"

// Lint checks a document against a published schema, if that and xmllint are there.
func Lint(t testing.TB, schema string, doc []byte) {
	t.Helper()
	schemas := os.Getenv(schemasEnv)
	if schemas == "" {
		t.Log("not checked against the schema: " + schemasEnv + " names no directory")
		return
	}
	program, err := exec.LookPath("xmllint")
	if err != nil {
		t.Log("not checked against the schema: xmllint is not installed")
		return
	}
	cmd := exec.CommandContext(t.Context(), program, "--noout", "--nonet", "--schema", filepath.Join(schemas, schema), "-")
	cmd.Stdin = bytes.NewReader(doc)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("xmllint: %v\n%s", err, out)
	}
}
