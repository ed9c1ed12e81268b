package harvest

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestTooManyInSeveralDocuments: more ids than can be kept are listed by several documents.
func TestTooManyInSeveralDocuments(t *testing.T) {
	held := membership{Clean: true, Last: 2, Numbers: map[uint64]documentNumber{documentKey("a"): 1, documentKey("b"): 2},
		Several: map[string][]documentNumber{"both": {1, 2}}}
	m := newMembers(held, KeepBodies)
	for i := range maxSeveral + 1 {
		m.again(fmt.Sprint(i), m.of(fmt.Sprint(i), "b"))
	}
	assert.True(t, m.partial)
	assert.True(t, m.now.Crowded)
	assert.Zero(t, m.of("other", "b"))
	m.ask("b")

	table := newSeenTable(printKey{}, 16)
	table.add(table.key.id("both"), 2)
	m.keep("a", table)
	assert.True(t, table.seen("both"), "a document that is unchanged lists it nevertheless")
	assert.False(t, newMembers(m.now, KeepBodies).partial)
	assert.Zero(t, newMembers(m.now, KeepBodies).of("other", "b"), "and from now on")
}

// TestIDsThatAreNotText: what JSON can't hold is not kept.
func TestIDsThatAreNotText(t *testing.T) {
	m := newMembers(membership{}, KeepBodies)
	m.again("a\xff", m.of("a\xff", "a"))
	assert.True(t, m.partial)
	assert.Empty(t, m.now.Several)
}

// TestManyMoves: of more records than are noted another document may list each.
func TestManyMoves(t *testing.T) {
	m := newMembers(membership{}, KeepBodies)
	m.move(make([]listedIn, maxSeveral))
	assert.False(t, m.manyMoved)
	m.move(make([]listedIn, 1))
	assert.True(t, m.manyMoved)
	assert.Len(t, m.moved, maxSeveral)
}
