package jsonld

import (
	"maps"
	"strconv"
	"strings"

	"github.com/websync-go/websync/internal/syntax"
)

// A scope is what applies to a node: its base, and the contexts around it.
type scope struct {
	outer   *scope // nil after a context that is null
	context object
	base    string // that relative IRIs are resolved against; "" if there is none
	vocab   bool   // a vocabulary mapping applies
}

// maxScopes limits the contexts around a node that are asked for a definition.
const maxScopes = 200

// definition returns the definition of a term, if it has one.
func (s *scope) definition(term string) (definition any, ok bool) {
	for range maxScopes {
		if s == nil || ok {
			break
		}
		definition, ok = s.context[term]
		s = s.outer
	}
	return definition, ok
}

// prepare replaces the remote contexts in a node and below it by what they contain. What
// is not known goes. The bases go as well, because json-gold changes the paths of what it
// resolves: that is done after the expansion. It returns the scope of the node.
func (d *extraction) prepare(v any, s *scope) *scope {
	switch v := v.(type) {
	case []any:
		for i, item := range v {
			d.path = append(d.path, strconv.Itoa(i))
			d.prepare(item, s)
			d.path = d.path[:len(d.path)-1]
		}
	case object:
		if context, ok := v["@context"]; ok {
			outer := s.base
			v["@context"], s = d.enter(d.context(context, d.base, nil), s)
			if s.base != outer && len(d.path) > 0 {
				d.addBase(s.base)
			}
		}
		for _, key := range keys(v) {
			d.prepareValue(v, key, s)
		}
	}
	return s
}

func (d *extraction) prepareValue(node object, key string, s *scope) {
	value := node[key]
	switch value.(type) {
	case nil:
		if key == "@id" || key == "@type" {
			d.add(ruleNull, key, "", "the value must be a string: ignored")
			delete(node, key)
		}
	case []any, object:
		definition, _ := s.definition(key)
		term, _ := definition.(object)
		if key == "@context" || term["@type"] == "@json" || key == "@value" && node["@type"] == "@json" {
			return // done, or any JSON
		}
		d.path = append(d.path, key)
		d.prepare(value, s)
		d.path = d.path[:len(d.path)-1]
	}
}

// addBase notes the base of a part of the current node.
func (d *extraction) addBase(base string) {
	for _, key := range d.path {
		d.pointers += len(key)
	}
	if d.pointers > maxExpanded {
		return // which check reports
	}
	var pointer strings.Builder
	for _, key := range d.path {
		pointer.WriteString("/" + strings.ReplaceAll(strings.ReplaceAll(key, "~", "~0"), "/", "~1"))
	}
	d.bases[pointer.String()] = base
}

// enter returns contexts as json-gold gets them, and the scope inside.
func (d *extraction) enter(v any, s *scope) (any, *scope) {
	switch v := v.(type) {
	case nil:
		return nil, &scope{base: d.base}
	case []any:
		all := make([]any, len(v))
		for i, item := range v {
			all[i], s = d.enter(item, s)
		}
		return all, s
	case object:
		s = &scope{outer: s, context: v, base: s.base, vocab: s.vocab}
		d.enterBase(s)
		s.enterVocab()
		d.enterSealed(s)
		if d.scoped {
			s.enterScoped()
		}
		return s.context, s
	}
	return v, s
}

// enterBase makes @base the base. A wrong one stays in the context, for json-gold to
// refuse.
func (d *extraction) enterBase(s *scope) {
	base, ok := s.context["@base"]
	text, isText := base.(string)
	if isText {
		text = resolve(s.base, text)
	}
	if !ok || isText && syntax.Scheme(text) == 0 || !isText && base != nil {
		return
	}
	s.base = text
	d.longest = max(d.longest, len(text))
	delete(s.context, "@base") // which contexts that several nodes share do not have
}

// enterVocab makes a @vocab absolute that is relative to the base.
func (s *scope) enterVocab() {
	vocab, ok := s.context["@vocab"]
	if !ok {
		return
	}
	text, isText := vocab.(string)
	_, isTerm := s.outer.definition(text)
	if isText && !isTerm && !s.vocab && syntax.Scheme(text) == 0 && !strings.HasPrefix(text, "_:") {
		s.context = maps.Clone(s.context)
		s.context["@vocab"] = resolve(s.base, text)
	}
	s.vocab = vocab != nil
}

// enterSealed removes new definitions of terms that are protected, and null: json-gold
// protects no others.
func (d *extraction) enterSealed(s *scope) {
	if len(d.sealed) == 0 {
		return
	}
	rest := s.context
	for _, term := range keys(s.context) {
		if !d.sealed[term] || isNull(s.context[term]) {
			continue
		}
		if old, known := s.outer.definition(term); known && isNull(old) {
			d.add(ruleTerm, "@context", term, "the term is protected: its new definition is ignored")
			if len(rest) == len(s.context) {
				rest = maps.Clone(s.context)
			}
			delete(rest, term)
		}
	}
	s.context = rest
}

// enterScoped makes the @base and the @vocab of the contexts of terms absolute.
func (s *scope) enterScoped() {
	context := maps.Clone(s.context)
	for name, definition := range s.context {
		term, _ := definition.(object)
		local, isObject := term["@context"].(object)
		if !isObject {
			continue
		}
		in := &scope{outer: s, context: maps.Clone(local), base: s.base, vocab: s.vocab}
		if base, ok := local["@base"].(string); ok {
			in.base = resolve(s.base, base)
			in.context["@base"] = in.base
		}
		in.enterVocab()
		term = maps.Clone(term)
		term["@context"] = in.context
		context[name] = term
	}
	s.context = context
}
