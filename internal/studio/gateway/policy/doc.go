package policy

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// Document prints the tables for people.
func Document(out io.Writer) error {
	d := printer{seen: map[string]bool{}}
	l := Limits{}.WithDefaults()
	d.b.WriteString(preface)
	fmt.Fprintf(&d.b, "The body's caps: %d arrays and objects inside each other, %d values, %d pictures of %s and %d pixels a side.\n",
		l.Depth, l.Values, l.Images, size(l.ImageSize), l.ImageSide)
	d.shape(body())
	d.b.WriteString("\n## Betas\n\nNames in the header `anthropic-beta`. What is not listed is dropped.\n\n| beta | | why |\n|---|---|---|\n")
	for _, b := range betas() {
		fmt.Fprintf(&d.b, "| `%s` | %s | %s |\n", b.Name, b.Action, b.Why)
	}
	_, err := io.WriteString(out, d.b.String())
	if err != nil {
		return fmt.Errorf("print the policy: %w", err)
	}
	return nil
}

const preface = `# What passes the gateway

Printed from the tables of ` + "`internal/studio/gateway/policy`" + `, which are also what is applied. A request is parsed
strictly and written anew from them: the provider gets no byte that we did not write, but for the base64 of pictures, of
which each byte was looked at.

- **allow**: checked, and written anew. A field that is null counts as absent.
- **set**: written by the gateway, whatever came.
- **drop**: left out without an error, and counted.
- **refuse**: the request is an error that names the rule and the place.

A field or a type that is not in these tables is refused. Two paths exist, ` + "`POST /v1/messages`" + ` and
` + "`POST /v1/messages/count_tokens`" + `, and one query, ` + "`beta=true`" + `. Of the request's headers the provider gets none but
` + "`anthropic-beta`" + `, filtered; key and version are the gateway's. Of the answer's headers the agent gets content-type and
retry-after.

The parser refuses a name that stands twice, invalid UTF-8, half a surrogate pair, a number out of range, a second value.
Names are compared byte by byte: ` + "`MODEL`" + ` is not ` + "`model`" + `, and is refused.

`

type printer struct {
	b    strings.Builder
	seen map[string]bool
}

// shape prints the table of a shape, and then those that it refers to.
func (d *printer) shape(s *shape) {
	for _, t := range tables(s) {
		if d.seen[t.title] {
			continue
		}
		d.seen[t.title] = true
		fmt.Fprintf(&d.b, "\n## %s\n\n", t.title)
		if t.kind == object {
			d.b.WriteString("| field | | what | why |\n|---|---|---|---|\n")
			d.fields("", t.fields)
		} else {
			d.b.WriteString("| type, and its fields | | what | why |\n|---|---|---|---|\n")
			for _, v := range t.variants {
				fmt.Fprintf(&d.b, "| `%s` | **%s** | | %s |\n", strings.Join(v.names, "`, `"), v.action, v.why)
				d.fields("&nbsp;&nbsp;", v.fields)
			}
		}
		for _, f := range t.fields {
			d.shape(f.shape)
		}
		for _, v := range t.variants {
			for _, f := range v.fields {
				d.shape(f.shape)
			}
		}
	}
}

func (d *printer) fields(indent string, fields []field) {
	for _, f := range fields {
		what := f.shape.String()
		if f.must {
			what = strings.TrimPrefix(what+"; required", "; ")
		}
		fmt.Fprintf(&d.b, "| %s`%s` | %s | %s | %s |\n", indent, f.name, f.action, what, f.why)
	}
}

// tables finds the shapes with a table of their own in s, itself included.
func tables(s *shape) []*shape {
	if s == nil {
		return nil
	}
	switch s.kind {
	case object, union:
		return []*shape{s}
	case array:
		return tables(s.elem)
	case either:
		var all []*shape
		for _, c := range s.choices {
			all = append(all, tables(c)...)
		}
		return all
	default:
		return nil
	}
}

// Names lists every field name and type that may stand in a body that was
// written anew, sorted; "type" is one of them.
func Names() []string {
	names := map[string]bool{"type": true, "metadata": true, "user_id": true, "service_tier": true}
	var visit func(s *shape)
	visit = func(s *shape) {
		for _, t := range tables(s) {
			fields := t.fields
			for _, v := range t.variants {
				if v.action == Allow {
					fields = slices.Concat(fields, v.fields)
				}
			}
			for _, f := range fields {
				if f.action == Allow || f.action == Set {
					names[f.name] = true
					visit(f.shape)
				}
			}
		}
	}
	visit(body())
	out := make([]string, 0, len(names))
	for n := range names {
		out = append(out, n)
	}
	slices.Sort(out)
	return out
}
