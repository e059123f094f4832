// Package author stands in for a model where there is none: an upstream of our
// own that speaks the Messages API, and answers as an agent's model would. It
// writes a scene from a template, looks at stills of it, renders it, and says
// that it is done. It is no model and understands nothing: it takes the words
// of a brief apart by fixed rules and sets them well.
//
// It runs outside of every box, as the gateway's upstream, and takes each
// request as a stranger's. Here lie the protocol, the rules and the templates.
package author
