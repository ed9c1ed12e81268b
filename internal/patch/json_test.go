package patch_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/patch"
	"github.com/websync-go/websync/internal/testing/racing"
)

// apply applies a patch in one call.
func apply(document, change string) (string, error) {
	p, err := patch.ParseJSON([]byte(change))
	if err != nil {
		return "", err
	}
	after, err := p.Apply([]byte(document), 1<<20)
	return string(after), err
}

// TestExamples has the examples of RFC 6902, appendix A, and more.
func TestExamples(t *testing.T) {
	deep := strings.Repeat("[", 6000) + strings.Repeat("]", 6000)
	for _, test := range []struct{ name, document, patch, want, err string }{
		{"A.1 adding a member", `{ "foo": "bar"}`, `[{ "op": "add", "path": "/baz", "value": "qux" }]`, `{"foo":"bar","baz":"qux"}`, ""},
		{"A.2 adding an element", `{ "foo": [ "bar", "baz" ] }`, `[{ "op": "add", "path": "/foo/1", "value": "qux" }]`, `{"foo":["bar","qux","baz"]}`, ""},
		{"A.3 removing a member", `{"baz": "qux", "foo": "bar"}`, `[{ "op": "remove", "path": "/baz" }]`, `{"foo":"bar"}`, ""},
		{"A.4 removing an element", `{ "foo": [ "bar", "qux", "baz" ] }`, `[{ "op": "remove", "path": "/foo/1" }]`, `{"foo":["bar","baz"]}`, ""},
		{"A.5 replacing a value", `{"baz": "qux", "foo": "bar"}`, `[{ "op": "replace", "path": "/baz", "value": "boo" }]`, `{"baz":"boo","foo":"bar"}`, ""},
		{"A.6 moving a value", `{"foo": {"bar": "baz", "waldo": "fred"}, "qux": {"corge": "grault"}}`, `[{ "op": "move", "from": "/foo/waldo", "path": "/qux/thud" }]`,
			`{"foo":{"bar":"baz"},"qux":{"corge":"grault","thud":"fred"}}`, ""},
		{"A.7 moving an element", `{ "foo": [ "all", "grass", "cows", "eat" ] }`, `[{ "op": "move", "from": "/foo/1", "path": "/foo/3" }]`, `{"foo":["all","cows","eat","grass"]}`, ""},
		{"A.8 testing a value", `{"baz": "qux", "foo": [ "a", 2, "c" ]}`, `[{ "op": "test", "path": "/baz", "value": "qux" }, { "op": "test", "path": "/foo/1", "value": 2 }]`,
			`{"baz":"qux","foo":["a",2,"c"]}`, ""},
		{"A.9 a test that fails", `{ "baz": "qux" }`, `[{ "op": "test", "path": "/baz", "value": "bar" }]`, "", `jsonpatch: operations[0] (test "/baz"): the values differ`},
		{"A.10 adding an object", `{ "foo": "bar" }`, `[{ "op": "add", "path": "/child", "value": { "grandchild": { } } }]`, `{"foo":"bar","child":{"grandchild":{}}}`, ""},
		{"A.11 members that are not known", `{ "foo": "bar" }`, `[{ "op": "add", "path": "/baz", "value": "qux", "xyz": 123 }]`, `{"foo":"bar","baz":"qux"}`, ""},
		{"A.12 adding to what is not there", `{ "foo": "bar" }`, `[{ "op": "add", "path": "/baz/bat", "value": "qux" }]`, "",
			`jsonpatch: operations[0] (add "/baz/bat"): "/baz": there is no such value`},
		{"A.13 two members op", `{}`, `[{ "op": "add", "path": "/baz", "value": "qux", "op": "remove" }]`, "", `jsonpatch: operations[0]: two members "op"`},
		{"A.14 escapes", `{"/": 9, "~1": 10}`, `[{"op": "test", "path": "/~01", "value": 10}]`, `{"/":9,"~1":10}`, ""},
		{"A.15 a string is no number", `{"/": 9, "~1": 10}`, `[{"op": "test", "path": "/~01", "value": "10"}]`, "", "the values differ"},
		{"A.16 adding an array", `{ "foo": ["bar"] }`, `[{ "op": "add", "path": "/foo/-", "value": ["abc", "def"] }]`, `{"foo":["bar",["abc","def"]]}`, ""},

		{"what is not touched stays", `{"a": 1.00e+2, "b": 12345678901234567890.10, "é": "\u00e9<\/&>", "c": 0, "b2": -0.0}`, `[{"op":"replace","path":"/c","value":1.50}]`,
			`{"a":1.00e+2,"b":12345678901234567890.10,"é":"\u00e9<\/&>","c":1.50,"b2":-0.0}`, ""},
		{"a name with escapes", `{}`, `[{"op":"add","path":"/\"\\\n\u0001\ud800~1é","value":1}]`, `{"\"\\\n\u0001\ud800/é":1}`, ""},
		{"half a pair", `{"\ud800":1,"\ufffd":2}`, `[{"op":"remove","path":"/\ud800"}]`, `{"\ufffd":2}`, ""},
		{"a pair", `{"😀":1}`, `[{"op":"remove","path":"/\ud83d\ude00"}]`, `{}`, ""},
		{"a name in escapes", `{"\u0061\t":1}`, `[{"op":"remove","path":"/a\t"}]`, `{}`, ""},
		{"all or nothing", `{"a":1}`, `[{"op":"remove","path":"/a"},{"op":"remove","path":"/a"}]`, "", `jsonpatch: operations[1] (remove "/a"): "/a": there is no such value`},
		{"a member of a string", `{"a":"x"}`, `[{"op":"add","path":"/a/b","value":1}]`, "", `operations[0] (add "/a/b"): what should have it is neither an object nor an array`},
		{"no index", `[1]`, `[{"op":"add","path":"/01","value":1}]`, "", `(add "/01"): not the index of an element`},
		{"an index too far", `[1]`, `[{"op":"add","path":"/2","value":1}]`, "", `(add "/2"): the array has 1 elements`},
		{"a long index", `[1]`, `[{"op":"add","path":"/99999999999999999999","value":1}]`, "", "not the index of an element"},
		{"from what is not there", `{}`, `[{"op":"copy","from":"/a","path":"/b"}]`, "", `(copy "/b"): from "/a": "/a": there is no such value`},
		{"into itself", `{"a":{}}`, `[{"op":"move","from":"/a","path":"/a/b"}]`, "", `a value can't be moved into itself`},
		{"several members of a name", `{"a":1,"a":2}`, `[{"op":"remove","path":"/a"}]`, "", `the object has several such members`},
		{"the whole document", `{}`, `[{"op":"remove","path":""}]`, "", `the whole document can't be removed`},

		{"the document is no JSON", `<a/>`, `[]`, "", "jsonpatch: the document is no JSON"},
		{"the patch is no JSON", `{}`, `<a/>`, "", "jsonpatch: the patch is no JSON"},
		{"no patch", `{}`, ``, "", "jsonpatch: the patch is no JSON"},
		{"two patches", `{}`, `[] []`, "", "jsonpatch: the patch is no JSON"},
		{"no array", `{}`, `{"op":"remove","path":""}`, "", "jsonpatch: the patch is no array"},
		{"no object", `{}`, `[1]`, "", "jsonpatch: operations[0]: it is no object"},
		{"no op", `{}`, `[{"path":""}]`, "", `the member "op" must be a string`},
		{"another op", `{}`, `[{"op":"Add","path":"","value":1}]`, "", `no operation is called "Add"`},
		{"no path", `{}`, `[{"op":"remove"}]`, "", `the member "path" must be a string`},
		{"path null", `{}`, `[{"op":"remove","path":null}]`, "", `the member "path" must be a string`},
		{"no from", `{}`, `[{"op":"move","path":""}]`, "", `the member "from" must be a string`},
		{"no value", `{}`, `[{"op":"test","path":""}]`, "", `the member "value" is missing`},
		{"value null", `1`, `[{"op":"add","path":"","value":null}]`, `null`, ""},
		{"no slash", `{}`, `[{"op":"add","path":"a","value":1}]`, "", `must be empty or begin with "/"`},
		{"no escape", `{}`, `[{"op":"add","path":"/~2","value":1}]`, "", `"~" must be followed by 0 or 1`},
		{"too deep a result", deep, `[{"op":"copy","from":"","path":"/0"},{"op":"copy","from":"","path":"/0` + strings.Repeat("/0", 5998) + `"}]`, "", "nested too deeply"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := apply(test.document, test.patch)
			assert.Equal(t, test.want, got)
			if test.err == "" {
				assert.NoError(t, err)
			} else {
				assert.ErrorContains(t, err, test.err)
			}
		})
	}
}

// TestPointers has the examples of RFC 6901 §5.
func TestPointers(t *testing.T) {
	const document = `{"foo": ["bar", "baz"], "": 0, "a/b": 1, "c%d": 2, "e^f": 3, "g|h": 4, "i\\j": 5, "k\"l": 6, " ": 7, "m~n": 8}`
	for pointer, want := range map[string]string{
		"": document, "/foo": `["bar","baz"]`, "/foo/0": `"bar"`, "/": "0", "/a~1b": "1", "/c%d": "2", "/e^f": "3",
		"/g|h": "4", `/i\\j`: "5", `/k\"l`: "6", "/ ": "7", "/m~0n": "8",
	} {
		t.Run(pointer, func(t *testing.T) {
			_, err := apply(document, fmt.Sprintf(`[{"op":"test","path":"%s","value":%s}]`, pointer, want))
			assert.NoError(t, err)
		})
	}
}

func TestNumbers(t *testing.T) {
	const huge = "e99999999999999999999"
	classes := [][]string{
		{"1", "1.0", "1e0", "10e-1", "0.1e1", "1.00000000000000000000000000000", "1E+0"},
		{"0", "-0", "0.0", "-0.0e5", "0" + huge},
		{"-1", "-1.0"},
		{"12345678901234567890", "12345678901234567890.0", "1.234567890123456789e19"},
		{"12345678901234567891"},
		{"0.1"}, {"0.10000000000000000001"},
		{"1e400", "10e399", "0.1e401"},
		{"1" + huge}, {"1.0" + huge}, {"2" + huge},
	}
	for i, a := range classes {
		for j, b := range classes {
			for _, x := range a {
				for _, y := range b {
					_, err := apply(`{"a":[`+x+`]}`, `[{"op":"test","path":"","value":{"a":[`+y+`]}}]`)
					assert.Equal(t, i == j, err == nil, "%s and %s: %v", x, y, err)
				}
			}
		}
	}
}

// TestLimits: what costs too much is refused, with an error that says so.
func TestLimits(t *testing.T) {
	long := `{"a":["` + strings.Repeat("x", 1000) + `"]}`
	many := func(n int, op string) string { return "[" + strings.Repeat(op+",", n-1) + op + "]" }
	ones := "[" + strings.Repeat("1,", 100_000) + "1]"
	for name, test := range map[string]struct{ document, patch string }{
		"copies of copies": {long, many(40, `{"op":"copy","from":"/a","path":"/a/0"}`)},
		"a long value":     {`{}`, `[{"op":"add","path":"/a","value":"` + strings.Repeat("x", 1<<20) + `"}]`},
		"many inserts":     {ones, many(20_000, `{"op":"add","path":"/0","value":1}`)},
		"many tests":       {ones, many(20_000, `{"op":"test","path":"/100000","value":1}`)},
		"one great test": {strings.Repeat(`{"a":`, 9000) + ones + strings.Repeat("}", 9000),
			`[{"op":"test","path":"","value":` + strings.Repeat(`{"a":`, 9000) + ones + strings.Repeat("}", 9000) + `}]`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := apply(test.document, test.patch)
			assert.ErrorIs(t, err, websync.ErrLimit)
		})
	}
	_, err := apply(ones, many(1000, `{"op":"add","path":"/0","value":1}`))
	assert.NoError(t, err, "what a publisher may do is done")
}

// TestDocumentStays: neither the document nor the patch is changed.
func TestDocumentStays(t *testing.T) {
	document, change := []byte(`{"a":[1,2],"b":3}`), []byte(`[{"op":"add","path":"/a/0","value":[]},{"op":"move","from":"/b","path":"/a/0/0"}]`)
	p, err := patch.ParseJSON(change)
	require.NoError(t, err)
	for range 2 {
		after, err := p.Apply(document, 100)
		require.NoError(t, err)
		require.Equal(t, `{"a":[[3],1,2]}`, string(after))
	}
	require.Equal(t, `{"a":[1,2],"b":3}`, string(document))
}

// documents are small documents with every kind of value, name and nesting.
func documents() (all []string) {
	leaves := []string{`1`, `1.0`, `"a"`, `null`, `{}`, `[]`}
	all = append(all, leaves...)
	for _, a := range leaves {
		all = append(all, `[`+a+`]`, `{"a":`+a+`}`, `{"":`+a+`}`, `{"0":`+a+`}`, `[[`+a+`]]`, `{"a":{"a":`+a+`}}`, `{"a":[`+a+`]}`, `[{"a":`+a+`}]`)
		for _, b := range leaves[:4] {
			all = append(all, `[`+a+`,`+b+`]`, `{"a":`+a+`,"b":`+b+`}`, `{"a":`+a+`,"a":`+b+`}`, `{"/":`+a+`,"~":`+b+`}`)
		}
	}
	return append(all, `{"a":{"b":[1,{"a":2}]},"b":[[],{}],"-":0}`, `[[1,2,3],[4,[5]]]`, `{"a":{"a":1,"a":2},"b":1}`)
}

var (
	pointers = []string{"", "/", "/a", "/b", "/0", "/1", "/2", "/-", "/00", "/-1", "/+1", "/~0", "/~1", "/~", "/~2", "a", "/a/", "/a/a", "/a/b", "/a/0",
		"/a/-", "/0/0", "/0/a", "/0/-", "/1/0", "//", "/a/b/1/a"}
	values = []string{`1`, `1.0`, `"a"`, `null`, `{"b":1,"a":2}`, `{"a":2,"b":1.0}`, `[1]`}
)

// operations are all operations with some of the pointers and values.
func operations(pointers, values []string) (all []string) {
	for _, p := range pointers {
		all = append(all, fmt.Sprintf(`{"op":"remove","path":%q}`, p))
		for _, op := range []string{"add", "replace", "test"} {
			for _, v := range values {
				all = append(all, fmt.Sprintf(`{"op":%q,"path":%q,"value":%s}`, op, p, v))
			}
		}
		for _, op := range []string{"move", "copy"} {
			for _, from := range pointers {
				all = append(all, fmt.Sprintf(`{"op":%q,"path":%q,"from":%q}`, op, p, from))
			}
		}
	}
	return append(all, `{"op":"add","path":"/a"}`, `{"op":"add","path":"/a","value":1,"value":2}`, `{"op":"add","path":1,"value":1}`, `{"op":"x","path":""}`, `{}`, `1`)
}

// compare compares Apply with the reference.
func compare(t *testing.T, document, patch string) {
	want, refused := reference(document, patch)
	got, err := apply(document, patch)
	if (refused == nil) != (err == nil) || want != got {
		t.Fatalf("%s\non %s\nis       %q, %v\ninstead of %q, %v", patch, document, got, err, want, refused)
	}
}

// TestAllShortPatches compares all patches of one operation, and many of two, with the
// reference.
func TestAllShortPatches(t *testing.T) {
	docs, step := documents(), 1
	if racing.Few() {
		step = 10
	}
	for i := 0; i < len(docs); i += step {
		for _, o := range operations(pointers, values) {
			compare(t, docs[i], "["+o+"]")
		}
	}
	few := operations([]string{"", "/a", "/0", "/-", "/a/0", "/a/b"}, []string{`1`, `{"b":[]}`})
	for i := 0; i < len(docs); i += 11 * step {
		for _, first := range few {
			for _, second := range few {
				compare(t, docs[i], "["+first+","+second+"]")
			}
		}
	}
}

func FuzzJSON(f *testing.F) {
	all := operations(pointers, values)
	for i, d := range documents() {
		f.Add(d, "["+all[i*31%len(all)]+"]")
	}
	f.Fuzz(func(t *testing.T, document, patch string) {
		after, err := apply(document, patch)
		if err != nil {
			require.Empty(t, after)
			return
		}
		// what the reference can't keep: how numbers and strings are written
		written := func(s string) bool { return strings.Contains(document+patch, s) }
		if utf8.ValidString(document+patch) && !slices.ContainsFunc([]string{"\\", "e", "E", "\u2028", "\u2029"}, written) {
			want, err := reference(document, patch)
			require.NoError(t, err)
			require.Equal(t, want, after)
		}
	})
}
