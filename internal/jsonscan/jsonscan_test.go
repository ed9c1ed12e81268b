package jsonscan_test

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/jsonscan"
)

// value reads the next value as encoding/json does.
func value(s *jsonscan.Scanner) any {
	switch s.Kind() {
	case '{':
		object := map[string]any{}
		for name := range s.Members() {
			object[name] = value(s)
		}
		return object
	case '[':
		array := []any{}
		for range s.Elements() {
			array = append(array, value(s))
		}
		return array
	case '"':
		text, _ := s.Text()
		return text
	case 'n':
		s.Skip()
		return nil
	case '0':
		from := s.Offset()
		s.Skip()
		return json.Number(s.Since(from))
	}
	isTrue := s.Kind() == 't'
	s.Skip()
	return isTrue
}

var documents = []string{
	`{}`, ` [ ] `, `""`, `0`, `-0.5e+7`, `true`, `null`, "\t[1,\r\n2]",
	`{"a":{"b":[1,2,{"c":null}],"d":false},"e\u0041":"\"\\\/\b\f\n\r\té€\ud83d\ude00"}`,
	`["a\\","\\\"","\u00e9\u20ac","",[[]],[{}],{"":[]}]`,
}

// FuzzScanner: a Scanner takes what encoding/json takes, and gives the same. It takes
// control characters in strings, too.
func FuzzScanner(f *testing.F) {
	for _, d := range documents {
		f.Add([]byte(d))
	}
	f.Fuzz(func(t *testing.T, data []byte) { same(t, data) })
}

func same(t *testing.T, data []byte) {
	t.Helper()
	var want any
	d := json.NewDecoder(strings.NewReader(string(data)))
	d.UseNumber()
	decoded := d.Decode(&want) == nil && json.Valid(data)
	s := jsonscan.New(string(data))
	faults := 0
	s.Fault = func(offset int) {
		assert.Less(t, offset, len(data))
		faults++
	}
	got := value(s)
	err := s.End()
	skipped := jsonscan.New(string(data))
	skipped.Skip()
	require.Equal(t, err, skipped.End(), "%q", data)
	hasControls := strings.ContainsFunc(string(data), func(r rune) bool { return r < ' ' })
	switch {
	case decoded && !strings.Contains(string(data), `\u`) && faults == 0:
		require.NoError(t, err, "%q", data)
		require.Equal(t, want, got, "%q", data)
	case decoded:
		require.NoError(t, err, "%q", data)
	case !hasControls:
		require.Error(t, err, "%q", data)
	}
	line, column := s.Position(s.Offset())
	before := string(data[:s.Offset()])
	assert.Equal(t, 1+strings.Count(before, "\n"), line)
	assert.Equal(t, len(before)-strings.LastIndex(before, "\n"), column)
}

func TestDocuments(t *testing.T) {
	for _, d := range documents {
		same(t, []byte(d))
		for n := range len(d) {
			same(t, []byte(d[:n]))
			s := jsonscan.New(d[:n])
			s.Skip()
			if err := s.End(); err != nil {
				assert.ErrorIs(t, err, websync.ErrTruncated, "%s", d[:n])
			}
		}
	}
}

// Documents with a few bytes that are others.
func TestDamaged(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	const bytes = "{}[]\",:\\u0eE+-.tfn \n\x00\xff\xed"
	for range 20_000 {
		d := []byte(documents[random.IntN(len(documents))])
		for range 1 + random.IntN(3) {
			d[random.IntN(len(d))] = bytes[random.IntN(len(bytes))]
		}
		same(t, d)
	}
}

func TestErrors(t *testing.T) {
	deep := strings.Repeat("[", jsonscan.MaxDepth)
	tests := []struct {
		name, src, text string
		want            error
		offset          int
	}{
		{"nothing", " ", "document ends too early", websync.ErrTruncated, 1},
		{"a word that is cut", "[tru", "document ends too early", websync.ErrTruncated, 1},
		{"a number that is cut", "-", "document ends too early", websync.ErrTruncated, 1},
		{"an escape that is cut", `"\u00`, "document ends too early", websync.ErrTruncated, 5},
		{"too deep", deep + "[", "more than 256 deep", websync.ErrLimit, jsonscan.MaxDepth},
		{"deep", deep + strings.Repeat("]", jsonscan.MaxDepth), "", nil, 0},
		{"no comma", `[1 2]`, "neither a comma nor ']' after a value", nil, 3},
		{"a comma too many", `{"a":1,}`, "a member without a name", nil, 7},
		{"no colon", `{"a"1}`, "a name without a value", nil, 4},
		{"an escape", `["\x"]`, `\x in a string`, nil, 2},
		{"digits", `["\u00g0"]`, "without four hexadecimal digits", nil, 2},
		{"a leading zero", `[01]`, "neither a comma", nil, 2},
		{"a word", `[nil]`, "neither true nor false nor null", nil, 1},
		{"more", `1 x`, "more after the end", nil, 2},
		{"a letter", `x`, `'x' where a value must be`, nil, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := jsonscan.New(tt.src)
			s.Skip()
			err := s.End()
			if tt.text == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, tt.text)
			assert.Equal(t, tt.offset, s.Offset())
			if tt.want != nil {
				assert.ErrorIs(t, err, tt.want)
			}
			assert.Zero(t, s.Kind())
			for range s.Elements() {
				t.Error("an element after an error")
			}
		})
	}
}

// What is no character of XML becomes U+FFFD, and is reported with its place.
func TestFaults(t *testing.T) {
	for src, want := range map[string]string{
		"\"a\xffb\"": "a\uFFFDb", "\"a\x01\"": "a\uFFFD", `"\u0000"`: "\uFFFD", `"\ud800"`: "\uFFFD", `"\uFFFE"`: "\uFFFD",
		"\"a\tb\"": "", `"é"`: "", `"\ud83d\ude00"`: "",
	} {
		s := jsonscan.New("[1,\n " + src + "]")
		at := 0
		s.Fault = func(offset int) { at = offset }
		for i := range s.Elements() {
			if text, ok := s.Text(); i == 1 && want != "" {
				assert.True(t, ok)
				assert.Equal(t, want, text)
			}
		}
		require.NoError(t, s.End())
		if want == "" {
			assert.Zero(t, at, src)
			continue
		}
		line, column := s.Position(at)
		assert.Equal(t, [2]int{2, 2}, [2]int{line, column}, src)
	}
}

// A value of another type is skipped; a loop that is left ends reading.
func TestOtherTypes(t *testing.T) {
	s := jsonscan.New(`[{"a":1},[2],3,"x"]`)
	texts := ""
	for i := range s.Elements() {
		switch i {
		case 0:
			for range s.Elements() {
				t.Error("an element of an object")
			}
		case 1:
			for range s.Members() {
				t.Error("a member of an array")
			}
		default:
			text, ok := s.Text()
			assert.Equal(t, i == 3, ok)
			texts += text
		}
	}
	require.NoError(t, s.End())
	assert.Equal(t, "x", texts)

	s = jsonscan.New(`[1,2]`)
	for range s.Elements() {
		break
	}
	assert.ErrorContains(t, s.End(), "not read to its end")
}
