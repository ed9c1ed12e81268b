package jsonld

import (
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/piprate/json-gold/ld"

	"github.com/websync-go/websync/internal/survive"
)

// mend removes the definitions for which json-gold refuses contexts, in a node and below
// it, and reports them. It reports whether there were any. Active is the context around.
func (d *extraction) mend(v any, active *ld.Context) (mended bool) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			mended = d.mend(item, active) || mended
		}
	case object:
		if context, ok := v["@context"]; ok {
			v["@context"], active, mended = d.mendContext(context, active)
		}
		for _, key := range keys(v) {
			if key != "@context" {
				mended = d.mend(v[key], active) || mended
			}
		}
	}
	return mended
}

// mendContext returns the rest of a context, and what is active in it.
func (d *extraction) mendContext(v any, active *ld.Context) (rest any, inner *ld.Context, mended bool) {
	switch v := v.(type) {
	case []any:
		all := make([]any, 0, len(v))
		for _, item := range v {
			local, next, m := d.mendContext(item, active)
			if _, isArray := local.([]any); !isArray {
				all = append(all, local)
			}
			active, mended = next, mended || m
		}
		return all, active, mended
	case object:
		return d.mendTerms(v, active)
	}
	inner, err := parse(active, []any{v})
	switch {
	case err == nil:
		return v, inner, false
	case v == nil:
		return v, active, false
	}
	d.add(ruleTerm, "@context", fmt.Sprint(v), "the context is ignored: "+reason(err))
	return []any{}, active, true
}

// parse returns a context in which a local one applies.
func parse(active *ld.Context, local any) (inner *ld.Context, err error) {
	err = survive.Panic("json-gold", func() (err error) {
		inner, err = active.Parse(local)
		return err
	})
	return inner, err
}

// mendTerms adds one definition after the other to the context, those first that others
// refer to.
func (d *extraction) mendTerms(local object, active *ld.Context) (any, *ld.Context, bool) {
	m := newMeasure(0)
	good := maps.Clone(local)
	tried := make(map[string]bool)
	var try func(term string)
	try = func(term string) {
		definition, ok := local[term]
		if !ok || tried[term] {
			return
		}
		tried[term] = true
		m.term(term, definition)
		for _, other := range m.definitions[term] {
			try(other)
		}
		if d.mending += len(active.TermDefinitions); d.mending > maxCost {
			return
		}
		alone := object{term: definition}
		if protected, ok := good["@protected"]; ok {
			alone["@protected"] = protected
		}
		next, err := parse(active, alone)
		if err != nil {
			d.add(ruleTerm, "@context", term, "the definition is ignored: "+reason(err))
			delete(good, term)
			return
		}
		active = next
	}
	for _, keyword := range [...]bool{true, false} {
		for _, key := range keys(local) {
			if strings.HasPrefix(key, "@") == keyword && key != "@base" {
				try(key)
			}
		}
	}
	mended := d.mendScoped(good, active)
	return good, active, mended || len(good) < len(local)
}

// mendScoped mends the contexts of terms.
func (d *extraction) mendScoped(terms object, active *ld.Context) (mended bool) {
	if len(active.Protected) > 0 {
		return false // in them, other definitions of these would be right
	}
	for _, key := range keys(terms) {
		term, _ := terms[key].(object)
		scoped, ok := term["@context"]
		if !ok {
			continue
		}
		if rest, _, m := d.mendContext(scoped, active); m {
			term = maps.Clone(term)
			term["@context"] = rest
			terms[key], mended = term, true
		}
	}
	return mended
}

// expandParts expands each node of a graph alone, because json-gold refuses them together
// with an error.
func (d *extraction) expandParts(node any, options *ld.JsonLdOptions, err error) (expanded []any) {
	top, _ := node.(object)
	graph, _ := top["@graph"].([]any)
	context, hasContext := top["@context"]
	m := newMeasure(0)
	m.context(context)
	d.mending += len(graph) * (m.terms + 1)
	if len(graph) < 2 || len(top) > 2 || len(top) == 2 && !hasContext || d.mending > maxCost {
		d.ignore(node, err)
		return nil
	}
	for i, item := range graph {
		if options.ExpandedElementHandler != nil {
			options.ExpandedElementHandler = func(pointer string, part any) {
				if rest, ok := strings.CutPrefix(pointer, "/@graph/0"); ok {
					d.markBase("/@graph/"+strconv.Itoa(i)+rest, part)
				}
			}
		}
		part := object{"@graph": []any{item}}
		if hasContext {
			part["@context"] = context
		}
		nodes, err := expandNode(part, options)
		if err != nil {
			d.ignore(item, err)
		}
		expanded = append(expanded, nodes...)
	}
	return expanded
}

// ignore reports a node that json-gold refuses.
func (d *extraction) ignore(node any, err error) {
	top, _ := node.(object)
	id, _ := top["@id"].(string)
	d.add(ruleInvalid, "@id", id, "a node is ignored: "+reason(err))
}
